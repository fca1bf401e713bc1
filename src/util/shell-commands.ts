import { basename } from 'node:path';

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
const MAX_NESTING = 3;

/** A program with its arguments, as a simple command of a shell starts it. */
export interface SimpleCommand {
  program: string;
  args: string[];
}

/** The program of a simple command, behind assignments and words of the shell. */
export function commandIn(words: readonly string[]): SimpleCommand | undefined {
  const first = words.findIndex((word) => !/^\w+=/.test(word) && !KEYWORDS.test(word));
  const program = words[first];
  return program === undefined ? undefined : { program, args: words.slice(first + 1) };
}

/** The words behind a program that only starts another one; undefined for any other program. */
export function wrappedWords({ program, args }: SimpleCommand): string[] | undefined {
  const name = basename(program);
  if (!WRAPPERS.test(name)) return undefined;
  const next = args.findIndex(
    (word, index) => !/^(?:-|\d|\w+=|run$)/.test(word) && !takesValue(name, args[index - 1]),
  );
  return next === -1 ? [] : args.slice(next);
}

/** Whether an option of a program has its value in the next word. */
export function takesValue(program: string, option: string | undefined): boolean {
  return (
    option !== undefined &&
    WITH_VALUE.some(([programs, options]) => programs.test(program) && options.test(option))
  );
}

/** The script in the arguments of a shell: `sh -c '…'`. */
export function inlineScript({ program, args }: SimpleCommand): string | undefined {
  const name = basename(program);
  if (!/^(?:ba|da|k|z|a)?sh$/.test(name)) return undefined;
  const script = args.findIndex((word, index) => !word.startsWith('-') && !takesValue(name, args[index - 1]));
  return args.slice(0, Math.max(script, 0)).some((option) => /^-\w*c$/.test(option))
    ? args[script]
    : undefined;
}

/**
 * The programs that a command line starts by ordinary words: itself, what it wraps, and the commands of `sh -c`. What a script computes is not
 * among them.
 */
export function programsOf(words: readonly string[], nesting = 0): string[] {
  const command = commandIn(words);
  if (command === undefined) return [];
  const wrapped = wrappedWords(command);
  const script = inlineScript(command);
  const inner =
    wrapped !== undefined
      ? programsOf(wrapped, nesting)
      : script !== undefined && nesting < MAX_NESTING
        ? splitShell(script).flatMap((each) => programsOf(each, nesting + 1))
        : [];
  return [...new Set([command.program, ...inner])];
}

/**
 * Splits a shell command into simple commands and their words, without quotes. It does not expand variables or globs,
 * and drops redirections (`> file`).
 */
export function splitShell(text: string): string[][] {
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

/** Whether the shell takes the words as they are: it expands nothing, and reads no file into a command. */
export function isLiteral(text: string): boolean {
  return [...text.matchAll(QUOTED_OR_SPECIAL)].every(([piece]) => {
    if (piece[0] === '"') return !/[$`]/.test(piece.replace(/\\[\s\S]/g, ''));
    return /^['#\\]/.test(piece);
  });
}

const QUOTED_OR_SPECIAL = /(?<=^|\s)#[^\n]*|'[^']*'?|"(?:[^"\\]|\\[\s\S])*"?|\\[\s\S]?|[$`*?~<]|[[{](?!\s)/g;

const PIECES =
  /\\\n|'[^']*'?|"(?:[^"\\]|\\[\s\S])*"?|\\[\s\S]|(?<=^|\s)#[^\n]*|\$\(|>>?&?\d*|[<;|&()`\n{}]|[^\S\n]+|[^\s'"\\<>;|&()`{}$]+|\$|\\/g;

function inQuotes(piece: string): string {
  const inside = piece.slice(1, piece.length > 1 && piece.endsWith('"') ? -1 : undefined);
  return inside.replace(/\\([\\"$`\n])/g, '$1');
}
