import { join, resolve } from 'node:path';
import { kebab } from '../compose/parameters.ts';
import { valuesOfFlag } from '../core/registry/parse-arguments.ts';
import { AcorError } from '../protocol/acor-error.ts';
import { execProgram } from '../protocol/names.ts';
import { isInside, realPathOf } from '../util/real-path.ts';
import { splitCommand } from '../util/shell-words.ts';
import type { AcorApp } from './acor-app.ts';

/** Inputs that may name a file or folder which ACOR itself reads or writes, outside of any sandbox. A test compares them with the registry. */
export const PATHS: Readonly<Record<string, readonly string[]>> = {
  'agents.plugin': ['output'],
  'compose.audit': ['target', 'baseline'],
  'compose.codemod': ['source', 'output'],
  'compose.migrate': ['program', 'primitives', 'output'],
  'compose.plan': ['program', 'primitives', 'output'],
  'project.template': ['output'],
  'project.validate': ['targets', 'junit'],
  'run.answer': ['file'],
  'run.exec': ['answers'],
  'run.resume': ['answers'],
  'run.retry': ['answers'],
  'run.start': ['answers'],
  'secret.set': ['file'],
  'task.run': ['plan'],
  'tool.adopt': ['program', 'output'],
  'tool.learn': ['output'],
  'workflow.graph': ['workflow'],
  'workflow.pipe': ['answers'],
  'workflow.resume': ['answers'],
  'workflow.run': ['workflow', 'answers'],
  'workflow.template': ['output'],
  'workflow.validate': ['workflows'],
};

/** Inputs with the words of a tool or workflow, some of which ACOR reads: `--input-json @FILE` and `--answers FILE`. */
const WORDS: readonly string[] = ['args', 'stages'];

/**
 * Throws E_PERMISSION when a client of a server (MCP, HTTP) names a file outside of the project, or below `.acor` or the store. The
 * server would read or write it with its own rights, show it to the client or to a tool, or run it with the permissions in its header. What a
 * program reads that a call starts is not concerned: policy and grants decide that.
 */
export async function refuseClientFiles(
  operation: string,
  input: Readonly<Record<string, unknown>>,
  app: AcorApp,
): Promise<void> {
  for (const [key, value] of Object.entries(input)) {
    const named = pathsOf(operation, key, value);
    if (named.length === 0) continue;
    const { config, store } = await app.project();
    const root = real(config.root, app.cwd)!;
    const closed = [join(root, '.acor'), real(store.root, app.cwd) ?? store.root];
    const isClosed = (place: string) => closed.some((each) => isInside(place, each));
    const isOpen = (path: string) => {
      const place = real(path, app.cwd);
      return place !== undefined && isInside(place, root) && !isClosed(place);
    };
    for (const path of named) {
      // As the kernel reads it, and as the code that removes `..` before: behind a link they differ.
      if (isOpen(path) && isOpen(resolve(app.cwd, path))) continue;
      throw new AcorError(
        'E_PERMISSION',
        `${key}: '${path}' is not a file that a client of a server may name`,
        {
          hint: `Name something in the project (not below .acor, nor .runs)${instead(key)}. At a terminal of that machine every file can be named.`,
          details: { operation, field: key },
        },
      );
    }
  }
}

/** A path of another input has no other form. */
function instead(key: string): string {
  if (key === 'program') return ', or a program of the PATH, by its name alone';
  return WORDS.includes(key) || key === 'answers' ? ', or give the content itself' : '';
}

function pathsOf(operation: string, key: string, value: unknown): string[] {
  const texts = [value].flat().filter((each) => typeof each === 'string');
  if (operation === 'run.exec' && key === 'program') return texts.filter(isPath);
  if (key === 'tool') return texts.map((text) => execProgram(text) ?? text).filter(isPath);
  if (PATHS[operation]?.includes(key)) return texts;
  // The arguments of `exec` are for the program alone.
  if (!WORDS.includes(key) || operation === 'run.exec') return [];
  const stages = key === 'stages' ? texts.map((text) => splitCommand(text) ?? []) : [];
  const words = key === 'stages' ? stages.flat() : texts;
  const inputs = valuesOfFlag('--input-json', words).filter((each) => each.startsWith('@'));
  return [
    ...stages.flatMap(([tool = '']) => (isPath(tool) ? [tool] : [])),
    ...inputs.map((each) => each.slice(1)),
    ...valuesOfFlag('--answers', words.map(asFlag)),
  ];
}

/** A file that is run by its path brings its own permissions, in its header. */
function isPath(tool: string): boolean {
  return tool.includes('/');
}

/** ACOR reads its own flags in any case and with underscores. */
function asFlag(word: string): string {
  const [flag = ''] = word.split('=', 1);
  return flag.startsWith('--') ? `--${kebab(flag.slice(2))}${word.slice(flag.length)}` : word;
}

/** Undefined for a path that the system cannot resolve: a cycle of links, no right to look. */
function real(path: string, cwd: string): string | undefined {
  try {
    return realPathOf(path, cwd).path;
  } catch {
    return undefined;
  }
}
