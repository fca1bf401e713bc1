import { closeSync } from 'node:fs';
import { InputPipe } from '../../process/input-pipe.ts';
import { forgetCompanion, registerCompanion } from '../../process/kill-tree.ts';
import type { Exit, Runtime, SpawnedProcess, SpawnRequest } from '../../process/runtime.ts';
import type { ForkServerParts } from '../sandbox.ts';
import { scratchFile } from '../scratch-file.ts';
import { exitOf, PERL_COMMAND } from './launcher.ts';
import { forkServerScript } from './perl-forks.ts';

/** A fork that was requested and has not ended. */
interface Fork {
  hasStarted(pid: number): void;
  hasFailed(error: Error): void;
  hasEnded(exit: Exit): void;
}

const KILLED: Exit = { rc: null, signal: 'SIGKILL', usage: { cpu_s: null, max_rss_bytes: null } };

/**
 * One launcher for many tools: it forks for each, where a launcher of its own would start Perl and compile its script. The fork gets what that
 * launcher would get, and nothing of an earlier run: the server itself never reads orders. When the server ends, so do its forks.
 */
export class ForkServer {
  readonly #server: SpawnedProcess;
  readonly #requests: InputPipe;
  readonly #forks = new Map<number, Fork>();
  /** The forks for which this process waits before it ends. */
  readonly #held = new Set<number>();
  #count = 0;
  #hasEnded = false;

  /** Its files in this folder have no names once it has started. */
  static async start(
    runtime: Runtime,
    { perl, architecture }: ForkServerParts,
    folder: string,
  ): Promise<ForkServer> {
    const requests = new InputPipe(runtime, folder);
    requests.unlink();
    const script = scratchFile(folder, forkServerScript(architecture));
    let made: ForkServer | undefined;
    const hear = (report: unknown) => {
      if (made !== undefined) made.#take(String(report));
      return undefined;
    };
    try {
      const server = await runtime.spawn({
        argv: [perl, ...PERL_COMMAND],
        cwd: '/',
        env: { PATH: '/usr/bin:/bin' },
        stdin: script,
        // Only a fault of the script is written there.
        stdout: script,
        stderr: script,
        fds: [requests.target],
        hear,
      });
      made = new ForkServer(server, requests);
      return made;
    } catch (error) {
      requests[Symbol.dispose]();
      throw error;
    } finally {
      closeSync(script);
    }
  }

  private constructor(server: SpawnedProcess, requests: InputPipe) {
    this.#server = server;
    this.#requests = requests;
    requests.releaseReadEnd();
    registerCompanion(server.pid);
    server.holdsProcess(false);
    const end = () => this.#end();
    server.exited.then(end, end);
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  get isBusy(): boolean {
    return this.#forks.size > 0;
  }

  /** Like `Runtime.spawn`, for a launcher whose streams are all descriptors. Rejects when there is no fork. */
  async spawn({ stdin, stdout, stderr, fds = [] }: SpawnRequest): Promise<SpawnedProcess> {
    const id = this.#count++;
    const line = Buffer.from(`${[id, process.pid, stdin, stdout, stderr, ...fds].join(' ')}\n`);
    if (this.#hasEnded || this.#requests.offer(line, 0) < line.length)
      throw new Error('the fork server takes no request');
    const started = Promise.withResolvers<number>();
    const ended = Promise.withResolvers<Exit>();
    this.#forks.set(id, {
      hasStarted: started.resolve,
      hasFailed: started.reject,
      hasEnded(exit) {
        started.reject(new Error('the launcher ended before its start'));
        ended.resolve(exit);
      },
    });
    this.#hold(id, true);
    return {
      pid: await started.promise,
      exited: ended.promise,
      stdout: null,
      stderr: null,
      holdsProcess: (holds) => this.#hold(id, holds),
    };
  }

  /** Ends the server, and every fork that has not ended. */
  close(): void {
    this.#requests[Symbol.dispose]();
  }

  #hold(id: number, holds: boolean): void {
    // One that has ended holds nothing: its start and its end may be reported at once.
    if (holds && this.#forks.has(id)) this.#held.add(id);
    else this.#held.delete(id);
    this.#server.holdsProcess(this.#held.size > 0);
  }

  #take(report: string): void {
    const [word, id, ...values] = report.split(' ');
    const number = Number(id);
    const fork = this.#forks.get(number);
    const [first = 0, cpuMicroseconds = 0, maxRssKib = 0] = values.map(Number);
    if (word === 'started') fork?.hasStarted(first);
    else if (word === 'ended') this.#settle(number, exitOf(first, cpuMicroseconds, maxRssKib));
    else {
      fork?.hasFailed(new Error(`the fork server cannot fork: error ${first}`));
      this.#settle(number, KILLED);
    }
  }

  #settle(id: number, exit: Exit): void {
    const fork = this.#forks.get(id);
    this.#forks.delete(id);
    this.#hold(id, false);
    fork?.hasEnded(exit);
  }

  #end(): void {
    this.#hasEnded = true;
    forgetCompanion(this.#server.pid);
    this.close();
    for (const id of [...this.#forks.keys()]) this.#settle(id, KILLED);
  }
}
