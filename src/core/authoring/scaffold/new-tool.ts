import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { LoadedConfig } from '../../config/load.ts';
import { toolsDirsOf } from '../../config/paths.ts';
import { findProgram } from '../../registry/find-program.ts';
import { buildCommand, recipeOf } from '../../registry/languages/compiled.ts';
import { planTool } from './plan-tool.ts';
import type { PlannedFile } from './planned-file.ts';
import { newToolsFolder, toolsOf } from './project-tools.ts';
import type { TemplateName } from './templates.ts';
import { writeFiles } from './write-files.ts';

export interface NewToolRequest {
  template: TemplateName;
  name: string;
  /** The absolute folder that will contain the tool's folder. Defaults to the project's tools folder. */
  output?: string;
  env: Readonly<Record<string, string | undefined>>;
  dryRun: boolean;
}

export interface NewToolMade {
  folder: string;
  files: PlannedFile[];
  /** Null when there was nothing to build. */
  build: Built | null;
  /** Whether the project searches this place for tools. */
  isFound: boolean;
}

/**
 * Writes a tool from a template. With `dryRun` it only reports what it would write. Throws E_USAGE, E_STORAGE,
 * E_DISK_FULL.
 */
export async function newTool(config: LoadedConfig, request: NewToolRequest): Promise<NewToolMade> {
  const { template, name, output, env, dryRun } = request;
  const parent = output ?? newToolsFolder(config);
  const folder = join(parent, name);
  const tools = await toolsOf(config);
  const files = planTool({ root: config.root, name, template, folder }, tools);
  if (!dryRun) writeFiles(files, config.root);
  const build = dryRun ? null : await buildTool(template, folder, env);
  return { folder, files, build, isFound: toolsDirsOf(config).includes(parent) };
}

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
