import { fstatSync, statSync } from 'node:fs';
import { parseObject } from '../../util/parse-object.ts';
import type { Ledger } from './ledger.ts';
import { type FileLine, hashAtEndOf, lastLine, linesOf, linesOfOpen } from './ledger-files.ts';
import { GENESIS, sha256 } from './ledger-line.ts';

/** A place between two lines of a ledger, and the hash of the line before it. */
interface LedgerPosition {
  segment: number;
  offset: number;
  prev: string;
}

/** Where a ledger ends now, as text for `changesAfter`. */
export function positionOf(ledger: Ledger): string {
  return ledger.read((sealed, open) => {
    const last = sealed.at(-1);
    const segment = (last?.last ?? 0) + 1;
    const { line, end } = open === undefined ? { line: undefined, end: 0 } : lastLine(open);
    const prev = line !== undefined ? sha256(line) : last === undefined ? GENESIS : hashAtEndOf(last);
    return textOf({ segment, offset: end, prev });
  });
}

/**
 * The runs of which a ledger says something after a position, up to another one if it is given; those that were removed last; and the position after
 * that. Undefined when the place is gone: the segments were compacted, or the ledger is another one.
 */
export function changesAfter(
  ledger: Ledger,
  position: string,
  upTo?: string,
): { runIds: string[]; removed: string[]; position: string } | undefined {
  const from = parseObject(position) as LedgerPosition | undefined;
  const to = upTo === undefined ? undefined : (parseObject(upTo) as LedgerPosition | undefined);
  if (from === undefined) return undefined;
  return ledger.read((sealed, open) => {
    const openSegment = (sealed.at(-1)?.last ?? 0) + 1;
    const later = sealed.filter(({ last }) => last >= from.segment);
    if (from.segment > openSegment || later.some(({ isCompacted }) => isCompacted)) return undefined;
    const at = { ...from };
    const runIds = new Set<string>();
    const removed = new Set<string>();
    const isRead =
      later.every(({ first, path }) => read(first, statSync(path).size, (offset) => linesOf(path, offset))) &&
      read(openSegment, open === undefined ? 0 : fstatSync(open).size, (offset) =>
        open === undefined ? [] : linesOfOpen(open, offset),
      );
    return isRead ? { runIds: [...runIds], removed: [...removed], position: textOf(at) } : undefined;

    /** False when what was read before is not in this file any more. */
    function read(segment: number, size: number, lines: (offset: number) => Iterable<FileLine>): boolean {
      if (segment !== at.segment) Object.assign(at, { segment, offset: 0 });
      if (size < at.offset) return false;
      for (const { text, to: end, hasEnd } of lines(at.offset)) {
        if (!hasEnd || isReached()) break;
        const entry = parseObject(text.toString('utf8'));
        if (entry?.prev !== at.prev) return false;
        if (entry.type === 'run' || entry.type === 'cleaned') {
          const runId = String(entry.run_id);
          runIds.add(runId);
          if (entry.type === 'cleaned') removed.add(runId);
          else removed.delete(runId);
        }
        at.offset = end;
        at.prev = sha256(text);
      }
      return true;
    }

    function isReached(): boolean {
      if (to === undefined) return false;
      return at.segment > to.segment || (at.segment === to.segment && at.offset >= to.offset);
    }
  });
}

function textOf({ segment, offset, prev }: LedgerPosition): string {
  return JSON.stringify({ segment, offset, prev });
}
