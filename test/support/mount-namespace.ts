import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { ACOR, Running, TestProject, WITHOUT_SANDBOX } from './project.ts';

const canMount =
  spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'none', '/mnt'], { stdio: 'ignore' }).status === 0 &&
  spawnSync('nsenter', ['--version'], { stdio: 'ignore' }).status === 0;

/** For tests that mount: they are skipped by name where it is not permitted. */
export const needsMounts = canMount
  ? {}
  : { skip: 'needs unshare, nsenter and a kernel that lets this user mount a tmpfs' };

/** A project whose commands run in a mount namespace of their own, so that any folder of it can be made small or read-only. */
export class ProjectWithMounts extends TestProject {
  readonly #holder: ChildProcess;

  private constructor(holder: ChildProcess, options: ConstructorParameters<typeof TestProject>[0]) {
    super(options);
    this.#holder = holder;
  }

  static async open(options: ConstructorParameters<typeof TestProject>[0]): Promise<ProjectWithMounts> {
    // It says that it is there, and goes when its input ends.
    const holder = spawn('unshare', ['-rm', 'sh', '-c', 'echo there; exec cat'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    await new Promise((resolve) => holder.stdout!.once('data', resolve));
    // Root of such a namespace can give no tool a user of its own.
    return new ProjectWithMounts(holder, { config: WITHOUT_SANDBOX, ...options });
  }

  /** As the namespace sees it. */
  override get runsDir(): string {
    return this.seen('.runs');
  }

  /** A path of the project, mounts and all, for this process to look at. */
  seen(path: string): string {
    return `/proc/${this.#holder.pid}/root${this.path(path)}`;
  }

  /** As of a project; `within` is the line of shell that starts the command, which is `"$@"` in it. */
  override start(
    args: readonly string[],
    options: { cwd?: string; env?: Record<string, string>; within?: string } = {},
  ): Running {
    const env = this.environment(options.env, options.cwd);
    const script = `cd "$0" && ${options.within ?? 'exec "$@"'}`;
    // A bash whose standard input is a socket reads ~/.bashrc, because it takes itself for the shell of a remote login.
    const argv = [...this.#enter(), 'bash', '--norc', '-c', script, options.cwd ?? this.root, ACOR, ...args];
    return new Running(spawn(argv[0]!, argv.slice(1), { env, stdio: ['pipe', 'pipe', 'pipe'] }));
  }

  /** Runs a line of shell in the namespace, in the project's folder; throws when it fails. */
  shell(line: string): string {
    const { status, stdout, stderr } = this.tryShell(line);
    if (status !== 0) throw new Error(`${line}: ${stderr}`);
    return stdout;
  }

  tryShell(line: string): { status: number | null; stdout: string; stderr: string } {
    const argv = [...this.#enter(), 'bash', '-ec', 'cd "$0"; eval "$1"', this.root, line];
    return spawnSync(argv[0]!, argv.slice(1), { encoding: 'utf8' });
  }

  /** Mounts a separate file system over a folder; `options` are those of tmpfs, such as `size=64k`. */
  mountSmall(folder: string, options: string): void {
    this.shell(`mkdir -p '${folder}'; mount -t tmpfs -o ${options} none '${folder}'`);
  }

  /** Makes a file or folder read-only for everyone who comes by its path; what is open stays open. */
  makeReadOnly(path: string): void {
    this.shell(`mount --bind '${path}' '${path}'; mount -o remount,bind,ro '${path}'`);
  }

  unmount(path: string): void {
    this.shell(`umount -l '${path}'`);
  }

  /** Takes up all the space that is left on the file system of a folder. */
  fill(folder: string): void {
    this.shell(`cat /dev/zero > '${folder}/filler' 2>/dev/null || :`);
  }

  freeSpace(folder: string): void {
    this.shell(`rm '${folder}/filler'`);
  }

  override [Symbol.dispose](): void {
    this.#holder.stdin!.end();
    super[Symbol.dispose]();
  }

  #enter(): string[] {
    return ['nsenter', '-t', String(this.#holder.pid), '-U', '-m', '--preserve-credentials'];
  }
}
