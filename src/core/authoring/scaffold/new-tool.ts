import { join } from 'node:path';
import type { LoadedConfig } from '../../config/load.ts';
import { toolsDirsOf } from '../../config/paths.ts';
import { type Built, buildTool } from './build-tool.ts';
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
