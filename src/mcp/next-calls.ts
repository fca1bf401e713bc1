import { findCommand } from '../compose/find-command.ts';
import { readFlags } from '../compose/flags.ts';
import { readInput } from '../compose/input.ts';
import { parametersOf } from '../compose/parameters.ts';
import type { Host } from './host.ts';
import { OWN_TOOLS } from './own-tools.ts';
import { RUN_TOOLS } from './run-tools.ts';

/** What leads on: a call of a tool of this server, or a command for whoever has a shell. */
export type NextCall = { tool: string; arguments: Record<string, unknown> } | { command: string };

/** Following and attaching print a stream; waiting is what an agent is served with here. */
const INSTEAD: Readonly<Record<string, string>> = { attach: 'wait' };

/** The commands of an answer as calls of this server's tools, where it has the tool. */
export function nextCalls(host: Host, commands: readonly string[]): Promise<NextCall[]> {
  return Promise.all(commands.map((command) => nextCall(host, command)));
}

async function nextCall(host: Host, command: string): Promise<NextCall> {
  const [program, ...argv] = wordsOf(command);
  const found = findCommand(host.cli.routes, argv);
  const name = found.words.join(' ');
  const own = [...OWN_TOOLS, ...RUN_TOOLS].find((each) => each.command === (INSTEAD[name] ?? name));
  if (program !== host.cli.name || own === undefined) return { command };
  try {
    const { op } = await host.route(own.command);
    const parameters = parametersOf(op);
    const sources = { cwd: '/', readStdin: async () => '', invocation: command };
    const line = readFlags(parameters, found.args, op);
    const input = await readInput(op, parameters, line, sources);
    const given = Object.entries(input).filter(([key]) => line.given.has(key) && !own.without.includes(key));
    return {
      tool: own.name,
      arguments: Object.fromEntries(given.map(([key, value]) => [key, asArgument(key, value)])),
    };
  } catch {
    return { command };
  }
}

/** An answer is JSON on a command line, and itself here. */
function asArgument(key: string, value: unknown): unknown {
  if (key !== 'value' || typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/** The words of a command line as `shellCommand` writes it. */
function wordsOf(command: string): string[] {
  return [...command.matchAll(/(?:'[^']*'|\\.|[^\s'\\])+/g)].map(([word]) =>
    word.replaceAll(
      /'([^']*)'|\\(.)/g,
      (_, quoted: string | undefined, escaped: string | undefined) => quoted ?? escaped ?? '',
    ),
  );
}
