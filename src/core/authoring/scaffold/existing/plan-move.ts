import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, parse, relative } from 'node:path';
import { AcorError } from '../../../../protocol/acor-error.ts';
import { shellCommand } from '../../../../util/shell-words.ts';
import { isNoTool } from '../../../registry/tools-folder.ts';
import { type PlannedFile, textAt } from '../planned-file.ts';
import { planPython } from './plan-python.ts';

/** The old shortcut mentions the runner that it starts. */
export const OLD_SHORTCUT = /\brun\.py\b/;

/** The old runner sets this variable; a tool with the name `run` does not. */
const OLD_RUNNER = /\bRUN_ID\b/;

/**
 * Plans the changes that the tools of a seed 000 project (`tools/`, registry and `_lib`) need to run under ACOR, and no
 * others. Manifests and error codes are read where they are. Throws E_USAGE when there is no such project.
 */
export function planMove(root: string): PlannedFile[] {
  const tools = join(root, 'tools');
  const folders = toolFolders(tools);
  if (folders.length === 0) {
    throw new AcorError(
      'E_USAGE',
      `there is nothing to migrate: no tools/<name>/cli.py or main.py in ${root}`,
      {
        hint: 'Run it in the folder that contains tools/, or omit --from-existing.',
        next: [
          { operation: 'project.init', input: { dry_run: true }, why: 'See what a new project would get.' },
        ],
      },
    );
  }
  return [
    ...planOldRunner(root, join(tools, 'run.py')),
    ...planFlatManifests(join(tools, 'registry'), folders),
    ...folders.flatMap((folder) => planPython(root, tools, join(tools, folder))),
  ];
}

function toolFolders(tools: string): string[] {
  if (!existsSync(tools)) return [];
  return readdirSync(tools, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !isNoTool(entry.name))
    .map(({ name }) => name)
    .filter((name) => readdirSync(join(tools, name)).some((each) => /^(?:cli|main)\./.test(each)))
    .sort();
}

/** Nothing calls the old runner any more. With the mode bit x it would itself count as a tool. */
function planOldRunner(root: string, path: string): PlannedFile[] {
  if (!OLD_RUNNER.test(textAt(path) ?? '')) return [];
  if (statSync(path).mode & 0o111)
    return [
      { path, action: 'move', why: 'ACOR runs the tools now, and would treat this file as a tool named run' },
    ];
  const command = shellCommand(['rm', relative(root, path)]);
  return [
    {
      path,
      action: 'keep',
      why: 'ACOR runs the tools now',
      by_hand: `Once nothing else calls it: ${command}`,
    },
  ];
}

/** A manifest in the registry folder, named after its tool. */
function planFlatManifests(registry: string, tools: readonly string[]): PlannedFile[] {
  if (!existsSync(registry)) return [];
  return readdirSync(registry, { withFileTypes: true }).flatMap((entry): PlannedFile[] => {
    const { name, ext } = parse(entry.name);
    if (!entry.isFile() || !tools.includes(name) || !/^\.(?:ya?ml|json)$/.test(ext)) return [];
    const path = join(registry, entry.name);
    const target = join(registry, name, 'tool.yaml');
    if (existsSync(target))
      return [{ path, action: 'could_not', why: `${target} also exists`, by_hand: 'Remove one of the two.' }];
    return [
      // JSON is valid YAML.
      { path: target, action: 'create', text: readFileSync(path, 'utf8') },
      { path, action: 'move', why: `the registry expects the manifest at ${name}/tool.yaml` },
    ];
  });
}
