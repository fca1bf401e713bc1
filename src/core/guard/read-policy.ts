import { dirname, isAbsolute } from 'node:path';
import type { PolicyFile } from '../../protocol/policy-file.ts';
import { checkFile } from '../config/check-file.ts';
import { type Problem, refuse } from '../config/problem.ts';
import { SettingsCache } from '../config/settings-cache.ts';
import { type KeyPath, readYamlFile, type YamlFile } from '../config/yaml-file.ts';
import type { PolicyLayer, PolicySource } from '../policy/policy-layer.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** Reads policy files. Throws E_CONFIG_INVALID with every problem of all files: an invalid policy allows nothing. */
export async function readPolicies(
  paths: readonly { source: PolicySource; file: string }[],
  env: Env,
): Promise<PolicyLayer[]> {
  const read = await Promise.all(paths.map(({ source, file }) => readPolicy(source, file, env)));
  refuse(read.flatMap(({ problems }) => problems));
  return read.flatMap(({ layer }) => layer ?? []);
}

async function readPolicy(
  source: PolicySource,
  file: string,
  env: Env,
): Promise<{ layer?: PolicyLayer; problems: Problem[] }> {
  const cache = new SettingsCache<PolicyLayer>(file, env, 'policy');
  const cached = cache.read();
  if (cached !== undefined) return { layer: cached, problems: [] };
  const within = source === 'project' ? dirname(dirname(file)) : undefined;
  const yaml = await readYamlFile(file, { aliases: false, within });
  // Loaded late: most projects have no policy.
  const { policyFile } = await import('../../protocol/policy-file.ts');
  const { data, problems } = checkFile(policyFile, yaml);
  if (data === undefined) return { problems };
  const layer: PolicyLayer = { source, file, policy: data, places: placesIn(yaml) };
  const mistakes = [...mistakesOf(data, source, yaml)];
  if (mistakes.length > 0) return { problems: mistakes };
  cache.write(layer);
  return { layer, problems: [] };
}

/** Reports keys that this file may not contain, or that require another key. */
function* mistakesOf(policy: PolicyFile, source: PolicySource, yaml: YamlFile): Generator<Problem> {
  const at = (key: string, rule: string, message: string, fix: string): Problem => ({
    file: yaml.file,
    ...yaml.placeOfKey([], key),
    rule,
    message,
    fix,
  });
  if (source === 'project') {
    // Otherwise a cloned project could approve its own tools, or make every `acor run` start a program of its choice.
    for (const key of ['approved', 'command'] as const) {
      if (policy[key] === undefined) continue;
      yield at(
        key,
        'not-in-a-project',
        `'${key}' is not allowed in the policy of a project, because the author of the project controls it`,
        'Put it into the policy.yaml of the user or of the system.',
      );
    }
  }
  if (policy.engine === 'command' && policy.command === undefined && source !== 'project') {
    yield at(
      'engine',
      'engine-command',
      'engine command needs a command',
      'Add it: command: [/usr/bin/opa, …]',
    );
  }
  if (policy.engine === 'command' && source === 'project') {
    yield at(
      'engine',
      'not-in-a-project',
      "the engine 'command' is not allowed in the policy of a project: it would run a program",
      'Use engine: cedar, or put it into your own policy.yaml.',
    );
  }
  if (policy.engine === 'cedar' && policy.cedar === undefined) {
    yield at(
      'engine',
      'engine-cedar',
      'engine cedar needs its policies',
      'Add them: cedar: { policies: acor.cedar }',
    );
  }
  for (const [key, engine] of [
    ['command', 'command'],
    ['cedar', 'cedar'],
  ] as const) {
    if (policy[key] === undefined || policy.engine === engine) continue;
    yield at(
      key,
      'engine',
      `'${key}' does nothing without engine: ${engine}`,
      `Add engine: ${engine}, or remove '${key}'.`,
    );
  }
  if (policy.command !== undefined && !isAbsolute(policy.command[0]!)) {
    yield at(
      'command',
      'absolute',
      `the program of 'command' must be an absolute path, got '${policy.command[0]}'`,
      'Write its full path, so that no other program on the PATH can replace it.',
    );
  }
}

function placesIn(yaml: YamlFile): Record<string, string> {
  const places: Record<string, string> = {};
  const walk = (value: unknown, path: KeyPath, name: string): void => {
    if (name !== '') {
      const { line, column } = yaml.placeOf(path);
      places[name] = `${line}:${column}`;
    }
    if (typeof value !== 'object' || value === null) return;
    for (const [key, each] of Object.entries(value)) {
      if (Array.isArray(value)) walk(each, [...path, Number(key)], `${name}[${key}]`);
      else walk(each, [...path, key], name === '' ? key : `${name}.${key}`);
    }
  };
  walk(yaml.value, [], '');
  return places;
}
