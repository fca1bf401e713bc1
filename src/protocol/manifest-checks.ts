import * as z from 'zod';
import { flagOf, INPUT_NAME, INPUT_NAME_RULE } from './input-types.ts';
import { inputSpec } from './manifest-inputs.ts';
import { mapMistakes } from './manifest-map.ts';
import { markerMistakes } from './manifest-markers.ts';
import { outputMistakes } from './manifest-output.ts';
import {
  leastLevel,
  PERMISSION_LEVELS,
  type Permissions,
  permissionsSpec,
  settlePermissions,
} from './manifest-permissions.ts';
import { injectionHosts, secretMistakes, secretSpec } from './manifest-secrets.ts';
import type { Mistake } from './mistake.ts';
import { whyDenied } from './names.ts';

/** The problems between a manifest's keys. Keys that are invalid themselves are skipped here. */
export function* mistakesBetweenKeys(file: Readonly<Record<string, unknown>>): Generator<Mistake> {
  if (file['entry'] !== undefined && file['command'] !== undefined) {
    yield at(
      ['command'],
      'entry-or-command',
      "'entry' and 'command' exclude each other",
      'Remove one of them.',
    );
  }
  if (file['inputs'] !== undefined && file['input_schema'] !== undefined) {
    yield at(
      ['input_schema'],
      'inputs-or-schema',
      "'inputs' and 'input_schema' exclude each other",
      'Remove one of them.',
    );
  }
  yield* outputMistakes(file);
  yield* mapMistakes(file['map'], file['adapter']);
  yield* markerMistakes(file['markers'], file['adapter']);
  yield* inputMistakes(file['inputs']);
  yield* schemaMistakes(file['input_schema']);
  const permissions = settled(file);
  yield* levelMistakes(permissions);
  yield* hostMistakes(file, permissions);
  yield* exitCodeMistakes(file['exit_codes']);
  yield* environmentMistakes(file['env']);
  yield* secretMistakes(file['secrets'], permissions?.level === 'privileged');
}

function* inputMistakes(value: unknown): Generator<Mistake> {
  const seen = new Map<string, string>();
  let optional: string | undefined;
  let list: string | undefined;
  for (const [index, input] of namedInputs(value)) {
    for (const spelling of spellingsOf(input)) {
      const other = seen.get(spelling);
      if (other !== undefined) {
        yield at(
          ['inputs', index, 'name'],
          'duplicate-input',
          `the inputs '${other}' and '${input.name}' both use ${spelling}`,
          'Rename one of them, or change its flag or short.',
        );
      }
      seen.set(spelling, input.name);
    }
    if (!input.positional) continue;
    if (list !== undefined) {
      yield at(
        ['inputs', index, 'positional'],
        'list-is-last',
        `'${list}' takes all following words, so '${input.name}' would get none`,
        'Put the positional input with multiple: true last.',
      );
    }
    if (input.required && optional !== undefined) {
      yield at(
        ['inputs', index, 'required'],
        'optional-is-last',
        `'${input.name}' is required and comes after '${optional}', which is not`,
        'Put the required positional inputs first.',
      );
    }
    if (input.multiple) list = input.name;
    if (!input.required) optional = input.name;
  }
}

function* schemaMistakes(value: unknown): Generator<Mistake> {
  const properties = (value as { properties?: unknown } | null | undefined)?.properties;
  if (typeof properties !== 'object' || properties === null) return;
  for (const name of Object.keys(properties)) {
    if (INPUT_NAME.test(name)) continue;
    yield at(
      ['input_schema', 'properties', name],
      'input-name',
      `the name '${name}' ${INPUT_NAME_RULE}`,
      'Rename the property.',
    );
  }
}

/** All that the checks between inputs read, so that no other mistake in an input hides these. */
const betweenInputs = z.object(inputSpec.shape).pick({
  name: true,
  flag: true,
  short: true,
  positional: true,
  required: true,
  multiple: true,
  joined: true,
  default: true,
});
type NamedInput = z.output<typeof betweenInputs> & { isBool: boolean };

