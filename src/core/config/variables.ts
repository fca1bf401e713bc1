import type { Problem } from './problem.ts';
import type { KeyPath, YamlFile } from './yaml-file.ts';

/** A variable in a text. */
export const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/** The variables that a text refers to. */
export function variablesIn(text: string): string[] {
  return [...text.matchAll(REFERENCE)].map(([, name]) => name!);
}

/** A text of a file that has values from the environment, and the variables that they are from. */
interface ExpandedText {
  path: KeyPath;
  names: string[];
}

/**
 * Replaces `${VAR}` and `${VAR:-default}` with values from the environment; the default also replaces an empty value. A
 * variable that is unset and has no default is a problem.
 */
export function expandVariables(
  yaml: YamlFile,
  env: Readonly<Record<string, string | undefined>>,
): { value: unknown; problems: Problem[]; expanded: ExpandedText[] } {
  const problems: Problem[] = [];
  const texts: ExpandedText[] = [];
  const expand = (value: unknown, path: KeyPath): unknown => {
    if (typeof value === 'string') return value.includes('${') ? expandText(value, path) : value;
    if (Array.isArray(value)) return value.map((each, index) => expand(each, [...path, index]));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [key, expand(each, [...path, key])]),
    );
  };
  const expandText = (text: string, path: KeyPath): unknown => {
    const names: string[] = [];
    const expanded = text.replace(REFERENCE, (whole, name: string, fallback?: string) => {
      const value = env[name];
      const isTaken = fallback === undefined ? value !== undefined : Boolean(value);
      if (isTaken) {
        names.push(name);
        return value!;
      }
      if (fallback !== undefined) return fallback;
      problems.push({
        file: yaml.file,
        ...yaml.placeOf(path),
        rule: 'unset-variable',
        message: `the variable ${name} is not set`,
        fix: `Set it (export ${name}=…), or write a default: \${${name}:-…}`,
      });
      return whole;
    });
    if (names.length > 0) texts.push({ path, names });
    // YAML reads ${VAR} as text even where a number is wanted.
    const kind = CONFIG_KEYS[path.join('.')];
    return expanded === text || kind === 'list' ? expanded : readText(kind, expanded);
  };
  return { value: expand(yaml.value, []), problems, expanded: texts };
}

/** A `choice` is one of a few words. */
type KeyKind = 'text' | 'choice' | 'number' | 'boolean' | 'list';

/** The settings that a variable can override, and the type of each. A test compares the table with the schema. */
export const CONFIG_KEYS: Readonly<Record<string, KeyKind>> = {
  'project.name': 'text',
  'project.tools_dirs': 'list',
  'project.runs_dir': 'text',
  'project.registry_dir': 'text',
  'discovery.cache_ttl': 'number',
  'discovery.auto_discover': 'boolean',
  'environment.base_allowlist': 'list',
  'environment.timeout_s': 'number',
  'environment.heartbeat_grace_s': 'number',
  'environment.stall_s': 'number',
  'environment.max_output_size': 'number',
  'environment.cancel_grace_s': 'number',
  'environment.answer_timeout_s': 'number',
  'environment.waiting_stops_deadline': 'boolean',
  'security.allow_network_egress': 'boolean',
  'security.resource_limits.cpu_seconds': 'number',
  'security.resource_limits.memory_mb': 'number',
  'security.resource_limits.processes': 'number',
  'security.resource_limits.open_files': 'number',
  'security.resource_limits.file_mb': 'number',
  'security.resource_limits.disk_mb': 'number',
  'security.resource_limits.tmp_mb': 'number',
  'security.grant_roots': 'list',
  'security.isolation': 'choice',
  'security.container.image': 'text',
  'security.container.command': 'list',
  'security.allow_private_egress': 'list',
  'security.egress_authorities': 'list',
  'security.webhook_hosts': 'list',
  'security.require_plan': 'choice',
  'security.direct_calls': 'choice',
  'security.writes': 'choice',
  'security.on_denied': 'choice',
  'budget.max_runs': 'number',
  'budget.max_timeout_s': 'number',
  'budget.max_output_size': 'number',
  'budget.max_attempts': 'number',
  'budget.max_cost_usd': 'number',
  'budget.max_workflow_cost_usd': 'number',
  'budget.max_day_cost_usd': 'number',
  'budget.cost_warn_at': 'number',
  'budget.on_cost_limit': 'choice',
  'budget.resources.cpu_seconds': 'number',
  'budget.resources.memory_mb': 'number',
  'budget.resources.processes': 'number',
  'budget.resources.open_files': 'number',
  'budget.resources.file_mb': 'number',
  'budget.resources.disk_mb': 'number',
  'budget.resources.tmp_mb': 'number',
  'storage.keep': 'number',
  'task.executor': 'text',
  'task.model': 'text',
  'task.writes': 'list',
  'task.commands': 'list',
  'task.hosts': 'list',
  'task.secrets': 'list',
  'task.max_iterations': 'number',
  'task.max_cost_usd': 'number',
  'task.price.input': 'number',
  'task.price.output': 'number',
  'task.price.cache_read': 'number',
  'task.price.cache_write': 'number',
  host: 'choice',
  plugins: 'list',
  'telemetry.endpoint': 'text',
  'telemetry.authorization': 'text',
  'telemetry.file': 'text',
};

/** Variable names from seed 000; the ACOR_ name of the same setting wins. */
const ALIASES: Readonly<Record<string, string>> = {
  'environment.timeout_s': 'TOOL_TIMEOUT_S',
  'environment.heartbeat_grace_s': 'HEARTBEAT_GRACE_S',
};

/** Whether any variable may set a key: to look for each of them takes time at each start. */
export function hasVariables(env: Readonly<Record<string, string | undefined>>): boolean {
  const aliases = Object.values(ALIASES);
  return Object.keys(env).some((name) => name.startsWith('ACOR_') || aliases.includes(name));
}

/** The variables that set a key, in order of precedence. */
export function variablesOf(key: string): string[] {
  const name = `ACOR_${key.replaceAll('.', '_').toUpperCase()}`;
  const alias = ALIASES[key];
  return alias === undefined ? [name] : [name, alias];
}

/** Converts the text to the type. A text that does not fit stays as it is, and the schema check reports it. */
export function readText(kind: KeyKind | undefined, text: string): unknown {
  switch (kind) {
    case 'number':
      return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : text;
    case 'list':
      return text
        .split(',')
        .map((each) => each.trim())
        .filter((each) => each !== '');
    default:
      return text;
  }
}
