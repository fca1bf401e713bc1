import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { PlannedFile } from '../planned-file.ts';
import { moveImports, sdkSignatures, signaturesIn } from './python-imports.ts';

/** Folders without sources of the tool itself. `_lib` is imported from, and stays as it is. */
const NOT_THEIRS = new Set(['_lib', 'venv', '.venv', 'node_modules', '__pycache__']);

/** A tool that starts other tools cannot run in a sandbox, which contains no project. */
const STARTS_TOOLS = /["'](?:f?["'])?\.\/tool\b/;

/** Plans the changes in a tool's Python sources: imports of the old helper that the SDK can replace. */
export function planPython(root: string, tools: string, folder: string): PlannedFile[] {
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
      why: 'it starts other tools through ./tool, which does not exist in the sandbox',
      by_hand: 'Let a workflow run these tools one after the other, and leave this tool out.',
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
