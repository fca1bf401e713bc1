import { emit } from '../../../tool/index.ts';
import type { FunctionDefinition } from './api.ts';
import { askUser, type Choice } from './ask-user.ts';
import { editFile, listFiles, readFile, runCommand, writeFile } from './file-tools.ts';
import type { TurnFile } from './turn-file.ts';

type Arguments = Readonly<Record<string, never>>;

/** A function that the model may call. In strict mode each parameter is required. */
interface FunctionTool {
  description: string;
  parameters: Record<string, object>;
  run(args: never): string | Promise<string>;
}

export interface FunctionTools {
  definitions: FunctionDefinition[];
  /** Calls a function with JSON arguments. An error is returned as text, for the model. */
  call(name: string, argumentsText: string): Promise<string>;
  /** Set when the model reports that it is done. */
  readonly isSubmitted: boolean;
  readonly summary: string | undefined;
  readonly filesModified: readonly string[];
}

const TEXT = { type: 'string' };

/** What the model reported with `submit_result`. */
interface Submission {
  submitted?: { summary: string; files: string[] };
}

/** The functions for files and commands that the sandbox allows, and the functions for reporting. */
export function functionTools({ root }: TurnFile): FunctionTools {
  const submission: Submission = {};
  const tools = { ...fileFunctions(root), ...commandFunction(root), ...reportingFunctions(submission) };
  return {
    definitions: definitionsOf(tools),
    call: (name, argumentsText) => callFunction(tools, name, argumentsText),
    get isSubmitted() {
      return submission.submitted !== undefined;
    },
    get summary() {
      return submission.submitted?.summary;
    },
    get filesModified() {
      return submission.submitted?.files ?? [];
    },
  };
}

function fileFunctions(root: string): Record<string, FunctionTool> {
  return {
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
  };
}

function commandFunction(root: string): Record<string, FunctionTool> {
  return {
    run_command: {
      description:
        'Runs a command line in a POSIX shell, in the project. Returns exit code, stdout and stderr.',
      parameters: { command: TEXT, timeout_s: { type: 'integer', minimum: 1, maximum: 600 } },
      run: (args: { command: string; timeout_s: number }) => runCommand(root, args.command, args.timeout_s),
    },
  };
}

function reportingFunctions(submission: Submission): Record<string, FunctionTool> {
  return {
    ask_user: {
      description:
        'Asks the supervisor of the task and waits for the answer. Without options, the answer is free text.',
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
        'Ends the task. Report what was done, and the path of every changed file, relative to the project.',
      parameters: { summary: TEXT, files_modified: { type: 'array', items: TEXT } },
      run(args: { summary: string; files_modified: string[] }) {
        submission.submitted = { summary: args.summary, files: args.files_modified };
        return 'received';
      },
    },
  };
}

function definitionsOf(tools: Readonly<Record<string, FunctionTool>>): FunctionDefinition[] {
  return Object.entries(tools).map(([name, { description, parameters }]) => ({
    type: 'function',
    name,
    description,
    parameters: strictObject(parameters),
    strict: true,
  }));
}

async function callFunction(
  tools: Readonly<Record<string, FunctionTool>>,
  name: string,
  argumentsText: string,
): Promise<string> {
  if (!Object.hasOwn(tools, name)) return `there is no function ${name}`;
  try {
    return await tools[name]!.run(JSON.parse(argumentsText) as Arguments as never);
  } catch (error) {
    return `failed: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function strictObject(properties: Record<string, object>): Record<string, unknown> {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}
