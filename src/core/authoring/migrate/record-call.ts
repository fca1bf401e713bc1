import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import type { RecordedRun } from '../../../protocol/recorded-run.ts';
import { problemText } from '../../config/problem.ts';
import { readTool } from '../../registry/read-tool.ts';
import type { ToolEntry } from '../../registry/registry.ts';
import { WatchedFiles } from '../../registry/watched-files.ts';
import type { RunnerServices } from '../../run/services.ts';
import { startRun } from '../../run/start-run.ts';

/** Who records, and from where. */
export interface Recorder {
  services: RunnerServices;
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
}

/** Runs a drafted tool once, as an ordinary run with its limits and its record, and returns what the program wrote. */
export async function recordCall(
  { services, cwd, env }: Recorder,
  name: string,
  manifest: string,
  args: readonly string[],
): Promise<Pick<RecordedRun, 'stdout' | 'stderr' | 'rc'> | { trouble: string }> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'acor-migrate-')));
  try {
    // As root, the run is another user's.
    chmodSync(folder, 0o755);
    const found = await draftedTool(folder, name, manifest, services);
    const run = await startRun(services, {
      kind: 'tool',
      tool: name,
      args: [...args],
      cwd,
      env,
      found,
      retries: 0,
    });
    if (run.isKnown) throw new Error('Internal: a run without a key was known');
    const { rc, message } = await run.ended;
    const { stdoutLog, stderrLog } = services.workspaces.of(run.runId);
    if (rc === null) return { trouble: message ?? 'it did not exit by itself' };
    return { stdout: textOf(stdoutLog), stderr: textOf(stderrLog), rc };
  } catch (error) {
    if (!(error instanceof AcorError)) throw error;
    return { trouble: `${error.code}: ${error.message}` };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A stream to which nothing was written has no log. */
function textOf(log: string): string {
  return existsSync(log) ? readFileSync(log, 'utf8') : '';
}

/** The tool of a manifest that is in no project yet. */
async function draftedTool(
  folder: string,
  name: string,
  manifest: string,
  services: RunnerServices,
): Promise<ToolEntry> {
  const path = join(folder, name);
  mkdirSync(path);
  writeFileSync(join(path, 'tool.yaml'), manifest);
  const languages = await services.registry.languages();
  const candidate = { path, name, kind: 'folder' as const, root: folder, registryFolders: [], languages };
  const tool = await readTool(candidate, new WatchedFiles());
  const [problem] = tool?.problems ?? [];
  if (tool !== null && problem === undefined) return tool;
  throw new AcorError('E_MANIFEST_INVALID', problem ? problemText(problem) : 'the draft is not a tool', {
    hint: problem?.fix ?? 'Name its inputs in the file of primitives.',
  });
}
