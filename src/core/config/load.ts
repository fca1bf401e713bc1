import { basename, join } from 'node:path';
import { configDefaults } from '../../protocol/config-defaults.ts';
import type { Config } from '../../protocol/config-file.ts';
import { agentOf } from '../../util/audience.ts';
import { findProject, findUserFile } from './find.ts';
import { applySetting, leavesOf, settingsOfEnvironment, settingsOfFile, settingsOfFlags } from './layers.ts';
import { absoluteFolder, linkedFolders } from './project-folders.ts';
import type { Setting } from './settings-cache.ts';
import type { Widening } from './widening.ts';

type ConfigSource = 'flag' | 'environment' | 'project' | 'user' | 'default';

/** The origin of a value: the source, and file:line:column or the variable. */
interface Origin {
  source: ConfigSource;
  where?: string;
}

/** The effective configuration, and the origin of each value. */
export interface LoadedConfig {
  config: Config;
  /** The folder that contains `.acor`, else the working directory; absolute. */
  root: string;
  /** The project's file, or null when there is none. */
  file: string | null;
  /** By dotted key. */
  readonly origins: Record<string, Origin>;
  /** Deprecated keys in the files, described in words. */
  warnings: string[];
  /** What the project's file and its links widen, and whether a person trusts that (contract §9). Without trust it has no effect. */
  trust: { isTrusted: boolean; widenings: Widening[] };
}

/** The keys by which a project can widen security, with all below them; the rules are in `widening.ts`. */
const MAY_WIDEN: ReadonlySet<string> = new Set([
  ...['security', 'budget', 'storage', 'task', 'answers', 'notify', 'telemetry', 'host', 'prices'],
  ...['project.tools_dirs', 'project.runs_dir', 'project.registry_dir'],
  ...['environment.cancel_grace_s', 'environment.waiting_stops_deadline'],
]);

/**
 * Loads the configuration (contract §6). Precedence: flag, variable, project file, user file, default. Throws
 * E_CONFIG_INVALID with every problem of the first invalid source, and E_APPROVAL_REQUIRED for a folder that an
 * untrusted link leads out of the project, unless `acceptLinks`: who asks for trust must be able to show them.
 */
export async function loadConfig(options: {
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  overrides?: Readonly<Record<string, unknown>>;
  acceptLinks?: boolean;
}): Promise<LoadedConfig> {
  const { cwd, env, overrides = {}, acceptLinks = false } = options;
  const { root, file } = findProject(cwd);
  const userFile = findUserFile(env);
  const config: Config = configDefaults();
  config.project.name = basename(root) || 'project';
  const applied: [ConfigSource, Setting][] = [];
  const warnings: string[] = [];
  const apply = (source: ConfigSource, settings: readonly Setting[]) => {
    for (const setting of settings) {
      if (setting.deprecated?.isRemoved !== true) {
        applySetting(config, setting);
        applied.push([source, setting]);
      }
      if (setting.deprecated !== undefined) {
        const { key, fix } = setting.deprecated;
        warnings.push(`${setting.where}: '${key}' is deprecated. ${fix}`);
      }
    }
  };
  const users = userFile === null ? [] : await settingsOfFile(userFile, env);
  apply('user', users);
  const own = file === null ? [] : await settingsOfFile(file, env, root);
  const widening = await wideningsIn(own, { config, users, root });
  const wide = new Set(widening.map(({ key }) => key));
  const isWide = (setting: Setting) => wide.has(keyOf(setting));
  apply(
    'project',
    own.filter((setting) => !isWide(setting)),
  );
  const ownLinks = await linksIn(config, root);
  const trust = await trustIn([...widening, ...ownLinks], root, env);
  const { kept, ignored } = await withinUsers(await settingsOfEnvironment(env), { users, root, env });
  for (const { key, where } of ignored)
    warnings.push(
      `the variable ${where} is ignored: an agent does not widen ${key}, which the user's file limits`,
    );
  const later = [
    ['project', trust.isTrusted ? own.filter(isWide) : []],
    ['environment', kept],
    ['flag', await settingsOfFlags(overrides)],
  ] as const;
  for (const [source, settings] of later) apply(source, settings);
  const isSame = later.every(([, settings]) => settings.length === 0);
  const links = acceptLinks ? [] : isSame ? ownLinks : await linksIn(config, root);
  if (links.length > 0) await refuseUntrusted(links, trust);
  return {
    config,
    root,
    file,
    // Few commands ask for them.
    get origins() {
      return originsOf(applied);
    },
    warnings,
    trust,
  };
}

