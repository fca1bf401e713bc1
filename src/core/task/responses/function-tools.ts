import { emit } from '../../../tool/index.ts';
import type { FunctionDefinition } from './api.ts';
import { askUser, type Choice } from './ask-user.ts';
import { editFile, listFiles, readFile, writeFile } from './file-tools.ts';
import { runCommand } from './run-command.ts';
import type { TurnFile } from './turn-file.ts';

type Arguments = Readonly<Record<string, never>>;

/** A function that the model may call. Each of its parameters is required, as strict mode has it. */
interface FunctionTool {
  description: string;
  parameters: Record<string, object>;
  run(args: never): string | Promise<string>;
}

export interface FunctionTools {
  definitions: FunctionDefinition[];
  /** Calls a function with its arguments in JSON. What goes wrong is the model's to hear, and returned as a text. */
  call(name: string, argumentsText: string): Promise<string>;
  /** Set once the model has said that it is done. */
  readonly isSubmitted: boolean;
  readonly summary: string | undefined;
  readonly filesModified: readonly string[];
}

const TEXT = { type: 'string' };

/** The functions for files and commands, as far as the sandbox lets them, and those by which the model reports. */
export function functionTools({ root }: TurnFile): FunctionTools {
  let submitted: { summary: string; files: string[] } | undefined;
  const tools: Record<string, FunctionTool> = {
    list_files: {
      description: 'Lists the files and folders in a folder of the project; "." is its top.',
      parameters: { path: TEXT },
      run: ({ path }: { path: string }) => listFiles(root, path),
    },
    read_file: {
      description: 'Reads a text file.',
      parameters: { path: TEXT },
      run: ({ path }: { path: string }) => readFile(root, path),
    },
    write_file: {
      description: 'Writes a whole text file, and makes the folders that lead to it.',
      parameters: { path: TEXT, content: TEXT },
      run: ({ path, content }: { path: string; content: string }) => writeFile(root, path, content),
    },
    edit_file: {
      description: 'Replaces one passage of a text file. `old` must stand there exactly once.',
      parameters: { path: TEXT, old: TEXT, new: TEXT },
      run: (args: { path: string; old: string; new: string }) =>
        editFile(root, args.path, args.old, args.new),
    },
    run_command: {
      description:
        'Runs a command line in a POSIX shell, in the project. Returns exit code, stdout and stderr.',
      parameters: { command: TEXT, timeout_s: { type: 'integer', minimum: 1, maximum: 600 } },
      run: (args: { command: string; timeout_s: number }) => runCommand(root, args.command, args.timeout_s),
    },
    ask_user: {
      description:
        'Asks whoever supervises the task, and waits for the answer. Without options any text is one.',
      parameters: {
        question: TEXT,
        options: {
          type: 'array',
          items: strictObject({ label: TEXT, description: TEXT }),
        },
      },
      run: ({ question, options }: { question: string; options: Choice[] }) =>
        askUser('question', question, options),
    },
    report_progress: {
      description: 'Says what was just done, or is being done.',
      parameters: { message: TEXT },
      run({ message }: { message: string }) {
        emit('progress', { step: 'report', msg: message });
        return 'noted';
      },
    },
    submit_result: {
      description:
        'Ends the task: what was done, and every file that was changed, by its path from the project on.',
      parameters: { summary: TEXT, files_modified: { type: 'array', items: TEXT } },
      run(args: { summary: string; files_modified: string[] }) {
        submitted = { summary: args.summary, files: args.files_modified };
        return 'received';
      },
    },
  };
  return {
    definitions: Object.entries(tools).map(([name, { description, parameters }]) => ({
      type: 'function',
      name,
      description,
      parameters: strictObject(parameters),
      strict: true,
    })),
    async call(name, argumentsText) {
      if (!Object.hasOwn(tools, name)) return `there is no function ${name}`;
      try {
        return await tools[name]!.run(JSON.parse(argumentsText) as Arguments as never);
      } catch (error) {
        return `failed: ${error instanceof Error ? error.message : String(error)}`;
      }
    },
    get isSubmitted() {
      return submitted !== undefined;
    },
    get summary() {
      return submitted?.summary;
    },
    get filesModified() {
      return submitted?.files ?? [];
    },
  };
}

function strictObject(properties: Record<string, object>): Record<string, unknown> {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}
