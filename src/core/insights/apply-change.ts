import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { manifestFile } from '../../protocol/manifest.ts';
import { unifiedDiff } from '../../util/unified-diff.ts';
import { editConfig } from '../authoring/configuration/edit-config.ts';
import { planFile } from '../authoring/scaffold/planned-file.ts';
import { writeFiles } from '../authoring/scaffold/write-files.ts';
import { checkFile } from '../config/check-file.ts';
import { editYaml, type YamlEdit } from '../config/edit-yaml.ts';
import type { LoadedConfig } from '../config/load.ts';
import { refuse } from '../config/problem.ts';
import { replaceFile } from '../config/replace-file.ts';
import { parseYaml } from '../config/yaml-file.ts';
import type { ToolEntry } from '../registry/tool-entry.ts';
import type { Change } from './proposal.ts';

/** The planned change of one file. */
export interface FileChange {
  file: string;
  /** Unified. */
  diff: string;
  write(): void;
}

interface Place {
  config: LoadedConfig;
  tools: ReadonlyMap<string, ToolEntry>;
  env: Readonly<Record<string, string | undefined>>;
  /** The folder for new workflows. */
  workflowFolder: string;
}

/** Plans a change without writing it. Throws E_USAGE when the file cannot take it, and E_CONFIG_INVALID for an invalid file. */
export async function planChange(
  change: Exclude<Change, { kind: 'adopt' }>,
  place: Place,
): Promise<FileChange> {
  switch (change.kind) {
    case 'manifest':
      return changeManifest({ tool: change.tool, path: change.path, value: change.value }, place);
    case 'inputs':
      return changeManifest({ tool: change.tool, path: ['inputs'], without: change.without }, place);
    case 'budget':
      return editProject({ path: ['budget', change.key], value: change.value }, place);
    case 'answer':
      return editProject({ path: ['answers'], add: change.rule }, place);
    case 'workflow':
      return newWorkflow(change, place);
  }
}

async function changeManifest(
  { tool, ...edit }: { tool: string } & YamlEdit,
  { config, tools }: Place,
): Promise<FileChange> {
  const entry = tools.get(tool);
  const file = entry?.manifestPath ?? null;
  if (entry === undefined || file === null || entry.hasHeader === true) {
    throw new AcorError('E_USAGE', `${tool} has no tool.yaml that could be changed`, {
      hint: `Change ${edit.path.join('.')} where the tool declares itself: ${JSON.stringify(edit.value ?? edit.without)}`,
    });
  }
  const before = readFileSync(file, 'utf8');
  const after = await editYaml(before, edit);
  refuse(checkFile(manifestFile, await parseYaml(file, after)).problems);
  return {
    file,
    diff: unifiedDiff(relative(config.root, file), before, after),
    write: () => replaceFile(file, after),
  };
}

/** Changes the configuration of the project. */
async function editProject(edit: YamlEdit, { config, env }: Place): Promise<FileChange> {
  const file = config.file ?? join(config.root, '.acor', 'config.yaml');
  const { diff, write } = await editConfig(file, edit, { env, inside: config.root });
  return { file, diff, write };
}

function newWorkflow(
  { name, text }: Extract<Change, { kind: 'workflow' }>,
  { config, workflowFolder }: Place,
): FileChange {
  const file = join(workflowFolder, `${name}.yaml`);
  if (existsSync(file)) {
    throw new AcorError('E_USAGE', `${file} already exists`, { hint: 'Move it away, then run it again.' });
  }
  return {
    file,
    diff: unifiedDiff(relative(config.root, file), '', text),
    write: () => writeFiles([planFile(file, text)], config.root, { trust: config.trust }),
  };
}
