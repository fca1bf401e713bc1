import { newSha256 } from '../../util/sha256.ts';
import { findProject, findUserFile } from './find.ts';
import { type LoadedConfig, loadConfig } from './load.ts';
import { linkedFolders } from './project-folders.ts';
import { signatureOf } from './settings-cache.ts';

type Options = Pick<Parameters<typeof loadConfig>[0], 'cwd' | 'env' | 'overrides'>;

/** A digest of what each configuration was read from: it holds no value of a variable, as one may be a secret of another call. */
const sourcesOf = new WeakMap<LoadedConfig, string>();

/**
 * `loadConfig` for a process that serves many calls: returns `last` while it is the same. Mostly a few questions about its files show that
 * nothing has changed that it was made of.
 */
export async function loadConfigAgain(options: Options, last: LoadedConfig): Promise<LoadedConfig> {
  const now = await sourcesNow(options, last);
  if (now !== undefined && now === sourcesOf.get(last)) return last;
  const loaded = await loadConfig(options);
  const config = JSON.stringify(loaded) === JSON.stringify(last) ? last : loaded;
  if (now === undefined) sourcesOf.delete(config);
  else sourcesOf.set(config, now);
  return config;
}

/** Asked before the files are read, so that a change meanwhile is seen by the next call. Undefined where something may change without a sign. */
async function sourcesNow({ cwd, env, overrides }: Options, last: LoadedConfig): Promise<string | undefined> {
  const { root, file } = findProject(cwd);
  const trust = await trustFileOf(last, root, env);
  const files = [file, findUserFile(env), trust].map((path) => [path, path && signatureOf(path)] as const);
  if (trust === undefined || files.some(([, signature]) => signature === undefined)) return undefined;
  if (linkedFolders(last.config, root).length > 0) return undefined;
  // Perl lists the variables of each process in another order.
  const variables = Object.entries(env).sort(byName);
  return newSha256()
    .update(JSON.stringify([root, files, overrides, variables]))
    .digest('hex');
}

function byName([left]: readonly [string, unknown], [right]: readonly [string, unknown]): number {
  return left < right ? -1 : 1;
}

/** The file with a person's trust in the project: null when it has no effect, undefined when the trust depends on other files as well. */
async function trustFileOf(
  { trust: { widenings } }: LoadedConfig,
  root: string,
  env: Options['env'],
): Promise<string | null | undefined> {
  if (widenings.length === 0) return null;
  if (widenings.some(({ files, leads_to }) => files !== undefined || leads_to !== undefined))
    return undefined;
  const { TrustStore } = await import('./trust.ts');
  return new TrustStore(env).fileOf(root);
}
