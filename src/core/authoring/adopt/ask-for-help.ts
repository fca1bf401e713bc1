import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { newRunId } from '../../../util/ids.ts';
import { ProcessTree } from '../../process/kill-tree.ts';
import type { Runtime, SpawnedProcess } from '../../process/runtime.ts';
import type { ChosenBackend } from '../../sandbox/choose.ts';
import { canGiveUsers } from '../../sandbox/identity/run-users.ts';
import type { RunUser, SandboxLaunch } from '../../sandbox/sandbox.ts';

const MAX_BYTES = 1_048_576;
const COLUMNS = 120;
/** A uid without an account. A program that root adopts must not run as root. */
const NOBODY_IN_PARTICULAR: RunUser = { uid: 61_184, gid: 61_184 };

/** The program, and the environment in which it is asked for its help. */
export interface HelpPlace {
  runtime: Runtime;
  sandbox: ChosenBackend;
  /** The real path of the program, and the paths that it needs besides the base system. */
  program: string;
  folders: readonly string[];
  path: string;
  hidden: readonly string[];
  deadlineMs: number;
}

/** The output of a program. */
export interface HelpAnswer {
  /** The arguments of the program. */
  args: readonly string[];
  text: string;
  /** Why it did not start, or did not exit by itself. */
  trouble: string | null;
}

/**
 * Runs an unknown program with arguments that ask for its help: no network, no stdin, one writable temporary folder, a
 * time limit and an output limit of 1 MiB. Afterwards it kills every process that the program started.
 */
export async function askForHelp(place: HelpPlace, args: readonly string[]): Promise<HelpAnswer> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'acor-adopt-')));
  const work = join(folder, 'work');
  let launch: SandboxLaunch | undefined;
  let tree: ProcessTree | undefined;
  let timer: NodeJS.Timeout | undefined;
  try {
    chmodSync(folder, 0o755);
    mkdirSync(work, { mode: 0o755 });
    const runId = newRunId();
    const confinement = await place.sandbox.backend.confine(
      {
        runId,
        argv: [place.program, ...args],
        level: 'minimal',
        runtime: place.program,
        language: 'executable',
        toolDir: place.folders[0] ?? work,
        folders: { writable: [], readable: [work], work },
        libraries: [],
        grants: place.folders.map((path) => ({ path, access: 'read' as const })),
        hidden: place.hidden,
        commands: null,
        path: place.path,
        network: 'none',
        limits: { cpu_seconds: Math.ceil(place.deadlineMs / 1000), file_mb: 1 },
      },
      place.sandbox.probe,
    );
    launch = confinement.launch({
      env: { ...environment(place.path, work), RUN_ID: runId },
      stdout: 'pipe',
      stderr: 'pipe',
      user: canGiveUsers() && confinement.changesUser ? NOBODY_IN_PARTICULAR : null,
      scratch: folder,
    });
    const child = await place.runtime.spawn(launch.spawn);
    tree = new ProcessTree(place.runtime, {
      rootPid: child.pid,
      run: { runId, folder },
      adopts: false,
      sandboxProcessDepth: launch.sandboxProcessDepth,
    });
    launch.release();
    const late = new Promise<string>((resolve) => {
      timer = setTimeout(
        () => resolve(`it did not end within ${place.deadlineMs / 1000} s`),
        place.deadlineMs,
      );
    });
    const output = new Gathered(child);
    const first = await Promise.race([child.exited, output.overflow, late]);
    const trouble = typeof first === 'string' ? first : null;
    if (trouble === null) {
      await Promise.race([output.done, late]);
      launch.settle(await child.exited);
    }
    return { args, text: output.text, trouble };
  } catch (error) {
    if (!(error instanceof AcorError) || error.code === 'E_SANDBOX_UNAVAILABLE') throw error;
    return { args, text: '', trouble: error.message };
  } finally {
    clearTimeout(timer);
    await tree?.kill();
    tree?.release();
    launch?.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Variables that make programs print plain text to standard output, without a pager. */
function environment(path: string, work: string): Record<string, string> {
  return {
    PATH: path,
    HOME: work,
    LANG: 'C.UTF-8',
    NO_COLOR: '1',
    TERM: 'dumb',
    COLUMNS: String(COLUMNS),
    PAGER: 'cat',
    MANPAGER: 'cat',
    GIT_PAGER: 'cat',
  };
}

/** The output of a program up to a limit: standard output, or standard error when standard output is empty. */
class Gathered {
  readonly overflow: Promise<string>;
  readonly done: Promise<unknown>;
  readonly #streams: { chunks: Uint8Array[] }[] = [];
  #bytes = 0;
  #tooMuch!: () => void;

  constructor(child: SpawnedProcess) {
    this.overflow = new Promise((resolve) => {
      this.#tooMuch = () => resolve(`it wrote more than ${MAX_BYTES} bytes`);
    });
    this.done = Promise.all([child.stdout, child.stderr].map((stream) => this.#follow(stream)));
  }

  get text(): string {
    const [stdout = '', stderr = ''] = this.#streams.map(({ chunks }) =>
      Buffer.concat(chunks).toString('utf8'),
    );
    return stdout.trim() === '' ? stderr : stdout;
  }

  async #follow(stream: AsyncIterable<Uint8Array> | null): Promise<void> {
    const chunks: Uint8Array[] = [];
    this.#streams.push({ chunks });
    for await (const chunk of stream ?? []) {
      this.#bytes += chunk.length;
      if (this.#bytes > MAX_BYTES) return this.#tooMuch();
      chunks.push(chunk);
    }
  }
}
