import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, parse, relative } from 'node:path';
import { AcorError } from '../../../../protocol/acor-error.ts';
import { shellCommand } from '../../../../util/shell-words.ts';
import { isNoTool } from '../../../registry/tools-folder.ts';
import { type PlannedFile, textAt } from '../planned-file.ts';
import { moveImports, sdkSignatures, signaturesIn } from './python-imports.ts';

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

/** Folders without sources of the tool itself. `_lib` is imported from, and stays as it is. */
const NOT_THEIRS = new Set(['_lib', 'venv', '.venv', 'node_modules', '__pycache__']);

/** A tool that starts other tools needs the permission for it. */
const STARTS_TOOLS = /["'](?:f?["'])?\.\/tool\b/;

/** Plans the changes in a tool's Python sources: imports of the old helper that the SDK can replace. */
function planPython(root: string, tools: string, folder: string): PlannedFile[] {
  return sourcesIn(folder).flatMap((path): PlannedFile[] => {
    const bytes = readFileSync(path);
    const source = bytes.toString('utf8');
    // Python allows other encodings, which must be written back unchanged.
    if (!Buffer.from(source).equals(bytes)) return [];
    return [...plannedImports(path, source, root, tools, folder), ...plannedStarts(path, source)];
  });
}

function plannedImports(
  path: string,
  source: string,
  root: string,
  tools: string,
  folder: string,
): PlannedFile[] {
  const sdk = sdkSignatures();
  const helper = helperOf(path, tools, folder);
  // A helper that is not in the copied tools. The module name identifies it.
  const isLeftBehind = helper === undefined && /\b_lib(?:\.|\s+import\s+)protocol\b/.test(source);
  if (helper === undefined && !isLeftBehind) return [];
  const theirs = helper === undefined ? sdk : signaturesIn(readFileSync(helper, 'utf8'));
  const { text, lines, kept } = moveImports(source, theirs, sdk);
  const why = kept.map((each) => `line ${each.line} stays (${each.text}): ${each.why}`).join('; ');
  if (lines.length > 0) return [{ path, action: 'change', text, lines, ...(why !== '' && { why }) }];
  if (kept.length === 0) return [];
  const by = helper === undefined ? '' : `. It keeps using ${relative(root, helper)}`;
  return [{ path, action: 'keep', why: `${why}${by}` }];
}

/** The module that a file imports; undefined when the import resolves to a different module, or to no file. */
function helperOf(path: string, tools: string, folder: string): string | undefined {
  if (['protocol.py', 'protocol'].some((name) => existsSync(join(dirname(path), name)))) return undefined;
  return [folder, tools].map((each) => join(each, '_lib', 'protocol.py')).find((each) => existsSync(each));
}

function plannedStarts(path: string, source: string): PlannedFile[] {
  if (!STARTS_TOOLS.test(source)) return [];
  return [
    {
      path,
      action: 'could_not',
      why: 'it starts other tools through ./tool, which its manifest must allow',
      by_hand: 'Add to its tool.yaml: permissions: { commands: [acor] }. Or let a workflow run these tools.',
    },
  ];
}

function sourcesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return NOT_THEIRS.has(entry.name) ? [] : sourcesIn(path);
      return entry.isFile() && entry.name.endsWith('.py') ? [path] : [];
    });
}
