import { closeSync, fdatasyncSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { RunRecord } from '../../protocol/run-record.ts';
import { writeFully } from '../../util/atomic-write.ts';
import { errorCode } from '../../util/error-code.ts';
import { makePrivateFolder } from '../../util/files.ts';
import { parseObject } from '../../util/parse-object.ts';
import { appendOwn, readOwn, refuseLinks } from '../../util/regular-file.ts';
import type { CostCount } from '../ports/run-index.ts';
import { countOfRun } from './cost-of-run.ts';
import { isDiskFull } from './storage-error.ts';

/** `.runs/removed-costs/`: a file for each day (UTC) on which runs ended that cost something and were removed. */
const FOLDER = 'removed-costs';
const FILE = /^\d{4}-\d{2}-\d{2}\.jsonl$/;

interface RemovedCost extends CostCount {
  run_id: string;
}

/**
 * Keeps what runs have cost that are about to be removed: removing a run frees no budget. On a full disk the cost is lost, because
 * removing runs is what makes room.
 */
export function keepCosts(root: string, records: readonly RunRecord[]): void {
  const byDay = Map.groupBy(records.flatMap(removedCostOf), ({ day }) => day);
  if (byDay.size === 0) return;
  refuseLinks(root, FOLDER);
  try {
    makePrivateFolder(join(root, FOLDER));
    for (const [day, costs] of byDay) append(join(root, FOLDER, `${day}.jsonl`), costs);
  } catch (error) {
    if (!isDiskFull(error)) throw error;
  }
}

/** Each line begins with a line break: the line before it may have been cut by a kill. */
function append(path: string, costs: readonly RemovedCost[]): void {
  const fd = appendOwn(path, 0o600);
  try {
    writeFully(fd, Buffer.from(costs.map((cost) => `\n${JSON.stringify(cost)}\n`).join('')));
    fdatasyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** What removed runs have cost, on a day (UTC) or in all. `exists` shows which runs are still there, after a removal that was killed. */
export function removedCosts(root: string, exists: (runId: string) => boolean, day?: string): CostCount[] {
  const files = day === undefined ? filesIn(root) : [`${day}.jsonl`];
  const costs = new Map<string, RemovedCost>();
  for (const file of files)
    for (const cost of costsIn(join(root, FOLDER, file))) costs.set(cost.run_id, cost);
  return [...costs.values()].filter(({ run_id }) => !exists(run_id)).map(({ run_id: _, ...cost }) => cost);
}

function removedCostOf(record: RunRecord): RemovedCost[] {
  const count = countOfRun(record);
  return count === undefined ? [] : [{ run_id: record.run_id, ...count }];
}

function filesIn(root: string): string[] {
  try {
    return readdirSync(join(root, FOLDER)).filter((name) => FILE.test(name));
  } catch (error) {
    if (isNotReadable(error)) return [];
    throw error;
  }
}

/** A line that a kill or a full disk has cut is left out. */
function costsIn(path: string): RemovedCost[] {
  let text: string;
  try {
    text = readOwn(path).toString();
  } catch (error) {
    if (isNotReadable(error)) return [];
    throw error;
  }
  return text.split('\n').flatMap((line) => (parseObject(line) as RemovedCost | undefined) ?? []);
}

/** The file does not exist, or belongs to another user, whose runs this user cannot read either. */
function isNotReadable(error: unknown): boolean {
  return errorCode(error) === 'ENOENT' || errorCode(error) === 'EACCES';
}
