import type { Document, Pair, Scalar, YAMLMap } from 'yaml';
import { FLAT_SETTINGS } from '../../config/config-version.ts';
import { valueAt } from '../../config/edit-yaml.ts';
import type { KeyPath } from '../../config/yaml-file.ts';

/** Converts a configuration file of one version to the next. */
export interface Migration {
  from: number;
  to: number;
  /** What changes, in one sentence. */
  summary: string;
  /** Changes the document in place and keeps the comments. */
  apply(document: Document, yaml: typeof import('yaml')): void;
  /** The path that a value had in the settings before. */
  pathBefore(path: KeyPath, before: unknown): KeyPath;
}

/** Flat settings of the embedded runner (seed 000), with the section that contains each of them since seed 001. */
const MOVES: Readonly<
  Record<(typeof FLAT_SETTINGS)[number], { section: string; key: string; asList?: boolean }>
> = {
  name: { section: 'project', key: 'name' },
  tools_dir: { section: 'project', key: 'tools_dirs', asList: true },
  runs_dir: { section: 'project', key: 'runs_dir' },
  registry_dir: { section: 'project', key: 'registry_dir' },
  base_env_allowlist: { section: 'environment', key: 'base_allowlist' },
  timeout_s: { section: 'environment', key: 'timeout_s' },
  heartbeat_grace_s: { section: 'environment', key: 'heartbeat_grace_s' },
  max_output_size: { section: 'environment', key: 'max_output_size' },
};

const config0to1: Migration = {
  from: 0,
  to: 1,
  summary: 'The flat settings stand in the sections project and environment.',
  apply(document, yaml) {
    const root = document.contents as YAMLMap<Scalar<string>, unknown>;
    for (const pair of [...root.items]) {
      const name = FLAT_SETTINGS.find((each) => each === pair.key.value);
      const move = name && MOVES[name];
      if (move === undefined) continue;
      const section = sectionOf(document, root, pair, move.section, yaml);
      root.items.splice(root.items.indexOf(pair), 1);
      pair.key.value = move.key;
      if (move.asList && yaml.isScalar(pair.value)) pair.value = listOf(pair.value, yaml);
      // A setting that already exists under its new name wins.
      if (!section.has(move.key)) section.items.push(pair);
    }
  },
  pathBefore(path, before) {
    const [section, key, ...rest] = path;
    const name = FLAT_SETTINGS.find((each) => MOVES[each].section === section && MOVES[each].key === key);
    // What has its new name already is not moved.
    if (name === undefined || valueAt(before, [MOVES[name].section, MOVES[name].key]) !== undefined)
      return path;
    const isWrapped = MOVES[name].asList && !Array.isArray(valueAt(before, [name]));
    return [name, ...(isWrapped ? rest.slice(1) : rest)];
  },
};

/** The section, created where its first setting was. */
function sectionOf(
  document: Document,
  root: YAMLMap<Scalar<string>, unknown>,
  pair: Pair,
  name: string,
  yaml: typeof import('yaml'),
): YAMLMap {
  const there = root.get(name, true);
  if (yaml.isMap(there)) return there;
  const section = new yaml.YAMLMap(document.schema);
  const key = new yaml.Scalar(name);
  const first = pair.key as Scalar;
  if (first.spaceBefore) key.spaceBefore = true;
  first.spaceBefore = false;
  root.items.splice(root.items.indexOf(pair as never), 0, new yaml.Pair(key, section));
  return section;
}

function listOf(value: Scalar, yaml: typeof import('yaml')): YAMLMap | import('yaml').YAMLSeq {
  const list = new yaml.YAMLSeq();
  list.flow = true;
  // A comment after the value stays after the list.
  if (value.comment) list.comment = value.comment;
  const item = new yaml.Scalar(value.value);
  list.items.push(item);
  return list;
}

/** The migrations of `.acor/config.yaml`, oldest first. */
export const MIGRATIONS: readonly Migration[] = [config0to1];
