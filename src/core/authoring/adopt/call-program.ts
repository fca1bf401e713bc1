import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { newRunId } from '../../../util/ids.ts';
import { ProcessTree } from '../../process/kill-tree.ts';
import type { SpawnedProcess } from '../../process/runtime.ts';
import { canGiveUsers } from '../../sandbox/identity/run-users.ts';
import type { RunUser, SandboxLaunch } from '../../sandbox/sandbox.ts';
import type { CalledProgram, HelpPlace } from './help-place.ts';

const MAX_BYTES = 1_048_576;
const MAX_FILE_MB = 16;
/** Each entry is a mount of the sandbox. */
const MAX_ENTRIES = 200;
/** A uid without an account. A program that root adopts must not run as root. */
const NOBODY_IN_PARTICULAR: RunUser = { uid: 61_184, gid: 61_184 };
/** Variables that make programs print plain text to standard output, without a pager. */
const PLAIN: Readonly<Record<string, string>> = {
  LANG: 'C.UTF-8',
  NO_COLOR: '1',
  TERM: 'dumb',
  COLUMNS: '120',
  PAGER: 'cat',
  MANPAGER: 'cat',
  GIT_PAGER: 'cat',
};

/** The environment of the program besides PATH and HOME, and whether it may write into its own temporary folder. */
interface CallSettings {
  variables?: Readonly<Record<string, string>>;
  mayWrite?: boolean;
}

/**
 * Runs an unknown program: no network, no stdin, one temporary folder, a time limit and an output limit of 1 MiB.
 * Afterwards it kills every process that the program started.
 */
export async function callProgram(
  place: HelpPlace,
  args: readonly string[],
  { variables = PLAIN, mayWrite = false }: CallSettings = {},
): Promise<CalledProgram> {
  if (place.call !== undefined) return place.call(args);
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'acor-adopt-')));
  const work = join(folder, 'work');
  let launch: SandboxLaunch | undefined;
  let tree: ProcessTree | undefined;
  let timer: NodeJS.Timeout | undefined;
  const { command, language = 'executable', libraries = [] } = place.started ?? {};
  const [program = place.program, ...words] = command?.argv ?? [];
  try {
    chmodSync(folder, 0o755);
    mkdirSync(work);
    // Whatever the umask is: the program may have another user.
    chmodSync(work, 0o755);
    const changesUser = mayWrite && canGiveUsers();
    if (changesUser) chownSync(work, NOBODY_IN_PARTICULAR.uid, NOBODY_IN_PARTICULAR.gid);
    const runId = newRunId();
    const confinement = await place.sandbox.backend.confine(
      {
        runId,
        argv: [program, ...words, ...args],
        level: 'minimal',
        runtime: command?.runtime ?? place.program,
        language,
        toolDir: place.folders[0] ?? work,
        folders: { writable: mayWrite ? [work] : [], readable: mayWrite ? [] : [work], work },
        libraries,
        grants: place.folders.flatMap(enterable).map((path) => ({ path, access: 'read' as const })),
        hidden: place.hidden,
        commands: null,
        path: place.path,
        network: 'none',
        limits: { cpu_seconds: Math.ceil(place.deadlineMs / 1000), file_mb: mayWrite ? MAX_FILE_MB : 1 },
      },
      place.sandbox.probe,
    );
    launch = confinement.launch({
      env: { PATH: place.path, HOME: work, ...variables, ...command?.env, RUN_ID: runId },
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
      ...(launch.hasReaper && { hasReaper: true }),
    });
    launch.release();
    const late = new Promise<string>((resolve) => {
      timer = setTimeout(
        () => resolve(`it did not end within ${place.deadlineMs / 1000} s`),
        place.deadlineMs,
      );
    });
    const output = new Gathered(child);
    // The name of the folder differs in each call: two calls of a deterministic program print the same.
    const texts = () => (mayWrite ? output.textsWith(work, '~') : output.texts);
    const first = await Promise.race([child.exited, output.overflow, late]);
    const trouble = typeof first === 'string' ? first : null;
    if (trouble !== null) return { args, ...texts(), rc: null, signal: null, trouble };
    await Promise.race([output.done, late]);
    const { rc, signal } = launch.settle(await child.exited).exit;
    return { args, ...texts(), rc, signal, trouble };
  } catch (error) {
    if (!(error instanceof AcorError) || error.code === 'E_SANDBOX_UNAVAILABLE') throw error;
    return { args, stdout: '', stderr: '', rc: null, signal: null, trouble: error.message };
  } finally {
    clearTimeout(timer);
    await tree?.kill();
    tree?.release();
    launch?.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * A folder that the user of the program can enter, or what is in it: the sandbox makes a folder of that name itself. A
 * project of root often has the mode 0700.
 */
function enterable(folder: string): string[] {
  if (!canGiveUsers()) return [folder];
  const { mode, uid } = statSync(folder);
  const isOpen = (mode & 0o005) === 0o005 || uid === NOBODY_IN_PARTICULAR.uid;
  if (isOpen || !statSync(folder).isDirectory()) return [folder];
  const entries = readdirSync(folder);
  return entries.length > MAX_ENTRIES ? [folder] : entries.map((name) => join(folder, name));
}

/** The output of a program up to a limit. */
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

  get texts(): Pick<CalledProgram, 'stdout' | 'stderr'> {
    const [stdout = '', stderr = ''] = this.#streams.map(({ chunks }) =>
      Buffer.concat(chunks).toString('utf8'),
    );
    return { stdout, stderr };
  }

  /** The texts with a path replaced. */
  textsWith(path: string, replacement: string): Pick<CalledProgram, 'stdout' | 'stderr'> {
    const { stdout, stderr } = this.texts;
    return {
      stdout: stdout.replaceAll(path, replacement),
      stderr: stderr.replaceAll(path, replacement),
    };
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
