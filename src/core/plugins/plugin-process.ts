import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { NextStep } from '../../protocol/next-steps.ts';
import { IS_COMPILED } from '../../util/is-compiled.ts';
import { forgetCompanion, registerCompanion } from '../process/kill-tree.ts';
import { packageFolder } from '../registry/own-files.ts';
import type { Answer, PluginOutline, Question } from './messages.ts';

/** The environment variables that a plugin gets. */
const VARIABLES = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TMPDIR'];

const ANSWERS_FD = 3;
const LOAD_MS = 10_000;
/** The time limit of a hook, because the start of a run or a list of tools waits for it. */
const HOOK_MS = 5000;

/** Why a plugin did not answer; the text follows the plugin's name. */
class PluginTrouble extends Error {}

/** A running plugin. */
export interface LoadedPlugin extends PluginOutline {
  name: string;
  process: PluginProcess;
}

/** A failure of a plugin, reported once; `text` is a sentence without its full stop. */
export interface PluginFailure {
  plugin: string;
  /** E_APPROVAL_REQUIRED for a plugin without an approval. */
  code?: string;
  text: string;
  next?: NextStep[];
}

/** The process of one plugin. A failure in it, even an exit or an endless loop, affects only that plugin. */
export class PluginProcess {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<
    number,
    { resolve(value: unknown): void; reject(error: PluginTrouble): void }
  >();
  #lastId = 0;
  #ended: string | undefined;

  /** `owner` marks every process that it starts, to distinguish them from processes that tools leave behind. */
  constructor(env: Readonly<Record<string, string | undefined>>, owner: string) {
    const [program, ...args] = hostCommand();
    this.#child = spawn(program, args, {
      cwd: '/',
      env: {
        ...Object.fromEntries(
          VARIABLES.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])),
        ),
        RUN_ID: owner,
      },
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
    });
    const { pid } = this.#child;
    // Otherwise the end of a run would take this process for an orphan of the tool.
    if (pid !== undefined) registerCompanion(pid);
    this.#child.once('error', (error) => this.#end(`could not be started: ${error.message}`));
    this.#child.once('exit', (code, signal) => {
      if (pid !== undefined) forgetCompanion(pid);
      this.#end(`ended its process (${code === null ? signal : `exit code ${code}`})`);
    });
    this.#child.stdin!.on('error', () => {});
    const answers = this.#child.stdio[ANSWERS_FD] as Socket;
    answers.on('error', () => {});
    createInterface({ input: answers }).on('line', (line) => this.#hear(line));
    // A program that uses the library must be able to exit when its own work is done.
    this.#child.unref();
    for (const stream of [this.#child.stdin as unknown as Socket, answers]) stream.unref?.();
  }

  get isAlive(): boolean {
    return this.#ended === undefined;
  }

  /** Loads the plugin and returns its description. Rejects with a PluginTrouble. */
  async load(file: string, root: string): Promise<PluginOutline> {
    return (await this.ask({ ask: 'load', file, root }, LOAD_MS)) as PluginOutline;
  }

  /** Asks the plugin a question. Rejects with a PluginTrouble, and kills the process when the answer is late. */
  async ask(question: Question, limitMs = HOOK_MS): Promise<unknown> {
    let timer: NodeJS.Timeout | undefined;
    const overdue = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(new PluginTrouble(`took more than ${limitMs / 1000} s in ${question.ask}, and was ended`));
        this.kill();
      }, limitMs);
    });
    try {
      return await Promise.race([this.askAtLeisure(question), overdue]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** The same without a time limit. */
  askAtLeisure(question: Question): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined) {
        reject(new PluginTrouble(this.#ended));
        return;
      }
      const id = ++this.#lastId;
      const failed = (error: PluginTrouble) =>
        reject(new PluginTrouble(`${error.message} in ${question.ask}`));
      this.#waiting.set(id, { resolve, reject: question.ask === 'load' ? reject : failed });
      this.#child.stdin!.write(`${JSON.stringify({ id, question })}\n`);
    });
  }

  /** Kills the process and its process group. */
  kill(): void {
    try {
      process.kill(-this.#child.pid!, 'SIGKILL');
    } catch {
      // Already ended, or never started.
    }
  }

  #hear(line: string): void {
    let answer: Answer;
    try {
      answer = JSON.parse(line);
    } catch {
      this.kill();
      return;
    }
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if ('threw' in answer) waiting?.reject(new PluginTrouble(`threw ${JSON.stringify(answer.threw)}`));
    else waiting?.resolve(answer.value);
  }

  #end(why: string): void {
    this.#ended ??= why;
    for (const { reject } of this.#waiting.values()) reject(new PluginTrouble(why));
    this.#waiting.clear();
  }
}

/**
 * The command that starts a plugin's process: the compiled program itself, or the runtime that runs the sources or the
 * library.
 */
function hostCommand(): [string, ...string[]] {
  if (IS_COMPILED) return [process.execPath, 'plugin-host'];
  const root = packageFolder()!;
  const main = import.meta.filename.endsWith('.ts')
    ? join(import.meta.dirname, 'host', 'main.ts')
    : join(root, 'dist', 'lib', 'core', 'plugins', 'host', 'main.js');
  if (process.versions['bun'] === undefined) return [process.execPath, main];
  return [
    process.execPath,
    '--no-env-file',
    // Prevents Bun from downloading a package that a plugin imports and that is not installed.
    '--no-install',
    `--config=${join(root, 'bunfig.toml')}`,
    // Bun would otherwise apply the `paths` of a tsconfig.json in the working directory.
    `--tsconfig-override=${join(root, 'tsconfig.json')}`,
    main,
  ];
}
