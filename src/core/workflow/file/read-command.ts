import type { KeyPath } from '../../config/yaml-file.ts';
import type { RunExecutor, StepArguments } from '../model.ts';
import { type FileReader, mistake, type StepFile } from './file-reader.ts';
import { splitWords } from './split-words.ts';

/** The tool of a step, and what it is given: `tool` and `args`, or both in a `command`. */
export function readTool(reader: FileReader, step: StepFile, path: KeyPath): RunExecutor | undefined {
  if (step.command === undefined) {
    return { kind: 'tool', tool: step.tool!, args: readArguments(reader, step, path) };
  }
  if (step.tool !== undefined || step.args !== undefined) {
    return mistake(
      reader,
      [...path, 'command'],
      'what-a-step-does',
      "'command' holds the tool and its arguments; 'tool' and 'args' are the other way to write it",
    );
  }
  const command = readCommand(reader, step.command, [...path, 'command']);
  return command && { kind: 'tool', ...command };
}

function readArguments(reader: FileReader, { args }: StepFile, path: KeyPath): StepArguments {
  if (Array.isArray(args)) {
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

/** `tool --x 1`: the first word is the tool. An expression is one word, whatever it gives. */
export function readCommand(
  reader: FileReader,
  line: string,
  path: KeyPath,
): { tool: string; args: StepArguments } | undefined {
  const words = splitWords(line);
  if (typeof words === 'string') return mistake(reader, path, 'command', words);
  const [first, ...rest] = words;
  const tool = first?.join('') ?? '';
  if (first === undefined || tool === '') return mistake(reader, path, 'command', 'the command is empty');
  if (first.some((piece) => typeof piece !== 'string')) {
    return mistake(
      reader,
      path,
      'command',
      'the tool is named by an expression, so that nobody can check what would run',
    );
  }
  return { tool, args: { form: 'words', words: rest.map((word) => reader.word(path, word)) } };
}
