import { basename, resolve } from 'node:path';

/** A tool of the project that a command would start without ACOR. */
export interface DirectCall {
  tool: string;
  args: string[];
}

/** Programs that execute the file in their arguments. */
const INTERPRETERS =
  /^(?:python[\d.]*|pypy[\d.]*|(?:ba|da|k|z)?sh|node|bun|deno|tsx|ts-node|ruby|perl|php|source|\.)$/;
/** Programs that start the program in their arguments. */
const WRAPPERS = /^(?:env|nohup|timeout|nice|time|exec|command|sudo|setsid|stdbuf|xargs|uv|poetry|npx)$/;
/** Words of the shell before a command. */
const KEYWORDS = /^(?:!|if|then|elif|else|while|until|do|time|coproc)$/;
/** The options of programs whose value is the next word. */
const WITH_VALUE: readonly [program: RegExp, options: RegExp][] = [
  [/^(?:python|pypy)/, /^-[WXQ]$/],
  [/sh$/, /^(?:[-+][oO]|--rcfile|--init-file)$/],
  [
    /^(?:node|bun|deno|tsx|ts-node)$/,
    /^(?:-[rC]|--require|--import|--loader|--conditions|--env-file|--preload)$/,
  ],
  [/^(?:ruby|perl)$/, /^-[IrM]$/],
  [/^env$/, /^(?:-[uC]|--unset|--chdir)$/],
  [/^timeout$/, /^(?:-[sk]|--signal|--kill-after)$/],
  [/^(?:sudo|nice|stdbuf|xargs)$/, /^-[ugnoeiPIL]$/],
];
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
  const [program, ...rest] = words.slice(
    words.findIndex((word) => !/^\w+=/.test(word) && !KEYWORDS.test(word)),
  );
  if (program === undefined) return undefined;
  const name = basename(program);
  if (WRAPPERS.test(name)) {
    const next = rest.findIndex(
      (word, index) => !/^(?:-|\d|\w+=|run$)/.test(word) && !takesValue(name, rest[index - 1]),
    );
    return next === -1 ? undefined : callIn(rest.slice(next), cwd, toolAt, nesting);
  }
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

function takesValue(program: string, option: string | undefined): boolean {
  return (
    option !== undefined &&
    WITH_VALUE.some(([programs, options]) => programs.test(program) && options.test(option))
  );
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

/**
 * Splits a shell command into simple commands and their words, without quotes. It does not expand variables or globs,
 * and drops redirections (`> file`).
 */
function splitShell(text: string): string[][] {
  const commands: string[][] = [];
  let words: string[] = [];
  let word: string | undefined;
  let isTarget = false;
  const endWord = () => {
    if (word !== undefined && !isTarget) words.push(word);
    if (word !== undefined) isTarget = false;
    word = undefined;
  };
  const endCommand = () => {
    endWord();
    if (words.length > 0) commands.push(words);
    words = [];
    isTarget = false;
  };
  for (const [piece] of text.matchAll(PIECES)) {
    const first = piece[0]!;
    if (piece === '\\\n') continue;
    if (first === "'") word = (word ?? '') + piece.slice(1, piece.endsWith("'") ? -1 : undefined);
    else if (first === '"') word = (word ?? '') + inQuotes(piece);
    else if (first === '\\') word = (word ?? '') + piece.slice(1);
    else if (first === '#' && word === undefined) continue;
    else if (/[;|&()`\n{}]/.test(first) || piece === '$(') endCommand();
    else if (/\s/.test(first)) endWord();
    else if (first === '>') {
      // The number before `>` is a file descriptor.
      if (word !== undefined && /^\d+$/.test(word)) word = undefined;
      endWord();
      isTarget = true;
    } else if (first === '<') endWord();
    else word = (word ?? '') + piece;
  }
  endCommand();
  return commands;
}

const PIECES =
  /\\\n|'[^']*'?|"(?:[^"\\]|\\[\s\S])*"?|\\[\s\S]|(?<=^|\s)#[^\n]*|\$\(|>>?&?\d*|[<;|&()`\n{}]|[^\S\n]+|[^\s'"\\<>;|&()`{}$]+|\$|\\/g;

function inQuotes(piece: string): string {
  const inside = piece.slice(1, piece.length > 1 && piece.endsWith('"') ? -1 : undefined);
  return inside.replace(/\\([\\"$`\n])/g, '$1');
}
