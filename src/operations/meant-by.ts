import { type NextStep, runProgram, runTool } from '../protocol/next-steps.ts';
import { nearest } from '../util/nearest.ts';
import type { AcorApp } from './acor-app.ts';
import { allCommands } from './command-forms.ts';
import { nearCommand } from './near-commands.ts';

/**
 * The step that the words of a command line probably mean, when they are no command of ACOR, or one with a word too many: the call of a tool
 * or a workflow of the project, or a command of another name. Undefined when nothing fits.
 */
export async function meantBy(app: AcorApp, words: readonly string[]): Promise<NextStep | undefined> {
  const [first = '', ...rest] = words;
  const isGroup = allCommands().some((command) => command === first || command.startsWith(`${first} `));
  if (!isGroup && (await hasTool(app, first))) return runTool(first, rest);
  const [workflow = '', ...args] = rest;
  if (first === 'workflow' && (await hasWorkflow(app, workflow)))
    return { operation: 'workflow.run', input: { workflow, args }, why: 'Run the workflow.' };
  return nearCommand(words) ?? (isGroup ? undefined : programOf(app, first, rest));
}

/** A program of this machine, where the word is not nearly a command of ACOR. */
async function programOf(
  { env }: AcorApp,
  name: string,
  args: readonly string[],
): Promise<NextStep | undefined> {
  const firstWords = allCommands().map((command) => command.split(' ', 1)[0]!);
  if (nearest(name, firstWords) !== undefined) return undefined;
  const { findProgram } = await import('../core/registry/find-program.ts');
  return findProgram(name, env) === undefined ? undefined : runProgram(name, args);
}

async function hasTool(app: AcorApp, name: string): Promise<boolean> {
  try {
    const { registry } = await app.project();
    return (await registry.list()).some((tool) => tool.name === name);
  } catch {
    // What cannot be read is reported by the command that needs it.
    return false;
  }
}

async function hasWorkflow(app: AcorApp, name: string): Promise<boolean> {
  try {
    const { workflowFiles, workflowNameOf } = await import('../core/workflow/file/find-workflow.ts');
    const { config } = await app.project();
    return workflowFiles(config).some((file) => workflowNameOf(file) === name);
  } catch {
    return false;
  }
}
