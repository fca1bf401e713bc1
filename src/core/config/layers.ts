import { configDefaults } from '../../protocol/config-defaults.ts';
import { type Problem, placeText, refuse } from './problem.ts';
import { type Setting, SettingsCache } from './settings-cache.ts';
import { CONFIG_KEYS, expandVariables, hasVariables, readText, variablesOf } from './variables.ts';
import type { KeyPath, YamlFile } from './yaml-file.ts';

type Env = Readonly<Record<string, string | undefined>>;
type Tree = { [key: string]: unknown };

/** The validated settings of a file, which with `within` must not be outside of that folder. Throws E_CONFIG_INVALID with every problem. */
export async function settingsOfFile(file: string, env: Env, within?: string): Promise<Setting[]> {
  const cache = new SettingsCache(file, env);
  const cached = cache.read();
  if (cached !== undefined) return cached;
  const { readYamlFile } = await import('./yaml-file.ts');
  const yaml = await readYamlFile(file, { within });
  const { value, problems, expanded } =
    yaml.problems.length > 0 ? { ...yaml, expanded: [] } : expandVariables(yaml, env);
  await check(yaml, value, problems);
  const { upToDate } = await import('./up-to-date.ts');
  const foreign = expanded.filter(isForeign).map((text) => text.path);
  const settings = upToDate(
    leavesOf(value as Tree).map(({ path, value: leaf }) => ({
      path,
      value: leaf,
      where: placeText({ file, ...yaml.placeOf(path) }),
      ...(foreign.some((at) => path.every((key, index) => key === at[index])) && {
        written: valueAt(yaml.value, path),
      }),
    })),
  );
  // A value from a variable may differ between starts.
  if (value === yaml.value || JSON.stringify(value) === JSON.stringify(yaml.value)) cache.write(settings);
  return settings;
}

/** Whether a text has a value of the caller that tools do not get, and that the kind of its key does not rule out. */
function isForeign({ path, names }: { path: KeyPath; names: readonly string[] }): boolean {
  const kind = CONFIG_KEYS[path.join('.')];
  const isBounded = kind === 'number' || kind === 'boolean' || kind === 'choice';
  return !isBounded && names.some((name) => !configDefaults().environment.base_allowlist.includes(name));
}

/** The settings from environment variables. An empty variable counts as unset. */
export async function settingsOfEnvironment(env: Env): Promise<Setting[]> {
  if (!hasVariables(env)) return [];
  const settings: Setting[] = [];
  for (const [key, kind] of Object.entries(CONFIG_KEYS)) {
    const variable = variablesOf(key).find((name) => env[name]);
    if (variable === undefined) continue;
    settings.push({ path: key.split('.'), value: readText(kind, env[variable]!), where: variable });
  }
  // Loaded late: most calls come without such variables.
  const { checkOnce } = await import('./checked-settings.ts');
  await checkOnce(settings, env, () => checkSettings(settings, (where) => `the variable ${where}`));
  return settings;
}

/** The settings from flags, by dotted key. */
export async function settingsOfFlags(overrides: Readonly<Record<string, unknown>>): Promise<Setting[]> {
  const settings = Object.entries(overrides)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ({ path: key.split('.'), value, where: key }));
  await checkSettings(settings, (where) => `the flag for ${where}`);
  return settings;
}

/** The value at a path. */
export function valueAt(tree: unknown, path: KeyPath): unknown {
  return path.reduce((at, key) => (at as Record<string, unknown> | undefined)?.[key], tree);
}

/** Sets the value at the key's path. */
export function applySetting(tree: Tree, { path, value }: Pick<Setting, 'path' | 'value'>): void {
  let holder = tree;
  for (const key of path.slice(0, -1)) {
    // A name may be below a map, as `task.executor`.
    if (typeof holder[key] !== 'object') holder[key] = {};
    holder = holder[key] as Tree;
  }
  holder[path.at(-1)!] = value;
}

/** The settings in a tree. A list is one setting. */
export function leavesOf(tree: Tree, above: string[] = []): { path: string[]; value: unknown }[] {
  return Object.entries(tree).flatMap(([key, value]) => {
    // Setting `__proto__` would change every object of the program.
    if (key === '__proto__') return [];
    const path = [...above, key];
    const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isMap ? leavesOf(value as Tree, path) : [{ path, value }];
  });
}

async function checkSettings(settings: Setting[], nameOf: (where: string) => string): Promise<void> {
  const problems: Problem[] = [];
  for (const setting of settings) {
    const value: Tree = {};
    applySetting(value, setting);
    problems.push(...(await mistakesOf(withoutPlaces(nameOf(setting.where)), value)));
  }
  refuse(problems);
}

async function check(yaml: YamlFile, value: unknown, problems: Problem[]): Promise<void> {
  // A value with an unset variable cannot be validated.
  const unset = new Set(problems.map(placeText));
  const mistakes = yaml.problems.length > 0 ? [] : await mistakesOf(yaml, value);
  refuse([...problems, ...mistakes.filter((mistake) => !unset.has(placeText(mistake)))]);
}

async function mistakesOf(yaml: YamlFile, value: unknown): Promise<Problem[]> {
  // Loaded late: a project without settings needs no schema.
  const [{ checkFile }, { configFile }, { otherVersion }] = await Promise.all([
    import('./check-file.ts'),
    import('../../protocol/config-file.ts'),
    import('./config-version.ts'),
  ]);
  const version = otherVersion(yaml);
  if (version !== undefined) return [version];
  return checkFile(configFile, yaml, value).problems;
}

function withoutPlaces(file: string): YamlFile {
  const place = (_path: KeyPath) => ({ line: 0, column: 0 });
  return {
    file,
    text: '',
    value: undefined,
    problems: [],
    placeOf: place,
    placeOfKey: place,
    sourceOf: () => undefined,
  };
}
