import { isFinal } from '../../protocol/run.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import { equalJson } from '../../util/equal-json.ts';
import { parseObject } from '../../util/parse-object.ts';
import type { FileRunStore } from '../store-files/file-run-store.ts';
import { LogBytes, openLog } from './log-bytes.ts';
import { type CheckedLog, isSealed } from './verify-log.ts';
import type { PlaceProblem, VerifyProblem } from './verify-problem.ts';

/**
 * Why the call in the record is not the one with which the log of the run begins. Undefined also for a run that was lost, or had no room on the
 * disk, before its log had its start.
 * The cost does not depend on the length of the log.
 */
export function whyOtherCall(store: FileRunStore, runId: string): string | undefined {
  const opened = openLog(store, runId);
  if (typeof opened === 'string') return undefined;
  using bytes = new LogBytes(opened);
  const [first] = bytes.lines();
  if (first === undefined) return undefined;
  const start = parseObject(first.text.toString('utf8'));
  if (start?.type !== 'runner_start') return undefined;
  const { kind, tool, cwd, given_args, writes, reads } = store.readNow(runId);
  const recorded = { kind, tool, cwd, given_args, writes, reads };
  return differences(recorded, { kind, cwd, ...start, ...callOf(start) })[0];
}

/** What the caller asked for, as `runner_start` has it; nothing in logs of builds that did not write it. */
function callOf({ given_args, writes = null, reads = null }: Readonly<Record<string, unknown>>) {
  return given_args === undefined ? {} : { given_args, writes, reads };
}

/** Where the record differs from what the log has. */
function differences(
  recorded: Readonly<Record<string, unknown>>,
  logged: Readonly<Record<string, unknown>>,
): string[] {
  return Object.entries(recorded)
    .filter(([key, value]) => key in logged && !equalJson(value, logged[key]))
    .map(
      ([key, value]) =>
        `it has ${key} ${JSON.stringify(value)}, but the sealed log has ${JSON.stringify(logged[key])}`,
    );
}

/** Differences between the record of an ended run and its sealed log: the record itself has no seal. */
export function recordProblems(store: FileRunStore, record: RunRecord, log: CheckedLog): VerifyProblem[] {
  const end = log.ends.at(-1)?.event;
  if (end === undefined || !isSealed(log) || !isFinal(record.state)) return [];
  const { run_id, kind, tool, trace_id, attempt, state, code, rc, signal, duration_s } = record;
  const {
    tool: startedTool,
    trace_id: startedTrace,
    args,
    cwd,
    tool_version,
    tool_digest,
    isolation,
  } = log.start ?? {};
  const sealed: Record<string, unknown> = {
    ...(startedTool !== undefined && { tool: startedTool }),
    ...(startedTrace !== undefined && { trace_id: startedTrace }),
    // A workflow that is resumed from another step has other arguments than at its start.
    ...(kind === 'tool' && cwd !== undefined && { args, cwd, tool_version, tool_digest }),
    // A later attempt may have run in another sandbox.
    ...(isolation !== undefined && log.ends.length === 1 && { isolation }),
    ...callOf(log.start ?? {}),
    cost: null,
    ...end,
  };
  const said = {
    ...{ tool, trace_id, state, code, rc, signal, duration_s, attempt },
    ...{ args: record.args, cwd: record.cwd },
    ...{ tool_version: record.tool_version, tool_digest: record.tool_digest },
    ...{ given_args: record.given_args, writes: record.writes, reads: record.reads },
    ...{ message: record.message, cost: record.cost ?? null, isolation: record.isolation },
  };
  const path = store.layout(run_id).metadata;
  return differences(said, sealed).map((problem) => ({ run_id, where: 'record', path, problem }));
}

/** An ended run whose log goes on, or has no end. */
export function endProblems({ state }: RunRecord, log: CheckedLog, bytes: LogBytes): PlaceProblem[] {
  if (!isFinal(state) || isSealed(log)) return [];
  return [
    {
      problem: 'the run has ended, but the last event of its log is not its end',
      line: log.events,
      from: log.last?.from ?? 0,
      to: bytes.size,
    },
  ];
}
