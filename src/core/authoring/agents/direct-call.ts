import { basename, resolve } from 'node:path';
import { commandIn, isLiteral, splitShell, takesValue, wrappedWords } from '../../../util/shell-commands.ts';

/** A tool of the project that a command would start without ACOR. */
export interface DirectCall {
  tool: string;
  args: string[];
  /** Whether the tool gets these arguments; otherwise the shell computes some of them. */
  isLiteral: boolean;
}

/** Programs that execute the file in their arguments. */
const INTERPRETERS =
  /^(?:python[\d.]*|pypy[\d.]*|(?:ba|da|k|z)?sh|node|bun|deno|tsx|ts-node|ruby|perl|php|source|\.)$/;
/** With these flags the program only reads the file, or the argument is not a file. */
const LOOKS_ONLY = ['-n', '--check', '-m'];
const MAX_NESTING = 3;

/**
 * The first tool that a shell command would start through its entry file. It recognizes ordinary commands; it is no
 * defence against a hidden call, which is the task of the agent's own sandbox.
 */
export function findDirectCall(
  command: string,
  cwd: string,
  toolAt: (path: string) => string | undefined,
  nesting = 0,
): DirectCall | undefined {
  let folder = cwd;
  for (const words of splitShell(command)) {
    if (words[0] === 'cd' && words[1] !== undefined) folder = resolve(folder, words[1]);
    const found = callIn(words, folder, toolAt, nesting);
    if (found !== undefined) return { ...found, isLiteral: found.isLiteral && isLiteral(command) };
  }
  return undefined;
}

function callIn(
  words: readonly string[],
  cwd: string,
  toolAt: (path: string) => string | undefined,
  nesting: number,
): DirectCall | undefined {
  const command = commandIn(words);
  if (command === undefined) return undefined;
  const { program, args: rest } = command;
  const name = basename(program);
  const wrapped = wrappedWords(command);
  if (wrapped !== undefined) return callIn(wrapped, cwd, toolAt, nesting);
  if (!INTERPRETERS.test(name)) return callOf(program, rest, cwd, toolAt);
  const script = rest.findIndex(
    (word, index) => !word.startsWith('-') && word !== 'run' && !takesValue(name, rest[index - 1]),
  );
  if (script === -1) return undefined;
  const options = rest.slice(0, script);
  if (options.some((option) => LOOKS_ONLY.includes(option))) return undefined;
  const isText = options.some((option) => /^-\w*c$/.test(option));
  if (isText)
    return name.endsWith('sh') && nesting < MAX_NESTING
      ? findDirectCall(rest[script]!, cwd, toolAt, nesting + 1)
      : undefined;
  return callOf(rest[script]!, rest.slice(script + 1), cwd, toolAt);
}

function callOf(
  path: string,
  args: string[],
  cwd: string,
  toolAt: (path: string) => string | undefined,
): DirectCall | undefined {
  const tool = toolAt(resolve(cwd, path));
  return tool === undefined ? undefined : { tool, args, isLiteral: true };
}
