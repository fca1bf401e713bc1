import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, parse, relative } from 'node:path';
import { AcorError } from '../../../../protocol/acor-error.ts';
import { shellCommand } from '../../../../util/shell-quote.ts';
import { isNoTool } from '../../../registry/tools-folder.ts';
import { type PlannedFile, textAt } from '../planned-file.ts';
import { planPython } from './plan-python.ts';

/** The old shortcut is told by the runner that it starts. */
export const OLD_SHORTCUT = /\brun\.py\b/;

/** What such a runner gives its tools, and what tells it from a tool called run. */
const OLD_RUNNER = /\bRUN_ID\b/;

/**
 * Plans what has to change in a project of seed 000's shape (its `tools/`, registry and `_lib`) for its tools to run under ACOR: no
 * more than that. Manifests and error codes are read where they are. Throws E_USAGE where there is no such project.
 */
export function planMove(root: string): PlannedFile[] {
  const tools = join(root, 'tools');
  const folders = toolFolders(tools);
  if (folders.length === 0) {
    throw new AcorError(
      'E_USAGE',
      `there is nothing to move over: no tools/<name>/cli.py or main.py in ${root}`,
      {
        hint: 'Call it in the folder that holds tools/, or leave --from-existing out.',
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

/** The old runner is called by nobody any more. With the mode bit x it would itself be taken for a tool. */
function planOldRunner(root: string, path: string): PlannedFile[] {
  if (!OLD_RUNNER.test(textAt(path) ?? '')) return [];
  if (statSync(path).mode & 0o111)
    return [
      { path, action: 'move', why: 'ACOR runs the tools now, and would take it for a tool called run' },
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

/** A manifest that lies in the registry by its tool's name, and not in a folder of that name. */
function planFlatManifests(registry: string, tools: readonly string[]): PlannedFile[] {
  if (!existsSync(registry)) return [];
  return readdirSync(registry, { withFileTypes: true }).flatMap((entry): PlannedFile[] => {
    const { name, ext } = parse(entry.name);
    if (!entry.isFile() || !tools.includes(name) || !/^\.(?:ya?ml|json)$/.test(ext)) return [];
    const path = join(registry, entry.name);
    const target = join(registry, name, 'tool.yaml');
    if (existsSync(target))
      return [
        { path, action: 'could_not', why: `${target} is there, too`, by_hand: 'Remove one of the two.' },
      ];
    return [
      // JSON is YAML.
      { path: target, action: 'create', text: readFileSync(path, 'utf8') },
      { path, action: 'move', why: `a manifest of the registry is called ${name}/tool.yaml` },
    ];
  });
}
