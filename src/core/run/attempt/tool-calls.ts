import {
  appendFileSync,
  chmodSync,
  closeSync,
  type FSWatcher,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { errorInfo } from '../../../protocol/error-codes.ts';
import { isAdHoc } from '../../../protocol/names.ts';
import type { RunRecord } from '../../../protocol/run-record.ts';
import { writeAtomic, writeFully } from '../../../util/atomic-write.ts';
import { errorMessage } from '../../../util/error-code.ts';
import { traceVariables } from '../../../util/ids.ts';
import type { OpenFolder } from '../../../util/open-folder.ts';
import { isInside } from '../../../util/real-path.ts';
import { removeTree } from '../../../util/walk-tree.ts';
import { shimText } from '../../sandbox/call-shim.ts';
import { KEPT, STARTED } from '../../store-files/layout.ts';
import { endChildren } from '../end-children.ts';
import { endedRecord } from '../follow-to-end.ts';
import { callFolders } from '../workspace.ts';
import type { AttemptContext } from './attempt-context.ts';
import { openWork } from './output-place.ts';

/** Events of the file system may get lost. */
const LOOK_MS = 500;
const MAX_CALL_BYTES = 1 << 20;
const MAX_LIVE_CALLS = 32;
const MAX_DEPTH = 8;
const CALL = /^[0-9-]{3,64}\.call$/;

/**
 * Starts other tools for a tool whose manifest lists `acor` among its commands. In the sandbox, a small program writes each call into the
 * workspace; each call becomes a child run, whose events are copied to a file that only the runner can write.
 */
export class ToolCalls implements AsyncDisposable {
  readonly #attempt: AttemptContext;
  readonly #folders: ReturnType<typeof callFolders>;
  readonly #live = new Map<string, Promise<void>>();
  readonly #childOf = new Map<string, string>();
  readonly #stop = new AbortController();
  /** Held open: the tool may put a link in its place. */
  readonly #requests: OpenFolder;
  readonly #watcher: FSWatcher;
  readonly #timer: NodeJS.Timeout;

  constructor(attempt: AttemptContext) {
    const { workspace } = attempt.plan;
    this.#attempt = attempt;
    this.#folders = callFolders(workspace);
    const { requests, replies, programs, shortcut } = this.#folders;
    for (const folder of [replies, programs]) {
      mkdirSync(folder, { recursive: true });
      chmodSync(folder, 0o755);
    }
    using work = openWork(workspace);
    for (const name of ['tool', 'acor'])
      writeFileSync(join(programs, name), shimText({ requests, replies }), { mode: 0o755 });
    // The tools of seed 000 call ./tool in their working directory.
    removeTree(work, basename(shortcut));
    symlinkSync(join(programs, 'tool'), work.at(basename(shortcut)));
    removeTree(work, basename(requests));
    this.#requests = work.makeChild(basename(requests), 0o755);
    try {
      this.#watcher = watch(requests, () => this.#look());
    } catch (error) {
      this.#requests[Symbol.dispose]();
      throw error;
    }
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#watcher.close();
    clearInterval(this.#timer);
    const { services, plan } = this.#attempt;
    if (this.#live.size > 0)
      await endChildren(services, plan.runId, 'the tool that started this run has ended').catch(() => {});
    this.#stop.abort();
    await Promise.all(this.#live.values());
    const { requests, replies, programs, shortcut } = this.#folders;
    this.#requests[Symbol.dispose]();
    for (const path of [replies, programs]) rmSync(path, { recursive: true, force: true });
    using work = openWork(plan.workspace);
    for (const path of [requests, shortcut]) removeTree(work, basename(path));
  }

  #look(): void {
    for (const name of this.#requests.names().map(String)) {
      const id = name.replace(/\.\w+$/, '');
      if (name.endsWith('.cancel')) void this.#cancel(id);
      if (!CALL.test(name) || this.#live.has(id) || this.#live.size >= MAX_LIVE_CALLS) continue;
      const call = this.#answer(id).finally(() => this.#live.delete(id));
      this.#live.set(id, call);
    }
  }

  async #answer(id: string): Promise<void> {
    const { replies } = this.#folders;
    const out = openSync(join(replies, id), 'a', 0o644);
    let code = 1;
    try {
      const words = readCall(this.#requests, `${id}.call`);
      unlinkSync(this.#requests.at(`${id}.call`));
      code = await this.#run(id, words, out);
    } catch (error) {
      const failure = error instanceof AcorError ? error : new AcorError('E_UNKNOWN', errorMessage(error));
      code = errorInfo(failure.code)?.exit ?? 1;
      const { code: name, message: msg, hint = '' } = failure;
      writeFully(out, Buffer.from(`${JSON.stringify({ v: 1, type: 'error', code: name, msg, hint })}\n`));
    } finally {
      closeSync(out);
      writeAtomic(join(replies, `${id}.end`), String(code));
    }
  }

  /** Runs the tool as a child run, and copies its events. Returns the exit code for the caller. */
  async #run(id: string, [cwd, program, ...words]: string[], out: number): Promise<number> {
    const { services, plan, writer, intake } = this.#attempt;
    const { tool, args } = toolIn(basename(program ?? ''), words);
    await this.#refuseDepth();
    const found = await services.registry.find(tool);
    if (found.manifest.permissions.level === 'privileged') {
      throw new AcorError('E_POLICY_DENIED', `'${tool}' is privileged, so no tool may start it`, {
        hint: 'Let the caller run it after this tool.',
      });
    }
    if (services.startChild === undefined)
      throw new AcorError('E_INCOMPATIBLE', 'this process starts no child runs');
    const childId = await services.startChild({
      kind: 'tool',
      tool,
      args,
      // The files of the caller are not in the workspace.
      cwd: isInside(cwd ?? '', plan.workspace.work) ? plan.cwd : (cwd ?? plan.cwd),
      env: { ...plan.callerEnv, ...traceVariables(plan) },
      parent: { run_id: plan.runId, task_id: `call-${id}` },
      ...(plan.caller !== null && { caller: plan.caller }),
    });
    this.#childOf.set(id, childId);
    noteStarted(plan.workspace.dir, childId);
    // The tool may have ended meanwhile.
    if (this.#stop.signal.aborted)
      await services.store.control.requestCancel(childId, 'its caller has ended');
    const msg = `the tool started '${tool}' as run ${childId}`;
    writer.log.append({ type: 'runner_log', level: 'info', msg, child_run_id: childId });
    for await (const lines of services.store.follow(childId, { wait: true, signal: this.#stop.signal })) {
      writeFully(out, lines);
      if (isAsking(lines)) {
        const asks = `run ${childId} of '${tool}', which the tool has started, waits for an answer`;
        writer.log.append({ type: 'runner_log', level: 'warn', msg: asks, child_run_id: childId });
        await writer.log.flush();
      }
      // A tool that waits for another one is not silent.
      intake.lastEventMs = intake.lastProgressMs = performance.now();
    }
    return exitCodeOf(await endedRecord(services, childId));
  }

  async #cancel(id: string): Promise<void> {
    const childId = this.#childOf.get(id);
    removeTree(this.#requests, `${id}.cancel`);
    if (childId !== undefined && this.#live.has(id))
      await this.#attempt.services.store.control
        .requestCancel(childId, 'its caller was stopped')
        .catch(() => {});
  }

  async #refuseDepth(): Promise<void> {
    const { store } = this.#attempt.services;
    let parent = this.#attempt.plan.parent;
    for (let depth = 1; parent !== null; depth++) {
      if (depth >= MAX_DEPTH) {
        throw new AcorError('E_USAGE', `tools start each other more than ${MAX_DEPTH} deep`, {
          hint: 'Find the tool that starts itself.',
        });
      }
      parent = (await store.read(parent.run_id)).parent;
    }
  }
}

/** For the commands that name the changes which started runs keep. A disk without room for it fails the run at its next event. */
function noteStarted(dir: string, childId: string): void {
  try {
    mkdirSync(join(dir, KEPT), { recursive: true, mode: 0o700 });
    appendFileSync(join(dir, STARTED), `${childId}\n`, { mode: 0o600 });
  } catch {}
}

/** The words of a call: the working directory, the name of the program, its arguments. The tool may have put anything there. */
function readCall(requests: OpenFolder, name: string): string[] {
  const fd = requests.openFile(name);
  try {
    if (fstatSync(fd).size > MAX_CALL_BYTES) throw new AcorError('E_USAGE', 'the call of a tool is too long');
    return readFileSync(fd, 'utf8').split('\0');
  } finally {
    closeSync(fd);
  }
}

/** The tool and its arguments: `./tool NAME …`, or `acor run NAME …`. */
function toolIn(program: string, words: readonly string[]): { tool: string; args: string[] } {
  const rest = [...words];
  if (program !== 'tool' && rest.shift() !== 'run') {
    throw new AcorError('E_USAGE', 'inside a run, nothing but a tool can be run', {
      hint: 'Call it with the name and the arguments of a tool, after the word run.',
    });
  }
  while (/^--(?:no-)?stream$|^--exit-code(?:=|$)|^--json$/.test(rest[0] ?? '')) {
    const [flag] = rest.splice(0, 1);
    if (flag === '--exit-code') rest.shift();
  }
  const [tool, ...args] = rest;
  // A file would come with permissions of its own, and the tool may have written it.
  if (tool !== undefined && isAdHoc(tool)) {
    throw new AcorError('E_POLICY_DENIED', 'inside a run, no file and no program can be run by its path', {
      hint: 'Name a tool of the project.',
    });
  }
  if (tool === undefined || tool.startsWith('-'))
    throw new AcorError('E_USAGE', 'the call names no tool', { hint: 'Name a tool of the project.' });
  return { tool, args };
}

/** Whether the run waits for an answer from these events on. */
function isAsking(lines: Uint8Array): boolean {
  const text = Buffer.from(lines.buffer, lines.byteOffset, lines.length);
  return text.includes('"type":"runner_state"') && text.includes('"to":"waiting_ai"');
}

function exitCodeOf({ state, code, rc }: RunRecord): number {
  if (state === 'completed') return 0;
  if (state === 'cancelled') return 130;
  return code === 'E_DEADLINE' ? 124 : rc || 1;
}