function* namedInputs(value: unknown): Generator<[number, NamedInput]> {
  if (!Array.isArray(value)) return;
  for (const [index, each] of value.entries()) {
    const checked = betweenInputs.safeParse(each);
    if (checked.success) yield [index, { ...checked.data, isBool: each.type === 'bool' }];
  }
}

/** How callers may write the flag, and how the tool gets it. A bool that is true by default reaches the tool as --no-NAME when it is false. */
function spellingsOf(input: NamedInput): Set<string> {
  const { name, joined, isBool } = input;
  const spellings = new Set([flagOf(input), flagOf({ name }), input.short ?? flagOf(input)]);
  if (isBool && input.default === true && !joined) spellings.add(`--no-${name.replaceAll('_', '-')}`);
  return spellings;
}

function* levelMistakes(permissions: Permissions | undefined): Generator<Mistake> {
  if (permissions === undefined) return;
  const { level, ...asked } = permissions;
  const least = leastLevel(asked);
  if (PERMISSION_LEVELS.indexOf(level) >= PERMISSION_LEVELS.indexOf(least)) return;
  yield at(
    ['permissions', 'level'],
    'level-too-low',
    `the level ${level} is too low for the requested 'permissions'`,
    `Set level: ${least}, or request less.`,
  );
}

function* hostMistakes(
  file: Readonly<Record<string, unknown>>,
  permissions: Permissions | undefined,
): Generator<Mistake> {
  const { http_rules: rules = [] } = permissions?.network ?? {};
  if (permissions === undefined || rules.length === 0) return;
  const path = ['permissions', 'network', 'egress_allow'];
  if (permissions.level === 'privileged') {
    yield at(
      path,
      'rules-need-gateway',
      'a privileged tool uses the network of the machine, so ACOR cannot check its requests',
      'Request less than the level privileged, or list the host as host:port.',
    );
  }
  const listed = (file['permissions'] as { network: { egress_allow: unknown[] } }).network.egress_allow;
  for (const [index, each] of listed.entries()) {
    if (!rules.some(({ host }) => host === each)) continue;
    yield at(
      [...path, index],
      'host-without-rules',
      `'${each}' is listed with rules for its requests, and here without`,
      'Remove this entry, or the one with rules.',
    );
  }
}

const anyPermissions = permissionsSpec.prefault({});
const secretSpecs = z.array(secretSpec);

/** The permissions with their defaults; undefined when they are invalid. */
function settled({ permissions, cwd, secrets }: Readonly<Record<string, unknown>>): Permissions | undefined {
  const checked = anyPermissions.safeParse(permissions);
  if (!checked.success) return undefined;
  const specs = secretSpecs.safeParse(secrets);
  const hosts = specs.success ? injectionHosts(specs.data) : [];
  return settlePermissions(checked.data, { cwd: cwd === 'project' ? cwd : 'workspace', hosts });
}

function* exitCodeMistakes(value: unknown): Generator<Mistake> {
  if (typeof value !== 'object' || value === null) return;
  const seen = new Map<unknown, string>();
  for (const [name, code] of Object.entries(value)) {
    const other = seen.get(code);
    if (other !== undefined) {
      yield at(
        ['exit_codes', name],
        'duplicate-exit-code',
        `'${other}' and '${name}' are both exit code ${code}`,
        'Use a different code for each meaning.',
      );
    }
    seen.set(code, name);
  }
}

function* environmentMistakes(value: unknown): Generator<Mistake> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, names] of Object.entries(value)) {
    if (typeof names !== 'object' || names === null) continue;
    const found = Array.isArray(names)
      ? [...names.entries()]
      : Object.keys(names).map((name) => [name, name]);
    for (const [place, name] of found) {
      const why = typeof name === 'string' ? whyDenied(name) : undefined;
      if (why === undefined) continue;
      yield at(
        ['env', key, place],
        'env-name',
        `a tool must not get the variable '${name}': ${why}`,
        'Remove it, and let the tool take the value as an input.',
      );
    }
  }
}

function at(path: Mistake['path'], rule: string, message: string, fix: string): Mistake {
  return { path, rule, message, fix };
}
