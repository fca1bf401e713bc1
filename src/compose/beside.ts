import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { agentOf } from '../util/audience.ts';
import { BUILTIN_COMMANDS } from './builtins/names.ts';
import { GLOBAL_FLAGS } from './globals.ts';

/** What an old program has of the kit's flags and commands itself. */
interface Owned {
  flags: readonly string[];
  words: readonly string[];
}

/**
 * Serves a command line under the name of an old program in JavaScript or TypeScript. Whatever the old program understands
 * goes to it unchanged, except for agents: their environment, a flag of the kit or one of its commands leads to the new
 * command line. `serveNew` loads and serves that: no call of the old program waits for the kit.
 */
export function serveBeside(old: URL, owned: Owned, serveNew: () => Promise<unknown>): Promise<unknown> {
  const argv = process.argv.slice(2);
  const isForAgents = asksForKit(argv, owned) || agentOf(process.env) !== undefined;
  return isForAgents ? serveNew() : forward(fileURLToPath(old), argv);
}

function asksForKit(argv: readonly string[], owned: Owned): boolean {
  const end = argv.indexOf('--');
  const hasFlag = argv.slice(0, end < 0 ? argv.length : end).some((arg) => {
    const flag = GLOBAL_FLAGS.find(({ name }) => arg === `--${name}` || arg.startsWith(`--${name}=`));
    return flag !== undefined && !['help', 'version', ...owned.flags].includes(flag.name);
  });
  const isCommand = BUILTIN_COMMANDS.some((command) => command.split(' ')[0] === argv[0]);
  return hasFlag || (isCommand && !owned.words.includes(argv[0]!));
}

/** Performs an old command line unchanged, and ends this process as the old program ends. */
function forward(file: string, argv: readonly string[]): Promise<never> {
  return new Promise<never>((_resolve, reject) => {
    const child = spawn(process.execPath, [file, ...argv], { stdio: 'inherit' });
    // The terminal sends its signals to both; this process ends as the program does.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.on(signal, () => child.kill(signal));
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (signal === null) process.exit(code ?? 1);
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    });
  });
}
