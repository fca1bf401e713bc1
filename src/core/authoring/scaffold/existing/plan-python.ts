import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { PlannedFile } from '../planned-file.ts';
import { moveImports } from './python-imports.ts';
import { sdkSignatures, signaturesIn } from './python-vocabulary.ts';

/** Folders that hold no sources of the tool's own. `_lib` is what is imported from, and stays as it is. */
const NOT_THEIRS = new Set(['_lib', 'venv', '.venv', 'node_modules', '__pycache__']);

/** A tool that starts others is no tool of a sandbox: there is no project in it. */
const STARTS_TOOLS = /["'](?:f?["'])?\.\/tool\b/;

/** Plans what changes in the Python sources of a tool: its imports of the old helper, where the SDK offers the same. */
export function planPython(root: string, tools: string, folder: string): PlannedFile[] {
  return sourcesIn(folder).flatMap((path): PlannedFile[] => {
    const bytes = readFileSync(path);
    const source = bytes.toString('utf8');
    // Python allows other encodings, which must come out as they went in.
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
  // A helper that was left behind when the tools were copied: its name says which one it was.
  const isLeftBehind = helper === undefined && /\b_lib(?:\.|\s+import\s+)protocol\b/.test(source);
  if (helper === undefined && !isLeftBehind) return [];
  const theirs = helper === undefined ? sdk : signaturesIn(readFileSync(helper, 'utf8'));
  const { text, lines, kept } = moveImports(source, theirs, sdk);
  const why = kept.map((each) => `line ${each.line} stays (${each.text}): ${each.why}`).join('; ');
  if (lines.length > 0) return [{ path, action: 'change', text, lines, ...(why !== '' && { why }) }];
  if (kept.length === 0) return [];
  const by = helper === undefined ? '' : `. It goes on with ${relative(root, helper)}`;
  return [{ path, action: 'keep', why: `${why}${by}` }];
}

/** The module that a file imports; undefined when it is another one of that name, or none. */
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
      why: 'it starts other tools through ./tool, which is not there in the sandbox that ACOR runs it in',
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
