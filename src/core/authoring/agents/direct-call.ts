import { basename, resolve } from 'node:path';
import { splitShell } from './split-shell.ts';

/** A tool of the project that a command would start past ACOR. */
export interface DirectCall {
  tool: string;
  args: string[];
}

/** Programs that run the file they are given. */
const INTERPRETERS =
  /^(?:python[\d.]*|pypy[\d.]*|(?:ba|da|k|z)?sh|node|bun|deno|tsx|ts-node|ruby|perl|php|source|\.)$/;
/** Programs that start the program they are given. */
const WRAPPERS = /^(?:env|nohup|timeout|nice|time|exec|command|sudo|setsid|stdbuf|xargs|uv|poetry|npx)$/;
/** With these, the file is looked at and not run; or it is no file. */
const LOOKS_ONLY = ['-n', '--check', '-m'];
const MAX_NESTING = 3;

/**
 * The first tool that a command line of a shell would start by its entry. It reads what is written, as people and agents write it;
 * whoever means to hide a call can, and is held by the sandbox of the agent, not by this.
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
    if (found !== undefined) return found;
  }
  return undefined;
}

function callIn(
  words: readonly string[],
  cwd: string,
  toolAt: (path: string) => string | undefined,
  nesting: number,
): DirectCall | undefined {
  const [program, ...rest] = words.slice(words.findIndex((word) => !/^\w+=/.test(word)));
  if (program === undefined) return undefined;
  const name = basename(program);
  if (WRAPPERS.test(name)) {
    const next = rest.findIndex((word) => !/^(?:-|\d|\w+=|run$)/.test(word));
    return next === -1 ? undefined : callIn(rest.slice(next), cwd, toolAt, nesting);
  }
  if (!INTERPRETERS.test(name)) return callOf(program, rest, cwd, toolAt);
  const script = rest.findIndex((word) => !word.startsWith('-') && word !== 'run');
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
  return tool === undefined ? undefined : { tool, args };
}
