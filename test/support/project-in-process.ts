import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { terminal } from '../../src/cli/terminal.ts';
import { runCli } from '../../src/compose/app.ts';
import { NO_INTERRUPTS } from '../../src/compose/interrupts.ts';
import { loadRuntime } from '../../src/core/process/load-runtime.ts';
import { acorCli } from '../../src/operations/acor-cli.ts';
import { type Finished, type RunOfTool, readRun, TestProject } from './project.ts';

// A command that plans a run makes its process adopt orphans. This process also runs other tests, whose orphans are not its own.
const runtime = await loadRuntime();
runtime.adoptOrphans = () => false;

interface Options {
  cwd?: string;
  env?: Record<string, string>;
  stdin?: string;
}

/**
 * A project whose commands run in this process, for tests of what a command answers. Starting the program for each call would
 * take ten times as long. `run` and `start` still start it, because they start tools.
 */
export class ProjectInProcess extends TestProject {
  override acor(args: readonly string[], options: Options = {}): Promise<Finished> {
    return acorInProcess(this, args, options);
  }

  override async run(args: readonly string[], options: Options = {}): Promise<RunOfTool> {
    return readRun(await super.acor(['run', ...args], options));
  }
}

/** Runs one command of a project in this process. */
export async function acorInProcess(
  project: TestProject,
  args: readonly string[],
  options: Options = {},
): Promise<Finished> {
  const folder = mkdtempSync(join(tmpdir(), 'acor-output-'));
  const [out, err] = [join(folder, 'out'), join(folder, 'err')];
  const [stdoutFd, stderrFd] = [openSync(out, 'w'), openSync(err, 'w')];
  try {
    const code = await runCli({ ...acorCli(), terminal: async () => terminal() }, [...args], {
      stdoutFd,
      stderrFd,
      stdoutIsTTY: false,
      stdinIsTTY: false,
      columns: undefined,
      env: project.environment(options.env, options.cwd),
      cwd: options.cwd ?? project.root,
      signal: new AbortController().signal,
      interrupts: NO_INTERRUPTS,
      readStdin: async () => options.stdin ?? '',
    });
    return { code, signal: null, stdout: readFileSync(out, 'utf8'), stderr: readFileSync(err, 'utf8') };
  } finally {
    closeSync(stdoutFd);
    closeSync(stderrFd);
    rmSync(folder, { recursive: true });
  }
}
