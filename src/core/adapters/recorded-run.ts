import { isDeepStrictEqual } from 'node:util';
import type { Manifest } from '../../protocol/manifest.ts';
import { settingsOf } from '../../protocol/output-settings.ts';
import type { RecordedRun } from '../../protocol/recorded-run.ts';
import { isOkExit } from '../run/outcome.ts';
import { ErrorRules } from './error-rules.ts';
import { parseOutput } from './parse-output.ts';

type Reading = Pick<Manifest, 'output' | 'errors' | 'exit_codes'>;

/** What a tool makes of a recorded output: the data of a result, or the code of a failure. */
export type Recording = { data: unknown } | { code: string; why: string };

/** What a plain tool with this manifest makes of a recorded output, as its runs do. */
export function readRecording(
  { output, errors, exit_codes }: Reading,
  { stdout, stderr, rc }: Pick<RecordedRun, 'stdout' | 'stderr' | 'rc'>,
): Recording {
  if (!isOkExit(rc, exit_codes)) {
    const rules = new ErrorRules(errors ?? []);
    for (const line of stderr.split('\n')) rules.see(line);
    const known = rules.errorOf(rc);
    return { code: known?.code ?? 'E_TOOL_FAILED', why: known?.line ?? `exit code ${rc}` };
  }
  const lines = stdout === '' ? [] : stdout.replace(/\n$/, '').split('\n');
  if (settingsOf(output).format === 'text') return { data: { output: lines.join('\n') } };
  const parsed = parseOutput(output, lines);
  return 'problem' in parsed ? { code: 'E_PROTOCOL', why: parsed.problem } : { data: parsed.data };
}

/** Why a recorded run does not come out as it did; undefined when it does. */
export function whyDifferent(read: Recording, recorded: RecordedRun): string | undefined {
  if ('code' in read)
    return read.code === recorded.code
      ? undefined
      : `it is ${read.code} (${read.why}), not ${recorded.code ?? 'data'}`;
  if (recorded.code !== undefined) return `it has data, and ${recorded.code} is expected`;
  return isDeepStrictEqual(read.data, recorded.data)
    ? undefined
    : `its data are ${JSON.stringify(read.data)?.slice(0, 200)}`;
}
