import { splitWords } from '../../../util/shell-words.ts';
import { inexactNumbers } from '../../config/inexact-numbers.ts';
import type { KeyPath } from '../../config/yaml-file.ts';
import { endOfExpression, type TemplatePart } from '../expression/parse-template.ts';
import type { StepArguments, StepWork } from '../model.ts';
import { type FileReader, mistake, type StepFile } from './step-file.ts';

/** Reads the tool of a step and its arguments: `tool` and `args`, or both from `command`. */
export function readTool(reader: FileReader, step: StepFile, path: KeyPath): StepWork | undefined {
  if (step.command === undefined) {
    return { kind: 'tool', tool: step.tool!, args: readArguments(reader, step, path) };
  }
  if (step.tool !== undefined || step.args !== undefined) {
    return mistake(reader, [...path, 'command'], 'what-a-step-does', {
      message: "'command' already contains the tool and its arguments",
      fix: "Remove 'command', or remove 'tool' and 'args'.",
    });
  }
  const command = readCommand(reader, step.command, [...path, 'command']);
  return command && { kind: 'tool', ...command };
}

function readArguments(reader: FileReader, { args }: StepFile, path: KeyPath): StepArguments {
  if (Array.isArray(args)) {
    reader.problems.push(...inexactNumbers(reader.yaml, [...path, 'args'], args));
    return {
      form: 'words',
      words: args.map((word, index) => reader.template([...path, 'args', index], String(word))),
    };
  }
  const values = Object.entries(args ?? {}).map(
    ([key, value]) => [key, reader.template([...path, 'args', key], value)] as const,
  );
  return { form: 'named', values: Object.fromEntries(values) };
}

/** Reads `tool --x 1`: the first word is the tool. An expression is one word, whatever its value. */
export function readCommand(
  reader: FileReader,
  line: string,
  path: KeyPath,
): { tool: string; args: StepArguments } | undefined {
  const words = wordsOf(line);
  if (!Array.isArray(words)) return mistake(reader, path, 'command', words);
  const [first, ...rest] = words;
  const tool = first?.join('') ?? '';
  if (first === undefined || tool === '')
    return mistake(reader, path, 'command', {
      message: 'the command is empty',
      fix: 'Write the name of a tool and its arguments.',
    });
  if (first.some((piece) => typeof piece !== 'string')) {
    return mistake(reader, path, 'command', {
      message: 'the tool name must not be an expression: ACOR checks the tool before the run',
      fix: 'Write the name of the tool itself; its arguments may be expressions.',
    });
  }
  return { tool, args: { form: 'words', words: rest.map((word) => reader.word(path, word)) } };
}

/**
 * Splits a command into words. An expression `${…}` is one unit, including its quotes and spaces. Returns the problem
 * of an invalid command.
 */
function wordsOf(line: string): TemplatePart[][] | { message: string; fix: string } {
  let isUnclosed = false;
  const words = splitWords<TemplatePart>(line, (text, at) => {
    if (text.startsWith('$${', at)) return { piece: '${', end: at + 3 };
    if (!text.startsWith('${', at)) return undefined;
    const close = endOfExpression(text, at + 2);
    isUnclosed ||= close === undefined;
    const end = close ?? text.length;
    return { piece: { source: text.slice(at + 2, end), offset: at + 2 }, end: end + 1 };
  });
  if (isUnclosed) {
    return {
      message: 'a ${ of the command is never closed',
      fix: 'Add the } that ends the expression; write $${ for the characters themselves.',
    };
  }
  return words ?? { message: 'a quote of the command is never closed', fix: 'Add the closing quote.' };
}
