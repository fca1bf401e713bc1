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
import { unifiedDiff } from '../../../../util/unified-diff.ts';
import { replaceFile } from '../../../config/replace-file.ts';
import { parseYaml } from '../../../config/yaml-file.ts';
import { isInside } from '../../../registry/real-path.ts';
import { sdkPaths } from '../../../registry/sdk-paths.ts';
import { schemaFolder } from '../modeline.ts';
import type { Subject } from '../subject.ts';
import { applyMends } from './apply-fixes.ts';
import type { Fix } from './fix.ts';
import { type FileKind, mendsOf, schemaName } from './fixes-for.ts';

/** A mend may bring another mistake to light, which the next round mends; more rounds than this never help. */
const MAX_ROUNDS = 8;

/** A file that was mended, or would be. */
export interface Mended {
  file: string;
  /** The rules that it broke. */
  rules: string[];
  /** Unified; empty where only the mode changes. */
  diff: string;
}

/**
 * Mends what is safe in the files of a project; with `dryRun` nothing is written. Files outside of the project are left alone,
 * unless they were named. What comes out is read again, and is only written when it is better than what was there.
 */
export async function mendFiles(subject: Subject, { dryRun }: { dryRun: boolean }): Promise<Mended[]> {
  const fixed = await changeFiles(subject, { dryRun, isWanted: () => true });
  for (const { entry, problems } of subject.tools) {
    if (entry === null || !problems.some(({ rule, file }) => rule === 'language' && file === entry)) continue;
    if (!isScript(entry)) continue;
    fixed.push({ file: entry, rules: ['language'], diff: '' });
    if (!dryRun) chmodSync(entry, (statSync(entry).mode & 0o777) | 0o111);
  }
  return fixed;
}

/** Writes anew what is written the old way, in manifests and configuration, and mends nothing else. */
export function renewFiles(subject: Subject, { dryRun }: { dryRun: boolean }): Promise<Mended[]> {
  return changeFiles(subject, { dryRun, isWanted: ({ rule }) => rule === 'deprecated' });
}

async function changeFiles(
  subject: Subject,
  { dryRun, isWanted }: { dryRun: boolean; isWanted: (fix: Fix) => boolean },
): Promise<Mended[]> {
  const { root } = subject.config;
  const fixed: Mended[] = [];
  for (const { file, kind } of filesOf(subject)) {
    const change = await mendedText(file, kind, subject, isWanted);
    if (change === undefined) continue;
    const { before, after, rules } = change;
    fixed.push({ file, rules, diff: unifiedDiff(relative(root, file), before, after) });
    if (dryRun) continue;
    // First, so that no line leads to a schema that could not be written.
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
    // What is mended is written as YAML has it.
    ...workflowFiles
      .filter((file) => !file.endsWith('.json'))
      .map((file) => ({ file, kind: 'workflow' as const })),
  ];
  const once = new Map(files.map((each) => [each.file, each]));
  return [...once.values()].filter(({ file }) => existsSync(file) && isOurs(file, config.root, whole));
}

/** A link in a project that somebody else made must not lead to a file of the user's; a file that is named is meant itself. */
function isOurs(file: string, root: string, whole: boolean): boolean {
  const real = realpathSync(file);
  if (isInside(real, realpathSync(root))) return true;
  return !whole && !isInside(file, root) && real === join(realpathSync(dirname(file)), basename(file));
}

async function mendedText(
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
    const { mends, problems } = mendsOf(kind, yaml, text, options);
    return { mends: mends.filter(isWanted), problems, isYaml: yaml.problems.length === 0 };
  };
  let text = before;
  let state = await look(text);
  const rules = new Set<string>();
  for (let round = 0; round < MAX_ROUNDS && state.mends.length > 0; round++) {
    const next = await applyMends(text, state.mends);
    const after = await look(next.text);
    const isWorse = !after.isYaml || (state.problems.length === 0 && after.problems.length > 0);
    if (next.text === text || isWorse) break;
    for (const { rule } of next.applied) rules.add(rule);
    [text, state] = [next.text, after];
  }
  return text === before ? undefined : { before, after: text, rules: [...rules].sort() };
}

/** The text of a file that can be read; undefined for what the checks tell of. */
function textOf(file: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(file));
  } catch {
    return undefined;
  }
}

/** The schema lies in the project, so that the line is true wherever the project is checked out. */
function putSchema(root: string, kind: FileKind): void {
  const from = join(sdkPaths().packageRoot, 'schemas', schemaName(kind));
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
