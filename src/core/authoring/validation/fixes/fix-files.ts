import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { isInside } from '../../../../util/real-path.ts';
import { unifiedDiff } from '../../../../util/unified-diff.ts';
import { replaceFile } from '../../../config/replace-file.ts';
import { parseYaml } from '../../../config/yaml-file.ts';
import { ownFile } from '../../../registry/own-files.ts';
import { schemaFolder } from '../modeline.ts';
import type { Subject } from '../subject.ts';
import { applyFixes } from './apply-fixes.ts';
import type { Fix } from './fix.ts';
import { type FileKind, fixesOf, schemaName } from './fixes-for.ts';

/** A fix can reveal a further problem for the next round. More rounds than this never help. */
const MAX_ROUNDS = 8;

/** A file that was fixed, or would be with `dryRun`. */
export interface FixedFile {
  file: string;
  /** The rules of the fixed problems. */
  rules: string[];
  /** Unified; empty when only the file mode changes. */
  diff: string;
}

/**
 * Applies the safe fixes to the files of a project; with `dryRun` it writes nothing. A file outside of the project is
 * only changed when the user named it. The result is parsed again and written only when it has no new problems.
 */
export async function fixFiles(subject: Subject, { dryRun }: { dryRun: boolean }): Promise<FixedFile[]> {
  const fixed = await changeFiles(subject, { dryRun, isWanted: () => true });
  for (const { entry, problems } of subject.tools) {
    if (entry === null || !problems.some(({ rule, file }) => rule === 'language' && file === entry)) continue;
    if (!isScript(entry)) continue;
    fixed.push({ file: entry, rules: ['language'], diff: '' });
    if (!dryRun) chmodSync(entry, (statSync(entry).mode & 0o777) | 0o111);
  }
  return fixed;
}

/** Rewrites deprecated notation in manifests and configuration, without any other fix. */
export function renewFiles(subject: Subject, { dryRun }: { dryRun: boolean }): Promise<FixedFile[]> {
  return changeFiles(subject, { dryRun, isWanted: ({ rule }) => rule === 'deprecated' });
}

async function changeFiles(
  subject: Subject,
  { dryRun, isWanted }: { dryRun: boolean; isWanted: (fix: Fix) => boolean },
): Promise<FixedFile[]> {
  const { root } = subject.config;
  const fixed: FixedFile[] = [];
  for (const { file, kind } of filesOf(subject)) {
    const change = await fixedText(file, kind, subject, isWanted);
    if (change === undefined) continue;
    const { before, after, rules } = change;
    fixed.push({ file, rules, diff: unifiedDiff(relative(root, file), before, after) });
    if (dryRun) continue;
    // Schemas first, so that no modeline names a schema that could not be written.
    if (rules.includes('no-modeline')) putSchema(root, kind);
    replaceFile(file, after);
  }
  return fixed;
}

function filesOf({ configFiles, tools, policyFiles, errorCodeFiles, workflowFiles, config, whole }: Subject) {
  const files: { file: string; kind: FileKind }[] = [
    ...configFiles.map((file) => ({ file, kind: 'config' as const })),
    ...tools
      .flatMap(({ manifestPath }) => manifestPath ?? [])
      .map((file) => ({ file, kind: 'manifest' as const })),
    ...policyFiles.map(({ file }) => ({ file, kind: 'policy' as const })),
    ...errorCodeFiles.map((file) => ({ file, kind: 'error-codes' as const })),
    // Fixes write YAML syntax, so JSON files are excluded.
    ...workflowFiles
      .filter((file) => !file.endsWith('.json'))
      .map((file) => ({ file, kind: 'workflow' as const })),
  ];
  const once = new Map(files.map((each) => [each.file, each]));
  return [...once.values()].filter(({ file }) => existsSync(file) && isOurs(file, config.root, whole));
}

/**
 * In a cloned project, a link must not lead to one of the user's files. A file that the user names explicitly is
 * allowed.
 */
function isOurs(file: string, root: string, whole: boolean): boolean {
  const real = realpathSync(file);
  if (isInside(real, realpathSync(root))) return true;
  return !whole && !isInside(file, root) && real === join(realpathSync(dirname(file)), basename(file));
}

async function fixedText(
  file: string,
  kind: FileKind,
  { env, config }: Subject,
  isWanted: (fix: Fix) => boolean,
): Promise<{ before: string; after: string; rules: string[] } | undefined> {
  const before = textOf(file);
  if (before === undefined) return undefined;
  const options = { env, root: config.root };
  const look = async (text: string) => {
    const yaml = await parseYaml(file, text);
    const { fixes, problems } = fixesOf(kind, yaml, text, options);
    return { fixes: fixes.filter(isWanted), problems, isYaml: yaml.problems.length === 0 };
  };
  let text = before;
  let state = await look(text);
  const rules = new Set<string>();
  for (let round = 0; round < MAX_ROUNDS && state.fixes.length > 0; round++) {
    const next = await applyFixes(text, state.fixes);
    const after = await look(next.text);
    const isWorse = !after.isYaml || (state.problems.length === 0 && after.problems.length > 0);
    if (next.text === text || isWorse) break;
    for (const { rule } of next.applied) rules.add(rule);
    [text, state] = [next.text, after];
  }
  return text === before ? undefined : { before, after: text, rules: [...rules].sort() };
}

/** The text of a file; undefined for a file that the checks report as unreadable. */
function textOf(file: string): string | undefined {
  try {
    // Reading a FIFO would block for ever.
    if (!statSync(file).isFile()) return undefined;
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(file));
  } catch {
    return undefined;
  }
}

/** The schema is inside the project, so the modeline is valid in every checkout. */
function putSchema(root: string, kind: FileKind): void {
  const from = ownFile('schemas', schemaName(kind));
  const to = join(schemaFolder(root), schemaName(kind));
  mkdirSync(dirname(to), { recursive: true });
  replaceFile(from, readFileSync(from, 'utf8'), to);
}

function isScript(file: string): boolean {
  const fd = openSync(file, 'r');
  try {
    const start = Buffer.alloc(2);
    return readSync(fd, start) === 2 && start.toString('latin1') === '#!';
  } finally {
    closeSync(fd);
  }
}
