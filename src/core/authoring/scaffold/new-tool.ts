import { execFile } from 'node:child_process';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { AcorError } from '../../../protocol/acor-error.ts';
import { TOOL_NAME, TOOL_NAME_RULE } from '../../../protocol/names.ts';
import { createTool } from '../../../protocol/next-steps.ts';
import { type LoadedConfig, toolsDirsOf } from '../../config/load.ts';
import { findProgram } from '../../registry/find-program.ts';
import { buildCommand, recipeOf } from '../../registry/languages/compiled.ts';
import type { ToolEntry } from '../../registry/tool-entry.ts';
import { isNoTool } from '../../registry/tools-folder.ts';
import { type PlannedFile, textAt } from './planned-file.ts';
import { newToolsFolder, toolsOf } from './project-tools.ts';
import { hasSchema, planSchema, schemaReference } from './schema-files.ts';
import { type TemplateName, templateFiles } from './templates.ts';
import { writeFiles } from './write-files.ts';

interface NewToolRequest extends BuildContext {
  template: TemplateName;
  name: string;
  /** The absolute folder that will contain the tool's folder. Defaults to the project's tools folder. */
  output?: string;
  dryRun: boolean;
}

interface NewToolMade {
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
  const { template, name, output, dryRun } = request;
  const parent = output ?? newToolsFolder(config);
  const folder = join(parent, name);
  const tools = await toolsOf(config);
  const files = planTool({ root: config.root, name, template, folder }, tools);
  writeFiles(files, config.root, { trust: config.trust, dryRun });
  const build = dryRun ? null : await buildTool(template, folder, request);
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

/** The environment of the caller, and what is called with the command before a build, which takes seconds. */
export interface BuildContext {
  env: Readonly<Record<string, string | undefined>>;
  onBuild?: ((command: string) => void) | undefined;
}

/** Builds a tool that ACOR just wrote from a template, so that it runs at once. The sources come from ACOR itself. */
export async function buildTool(
  language: string,
  folder: string,
  { env, onBuild }: BuildContext,
): Promise<Built | null> {
  const recipe = recipeOf(language);
  if (recipe === undefined) return null;
  const command = buildCommand(recipe, folder);
  const [, ...args] = recipe.build;
  const program = findProgram(recipe.toolchain, env);
  if (program === undefined)
    return { built: false, command, why: `there is no ${recipe.toolchain} on the PATH. ${recipe.install}` };
  onBuild?.(command);
  try {
    await promisify(execFile)(program, args, { cwd: folder, env, timeout: LIMIT_MS });
    return { built: true, command };
  } catch (error) {
    const { stderr, message } = error as { stderr?: string; message: string };
    return { built: false, command, why: (stderr?.trim() || message).slice(0, SHOWN_CHARACTERS) };
  }
}

interface NewTool {
  /** The project's folder. */
  root: string;
  name: string;
  template: TemplateName;
  /** The tool's own folder, absolute. */
  folder: string;
}

/**
 * Plans a new tool, and the schema that its manifest names. Throws E_USAGE for an invalid name, or when one of the
 * files exists.
 */
function planTool(tool: NewTool, tools: readonly ToolEntry[]): PlannedFile[] {
  checkName(tool);
  const rival = tools.find(({ name }) => name === tool.name);
  const planned = toolFiles(tool);
  const taken = planned.find(({ action }) => action !== 'create');
  // A folder without files of the tool is filled; a plain file of its name is an error.
  const inTheWay = typeof textAt(tool.folder) === 'string' ? tool.folder : undefined;
  const there = rival?.entry ?? rival?.manifestPath ?? taken?.path ?? inTheWay;
  if (there !== undefined) {
    throw new AcorError('E_USAGE', `the tool '${tool.name}' already exists: ${there}`, {
      hint: 'Choose another name.',
      details: { file: there },
      next: [createTool(tool.template, `${tool.name}_2`)],
    });
  }
  return [...planned, ...missingSchema(tool)];
}

/** Compares the planned files of a tool with the existing ones. A file that differs belongs to the author and stays. */
export function toolFiles({ root, name, template, folder }: NewTool): PlannedFile[] {
  const words = {
    TOOL_NAME: name,
    TOOL_FOLDER: relative(root, folder) || '.',
    MANIFEST_SCHEMA: schemaReference(root, folder, 'manifest'),
  };
  return templateFiles(template, words).map(({ path, text, mode }) => {
    const target = join(folder, path);
    const found = textAt(target);
    if (found === undefined) return { path: target, action: 'create', text, mode };
    if (found === text) return { path: target, action: 'unchanged' };
    return { path: target, action: 'keep', why: 'it was edited' };
  });
}

function missingSchema({ root, folder }: NewTool): PlannedFile[] {
  const isNamed = schemaReference(root, folder, 'manifest') !== null;
  return isNamed && !hasSchema(root, 'manifest') ? [planSchema(root, 'manifest')] : [];
}

function checkName({ name, template }: NewTool): void {
  const why = !TOOL_NAME.test(name)
    ? TOOL_NAME_RULE
    : isNoTool(name)
      ? 'is reserved in a tools folder'
      : undefined;
  if (why === undefined) return;
  throw new AcorError('E_USAGE', `the name '${name}' ${why}`, {
    hint: 'Choose a different name, such as: my_tool',
    next: [createTool(template, 'my_tool')],
  });
}
