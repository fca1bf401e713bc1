import { LineReader, MAX_LINE_BYTES } from '../../../protocol/jsonl.ts';
import type { RecordedRun } from '../../../protocol/recorded-run.ts';
import { loadAdapter } from '../../adapters/index.ts';
import type { Recording } from '../../adapters/recorded-run.ts';
import type { ToolEntry } from '../../registry/registry.ts';
import type { AdapterContext } from '../../run/attempt/adapter.ts';
import { Intake } from '../../run/attempt/intake.ts';
import { judge } from '../../run/outcome.ts';
import { MemoryRunLog, StoredLines } from '../../store-memory/memory-run-log.ts';

const RUN_ID = 'r-0000000000000000';
const NO_USAGE = { cpu_s: null, max_rss_bytes: null };

/**
 * What a tool makes of a recorded output, by the adapter and the judge of its runs. Reported files are not looked for. The adapter is `jsonl`,
 * `jsonl-map` or `text-map`.
 */
export async function playRecording(
  { manifest, manifestPath }: Pick<ToolEntry, 'manifest' | 'manifestPath'>,
  { stdout, stderr, rc }: RecordedRun,
): Promise<Recording> {
  const { adapter: name, strict, exit_codes: exitCodes } = manifest;
  const intake = new Intake(new MemoryRunLog(RUN_ID, new StoredLines(), () => true), {
    runId: RUN_ID,
    mayEmitTasks: manifest.role === 'orchestrator',
    joinsLines: true,
    onQuestion() {},
    onInvalidQuestion() {},
    onMetrics() {},
  });
  const kind = await loadAdapter(name);
  // These adapters read only this of a run, until they look for files. No file exists at an empty path.
  const plan = { tool: { manifest, manifestPath }, grants: [] };
  const context = { intake, plan, layout: { work: '', stdoutLog: '' }, attempt: 1 };
  const adapter = kind.make(context as unknown as AdapterContext);
  const read = (text: string, lines: LineReader) => {
    lines.push(Buffer.from(kind.splitsAtReturn ? text.replaceAll('\r', '\n') : text));
    lines.end();
  };
  const onLine: ConstructorParameters<typeof LineReader>[0] = (...line) => adapter.line(...line);
  read(stdout, new LineReader(onLine, MAX_LINE_BYTES, { keepsEmpty: adapter.keepsEmptyLines ?? false }));
  read(stderr, new LineReader((bytes, start, end) => adapter.errorLine?.(bytes, start, end)));
  adapter.end(rc);
  const ending = { kind: 'exited', exit: { rc, signal: null, usage: NO_USAGE } } as const;
  const observed = { ending, message: intake.ending, protocolProblem: intake.problem };
  const { code, message } = judge(observed, { adapter: name, strict, exitCodes, extraCodes: {} });
  return code === null ? { data: intake.ending?.['data'] } : { code, why: message ?? '' };
}