/** The configuration of a folder without one that becomes a project. Throws E_APPROVAL_REQUIRED as `loadConfig` does. */
export async function newConfig(
  root: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<LoadedConfig> {
  const config: Config = configDefaults();
  config.project.name = basename(root) || 'project';
  const links = await linksIn(config, root);
  const trust = await trustIn(links, root, env);
  if (links.length > 0) await refuseUntrusted(links, trust);
  return { config, root, file: null, origins: {}, warnings: [], trust };
}

function originsOf(applied: readonly [ConfigSource, Setting][]): Record<string, Origin> {
  const origins: Record<string, Origin> = { 'project.name': { source: 'default' } };
  for (const leaf of leavesOf(configDefaults())) origins[keyOf(leaf)] = { source: 'default' };
  for (const [source, setting] of applied) origins[keyOf(setting)] = { source, where: setting.where };
  return origins;
}

/** Whether a project can widen security by the key with this path. */
export function mayWiden([first = '', second]: readonly string[]): boolean {
  return MAY_WIDEN.has(first) || (second !== undefined && MAY_WIDEN.has(`${first}.${second}`));
}

/** `config` is that without the project's file. */
async function wideningsIn(
  own: readonly Setting[],
  { config, users, root }: Pick<LoadedConfig, 'config' | 'root'> & { users: readonly Setting[] },
): Promise<Widening[]> {
  const candidates = own.filter(({ path, written }) => mayWiden(path) || written !== undefined);
  if (candidates.length === 0) return [];
  const { wideningsOf } = await import('./widening.ts');
  const keys = users.filter(({ deprecated }) => deprecated?.isRemoved !== true).map(keyOf);
  return wideningsOf(candidates, { base: config, users: new Set(keys), root });
}

/** In an agent's environment, the variables that widen what the user's own file sets have no effect. */
async function withinUsers(
  settings: readonly Setting[],
  { users, root, env }: { users: readonly Setting[]; root: string; env: Parameters<typeof agentOf>[0] },
): Promise<{ kept: readonly Setting[]; ignored: Widening[] }> {
  if (settings.length === 0 || users.length === 0 || agentOf(env) === undefined)
    return { kept: settings, ignored: [] };
  const base: Config = configDefaults();
  for (const setting of users) if (setting.deprecated?.isRemoved !== true) applySetting(base, setting);
  const keys = new Set(users.map(keyOf));
  const { wideningsOf } = await import('./widening.ts');
  const limited = settings.filter((each) => keys.has(keyOf(each)));
  const ignored = wideningsOf(limited, { base, users: keys, root });
  return { kept: settings.filter((each) => ignored.every(({ key }) => key !== keyOf(each))), ignored };
}

function keyOf({ path }: Pick<Setting, 'path'>): string {
  return path.join('.');
}

async function linksIn(config: Config, root: string): Promise<Widening[]> {
  const folders = linkedFolders(config, root);
  if (folders.length === 0) return [];
  const { linksOut } = await import('./links-out.ts');
  return linksOut(folders, root);
}

async function refuseUntrusted(links: readonly Widening[], trust: LoadedConfig['trust']): Promise<void> {
  const { refuseLinks } = await import('./links-out.ts');
  refuseLinks(links, trust.isTrusted ? trust.widenings : []);
}

async function trustIn(
  widenings: Widening[],
  root: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<LoadedConfig['trust']> {
  if (widenings.length === 0) return { isTrusted: true, widenings };
  const { TrustStore, trustDigest } = await import('./trust.ts');
  return { isTrusted: new TrustStore(env).read(root)?.digest === trustDigest(widenings), widenings };
}

/** Makes a configured path absolute. */
export function projectPath({ root }: LoadedConfig, path: string): string {
  return absoluteFolder(path, root);
}

/** The folder of the runs. */
export function runsDirOf(config: LoadedConfig): string {
  return projectPath(config, config.config.project.runs_dir);
}

/** The folders that contain tools, in the configured order. */
export function toolsDirsOf(config: LoadedConfig): string[] {
  return [...new Set(config.config.project.tools_dirs.map((dir) => projectPath(config, dir)))];
}

/** The registry folders: manifests that are separate from their tools (contract §5). */
export function registryDirsOf(config: LoadedConfig): string[] {
  const besideTools = [projectPath(config, 'tools'), ...toolsDirsOf(config)].map((dir) =>
    join(dir, 'registry'),
  );
  return [...new Set([projectPath(config, config.config.project.registry_dir), ...besideTools])];
}
