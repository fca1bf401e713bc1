import { CONFIG_KEYS, readText } from './keys.ts';
import type { Problem } from './problem.ts';
import type { KeyPath, YamlFile } from './yaml-file.ts';

const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/** The variables that a text refers to. */
export function variablesIn(text: string): string[] {
  return [...text.matchAll(REFERENCE)].map(([, name]) => name!);
}

/**
 * Replaces `${VAR}` and `${VAR:-default}` with values from the environment; the default also replaces an empty value. A
 * variable that is unset and has no default is a problem.
 */
export function expandVariables(
  yaml: YamlFile,
  env: Readonly<Record<string, string | undefined>>,
): { value: unknown; problems: Problem[] } {
  const problems: Problem[] = [];
  const expand = (value: unknown, path: KeyPath): unknown => {
    if (typeof value === 'string') return value.includes('${') ? expandText(value, path) : value;
    if (Array.isArray(value)) return value.map((each, index) => expand(each, [...path, index]));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [key, expand(each, [...path, key])]),
    );
  };
  const expandText = (text: string, path: KeyPath): unknown => {
    const expanded = text.replace(REFERENCE, (whole, name: string, fallback?: string) => {
      const value = env[name];
      if (fallback !== undefined) return value || fallback;
      if (value !== undefined) return value;
      problems.push({
        file: yaml.file,
        ...yaml.placeOf(path),
        rule: 'unset-variable',
        message: `the variable ${name} is not set`,
        fix: `Set it (export ${name}=…), or write a default: \${${name}:-…}`,
      });
      return whole;
    });
    // YAML reads ${VAR} as text even where a number is wanted.
    const kind = CONFIG_KEYS[path.join('.')];
    return expanded === text || kind === 'list' ? expanded : readText(kind, expanded);
  };
  return { value: expand(yaml.value, []), problems };
}
