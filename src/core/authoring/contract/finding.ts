import { shellCommand } from '../../../util/shell-words.ts';
import type { Call, Observed } from './observe.ts';
import type { RuleId, Severity } from './rules.ts';
import type { Surface } from './surface.ts';

/** What the program did that shows a finding: a command, and bytes of one of its streams. */
export interface Evidence {
  command: string;
  stream: 'stdout' | 'stderr' | 'exit' | 'help' | 'source';
  bytes: string;
}

/** One step that would resolve a finding. */
export interface SurfaceStep {
  change: 'add' | 'change' | 'split' | 'deprecate';
  /** The command, with its flag if it is about one. */
  command: string;
  what: string;
  /** Whether callers of today notice it. */
  breaks: boolean;
}

/** A deviation from the contract. */
export interface Finding {
  rule: RuleId;
  severity: Severity;
  message: string;
  /** The commands that it is about; empty for the program as a whole. */
  commands: string[];
  evidence: Evidence[];
  fix: string;
  surface: SurfaceStep[];
}

/** What a check says of a program. */
export type Verdict =
  | { kind: 'holds' }
  /** There was nothing to judge, for example no command that lists. */
  | { kind: 'not-judged'; why: string }
  | { kind: 'broken'; findings: Finding[] };

/** One check: a rule, and how it is judged. */
export interface Check {
  rule: RuleId;
  judge(observed: Observed): Verdict;
}

export const HOLDS: Verdict = { kind: 'holds' };

const MAX_EVIDENCE = 3;
const MAX_BYTES = 200;
const VARIES = 'differs from call to call';
/** A time in the name of a log file, for example. */
const TIME = /\d{4}-\d\d-\d\d[T_ ]\d\d[:_]\d\d[\w:.]*/g;

/** The verdict that has these findings, or holds when there are none. */
export function brokenBy(findings: readonly (Finding | undefined)[]): Verdict {
  const found = findings.filter((each) => each !== undefined);
  return found.length === 0 ? HOLDS : { kind: 'broken', findings: found };
}

export function notJudged(why: string): Verdict {
  return { kind: 'not-judged', why };
}

/** A finding, with at most three pieces of evidence. */
export function finding(given: Omit<Finding, 'surface' | 'commands'> & Partial<Finding>): Finding {
  return { commands: [], surface: [], ...given, evidence: given.evidence.slice(0, MAX_EVIDENCE) };
}

/** Evidence from one call. */
export function evidenceOf(program: string, call: Call, stream: 'stdout' | 'stderr' | 'exit'): Evidence {
  const ended = call.trouble ?? (call.signal === null ? `exit ${call.rc}` : `signal ${call.signal}`);
  const bytes = stream === 'exit' ? ended : call.varies === true ? VARIES : call[stream];
  return { command: shellCommand([program, ...call.args]), stream, bytes: beginning(bytes) };
}

/** Evidence that quotes the help of a command, by the call that printed it. */
export function helpEvidence({ root, commands }: Surface, words: readonly string[], bytes: string): Evidence {
  const command = commands.find((each) => nameOf(each.words) === nameOf(words));
  return { command: command?.shownBy ?? root?.shownBy ?? '', stream: 'help', bytes: beginning(bytes) };
}

/** The bytes with which an output begins, with control characters visible. */
function beginning(text: string): string {
  const visible = text
    .replace(TIME, '<time>')
    .replace(/[\0-\x08\x0b-\x1f\x7f]/g, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`);
  return visible.length > MAX_BYTES ? `${visible.slice(0, MAX_BYTES)}…` : visible;
}

/** The words of a call after the program, as a shell reads them. */
export function nameOf(words: readonly string[]): string {
  return words.join(' ');
}
