import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findProgram } from '../../registry/find-program.ts';
import { buildCommand, recipeOf } from '../../registry/languages/compiled.ts';

const LIMIT_MS = 300_000;
const SHOWN_CHARACTERS = 2000;

/** The build of a new tool: null when there is nothing to build. */
export interface Built {
  built: boolean;
  /** The exact command, to repeat it later. */
  command: string;
  why?: string;
}

/** Builds a tool that ACOR just wrote from a template, so that it runs at once. The sources come from ACOR itself. */
export async function buildTool(
  language: string,
  folder: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Built | null> {
  const recipe = recipeOf(language);
  if (recipe === undefined) return null;
  const command = buildCommand(recipe, folder);
  const [, ...args] = recipe.build;
  const program = findProgram(recipe.toolchain, env);
  if (program === undefined)
    return { built: false, command, why: `there is no ${recipe.toolchain} on the PATH. ${recipe.install}` };
  try {
    await promisify(execFile)(program, args, { cwd: folder, env, timeout: LIMIT_MS });
    return { built: true, command };
  } catch (error) {
    const { stderr, message } = error as { stderr?: string; message: string };
    return { built: false, command, why: (stderr?.trim() || message).slice(0, SHOWN_CHARACTERS) };
  }
}
