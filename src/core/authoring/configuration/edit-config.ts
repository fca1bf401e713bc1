import { existsSync, mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Document } from 'yaml';
import { AcorError } from '../../../protocol/acor-error.ts';
import { configFile } from '../../../protocol/config-file.ts';
import { writeAtomic } from '../../../util/atomic-write.ts';
import { isInside } from '../../../util/real-path.ts';
import { unifiedDiff } from '../../../util/unified-diff.ts';
import { checkFile } from '../../config/check-file.ts';
import { CONFIG_VERSION } from '../../config/config-version.ts';
import { type Problem, refuse, withoutNext } from '../../config/problem.ts';
import { replaceFile } from '../../config/replace-file.ts';
import { expandVariables } from '../../config/variables.ts';
import { parseYaml, readYamlFile, type YamlFile } from '../../config/yaml-file.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** A change of one key; without `value` the key is removed. */
export interface ConfigEdit {
  path: readonly string[];
  value?: unknown;
}

/** A changed configuration file. */
export interface EditedConfig {
  /** The value in the file before and after; undefined when the file has none. */
  before: unknown;
  after: unknown;
  /** Unified; empty when nothing changes. */
  diff: string;
  /** Writes the file. */
  write(): void;
}

/**
 * Plans the change of one key of a configuration file; comments and order stay. `inside`: the folder that the file may not leave by a link.
 * Throws E_CONFIG_INVALID for a file that is invalid already, and E_USAGE for a key or a value that the file cannot have.
 */
export async function editConfig(
  file: string,
  edit: ConfigEdit,
  { env, inside }: { env: Env; inside: string | null },
): Promise<EditedConfig> {
  const exists = existsSync(file);
  if (exists && inside !== null && !isInside(realpathSync(file), realpathSync(inside))) throw leadsOut(file);
  const read = exists ? await readYamlFile(file) : undefined;
  refuse(read?.problems ?? []);
  if (edit.value === undefined) await refuseUnknown(file, edit.path);
  const text = exists ? readFileSync(file, 'utf8') : `version: ${CONFIG_VERSION}\n`;
  const changed = await changedText(text, edit);
  const yaml = await parseYaml(file, changed);
  refuseNew(
    edit,
    [...yaml.problems, ...problemsOf(yaml, env)],
    read === undefined ? [] : problemsOf(read, env),
  );
  return {
    before: valueAt(read?.value, edit.path),
    after: edit.value,
    diff: unifiedDiff(file, exists ? text : '', changed),
    write() {
      if (changed === text && exists) return;
      if (exists) {
        replaceFile(file, changed);
        return;
      }
      mkdirSync(dirname(file), { recursive: true });
      writeAtomic(file, changed, { durable: true, mode: 0o644 });
    },
  };
}

/** The value that a path of keys leads to in parsed data; undefined when a key is missing. */
export function valueAt(tree: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (holder, key) =>
      typeof holder === 'object' && holder !== null && Object.hasOwn(holder, key)
        ? (holder as Record<string, unknown>)[key]
        : undefined,
    tree,
  );
}

async function changedText(text: string, { path, value }: ConfigEdit): Promise<string> {
  const yaml = await import('yaml');
  const parse = (): Document => yaml.parseDocument(text, { stringKeys: true });
  const document = parse();
  if (value === undefined) remove(document, path, yaml);
  else {
    // A file of comments alone has no map yet, nor has a key without a value.
    if (!yaml.isMap(document.contents)) document.contents = document.createNode({});
    for (let length = 1; length < path.length; length++) {
      const above = path.slice(0, length);
      if (!yaml.isMap(document.getIn(above))) document.setIn(above, document.createNode({}));
    }
    document.setIn(path, nodeLike(document.getIn(path, true), value, document, yaml));
  }
  return document.toString(notationOf(text, parse()));
}

/** A new value with the notation and the comment of the one that it replaces. A scalar replaces a scalar in place. */
function nodeLike(old: unknown, value: unknown, document: Document, yaml: typeof import('yaml')): unknown {
  if (typeof value !== 'object') return value;
  const node = document.createNode(value);
  if (yaml.isNode(old) && old.comment) node.comment = old.comment;
  if (yaml.isCollection(old) && yaml.isCollection(node) && old.flow) node.flow = true;
  return node;
}

/** Removes a key, and the maps around it that it leaves empty. */
function remove(document: Document, path: readonly string[], yaml: typeof import('yaml')): void {
  if (!document.hasIn(path)) return;
  document.deleteIn(path);
  for (let length = path.length - 1; length > 0; length--) {
    const holder = document.getIn(path.slice(0, length));
    if (!yaml.isMap(holder) || holder.items.length > 0) return;
    document.deleteIn(path.slice(0, length));
  }
}

/** The way in which the file writes its collections: the one that reproduces it, as far as there is one. */
function notationOf(text: string, document: Document) {
  const all = [true, false].flatMap((flowCollectionPadding) =>
    [true, false].map((indentSeq) => ({ flowCollectionPadding, indentSeq })),
  );
  const lines = new Set(text.split('\n'));
  const added = all.map(
    (options) =>
      document
        .toString({ lineWidth: 0, ...options })
        .split('\n')
        .filter((line) => !lines.has(line)).length,
  );
  const best = all[added.indexOf(Math.min(...added))]!;
  const indent = /^( +)\S/m.exec(text)?.[1]?.length ?? 2;
  return {
    lineWidth: 0,
    indentSeq: best.indentSeq,
    flowCollectionPadding: best.flowCollectionPadding,
    indent,
  };
}

/** The problems that validation finds in a file. An environment variable that is not set here is not reported. */
function problemsOf(yaml: YamlFile, env: Env): Problem[] {
  if (yaml.problems.length > 0) return [];
  const { value, problems: unset } = expandVariables(yaml, env);
  const lines = new Set(unset.map(({ line }) => line));
  return checkFile(configFile, yaml, value).problems.filter(({ line }) => !lines.has(line));
}

function refuseNew({ path }: ConfigEdit, problems: readonly Problem[], before: readonly Problem[]): void {
  const known = new Set(before.map(({ rule, message }) => `${rule} ${message}`));
  const [first] = problems.filter(({ rule, message }) => !known.has(`${rule} ${message}`));
  if (first === undefined) {
    refuse(problems);
    return;
  }
  throw new AcorError('E_USAGE', `${path.join('.')} was not changed: ${first.message}`, {
    hint: first.fix,
    details: { problems: problems.map(withoutNext) },
  });
}

/** A key that is removed need not be in the file, but it must be one that the file can have. */
async function refuseUnknown(file: string, path: readonly string[]): Promise<void> {
  const tree = path.reduceRight<unknown>((below, key) => ({ [key]: below }), null);
  const { problems } = checkFile(configFile, await parseYaml(file, JSON.stringify(tree)));
  const unknown = problems.find(({ rule }) => rule === 'unknown-key');
  if (unknown !== undefined) throw new AcorError('E_USAGE', unknown.message, { hint: unknown.fix });
}

function leadsOut(file: string): AcorError {
  return new AcorError('E_PERMISSION', `${file} is a link to ${realpathSync(file)}, outside of the project`, {
    hint: 'Replace the link by a file, or change the file that it leads to.',
  });
}
