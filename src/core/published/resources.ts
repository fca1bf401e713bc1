import { realpathSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Config } from '../../protocol/config-file.ts';
import { LinearPattern } from '../../protocol/linear-pattern.ts';
import { escapePattern } from '../../util/escape-pattern.ts';
import { FilePattern } from '../../util/file-pattern.ts';
import { mediaTypeOf } from '../../util/media-type.ts';
import { OpenFolder } from '../../util/open-folder.ts';
import { isInside } from '../../util/real-path.ts';
import { walkTree } from '../../util/walk-tree.ts';
import { type LoadedConfig, runsDirOf } from '../config/load.ts';
import { type FileContent, readFileContent } from './read-file.ts';

type ResourceRule = Config['resources'][number];

/** A file that the project publishes. */
export interface PublishedFile {
  uri: string;
  /** Its path relative to the project. */
  path: string;
  description: string | undefined;
  mimeType: string;
}

/** A resource that a tool makes, for each value of the variables in its address. */
export interface ToolResource {
  uriTemplate: string;
  tool: string;
  name: string;
  description: string | undefined;
  mimeType: string | undefined;
  variables: string[];
}

/** What an address leads to. */
export type FoundResource =
  | { kind: 'file'; content: FileContent }
  | { kind: 'tool'; resource: ToolResource; inputs: Record<string, string> };

const MAX_LISTED = 1000;
const MAX_WALKED = 50_000;
const MAX_BYTES = 8_388_608;
const OWN_ADDRESS = 'acor://files/{path}';
const VARIABLE = /\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** The published files, each once, by address; at most `MAX_LISTED`. */
export function publishedFiles(config: LoadedConfig): PublishedFile[] {
  const rules = config.config.resources.flatMap((rule) =>
    rule.files === undefined ? [] : [{ ...rule, match: FilePattern.ofPaths(rule.files) }],
  );
  if (rules.length === 0) return [];
  const found = new Map<string, PublishedFile>();
  for (const path of filesOf(config)) {
    for (const rule of rules) {
      if (!rule.match.test(path)) continue;
      const uri = addressOf(rule, path);
      const mimeType = rule.mime_type ?? mediaTypeOf(path);
      if (!found.has(uri)) found.set(uri, { uri, path, description: rule.description, mimeType });
    }
    if (found.size >= MAX_LISTED) break;
  }
  return [...found.values()].sort((a, b) => (a.uri < b.uri ? -1 : 1));
}

/** The resources that tools make. */
export function toolResources({ config }: Pick<LoadedConfig, 'config'>): ToolResource[] {
  return config.resources.flatMap(({ uri, tool, name, description, mime_type: mimeType }) =>
    tool === undefined || uri === undefined
      ? []
      : [{ uriTemplate: uri, tool, name: name ?? tool, description, mimeType, variables: variablesOf(uri) }],
  );
}

/** Finds what an address leads to; undefined for an unknown one. Throws E_INPUT_NOT_FOUND and E_USAGE for a file that cannot be read. */
export function findResource(config: LoadedConfig, uri: string): FoundResource | undefined {
  for (const rule of config.config.resources) {
    if (rule.files === undefined) continue;
    const path = pathIn(rule, uri);
    if (path === undefined || !FilePattern.ofPaths(rule.files).test(path) || !mayBePublished(config, path))
      continue;
    const options = { maxBytes: MAX_BYTES, mimeType: rule.mime_type };
    return { kind: 'file', content: readFileContent(join(realpathSync(config.root), path), options) };
  }
  for (const resource of toolResources(config)) {
    const inputs = inputsIn(resource.uriTemplate, uri);
    if (inputs !== undefined) return { kind: 'tool', resource, inputs };
  }
  return undefined;
}

/** The names of the variables of an address. */
export function variablesOf(uri: string): string[] {
  return [...uri.matchAll(VARIABLE)].map(([, name]) => name!);
}

function addressOf({ uri = OWN_ADDRESS }: ResourceRule, path: string): string {
  return uri.replace('{path}', path.split('/').map(encodeURIComponent).join('/'));
}

/** The path of a file in an address of a rule. */
function pathIn({ uri = OWN_ADDRESS, files }: ResourceRule, given: string): string | undefined {
  if (!uri.includes('{path}')) return given === uri ? files : undefined;
  return inputsIn(uri, given, '.+')?.['path'];
}

/** The values of the variables in an address; undefined when it does not fit. */
function inputsIn(template: string, uri: string, value = '[^/?#]+'): Record<string, string> | undefined {
  const names = variablesOf(template);
  const source = template
    .split(VARIABLE)
    .map((part, index) => (index % 2 === 1 ? `(?<v${index >> 1}>${value})` : escapePattern(part)))
    .join('');
  const found = new LinearPattern(`^${source}$`, { isInFull: true }).search(uri);
  if (found === undefined) return undefined;
  try {
    return Object.fromEntries(names.map((name, index) => [name, decodeURIComponent(found[`v${index}`]!)]));
  } catch {
    return undefined;
  }
}

/** Hidden files, files of runs and paths that leave the project are never published. */
function mayBePublished(config: LoadedConfig, path: string): boolean {
  const isPlain = path
    .split('/')
    .every((part) => part !== '' && !part.startsWith('.') && !part.includes('\0'));
  return isPlain && !isInside(join(config.root, path), runsDirOf(config));
}

function* filesOf(config: LoadedConfig): Generator<string> {
  const root = realpathSync(config.root);
  using folder = OpenFolder.real(root);
  let walked = 0;
  const isShown = (path: string) => {
    const below = relative(root, path);
    return below === '' || (mayBePublished(config, below) && !/(?:^|\/)node_modules$/.test(below));
  };
  const steps = walkTree(folder, { enters: ({ path }) => isShown(path), onError: () => {} });
  for (const { kind, path, ...step } of steps) {
    if (++walked > MAX_WALKED) return;
    if (kind === 'entry' && 'stats' in step && step.stats.isFile() && isShown(path))
      yield relative(root, path);
  }
}
