import { join } from 'node:path';
import * as z from 'zod';
import { AppError } from '../../compose/app-error.ts';
import { readDuration } from '../../compose/duration.ts';
import type { OperationContext, OperationResult } from '../../compose/operation.ts';
import { valueAt } from '../../core/config/edit-yaml.ts';
import { findProject, userFolder } from '../../core/config/find.ts';
import { leavesOf } from '../../core/config/layers.ts';
import { loadConfig, mayWiden } from '../../core/config/load.ts';
import { CONFIG_KEYS, readText } from '../../core/config/variables.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import { DEPRECATIONS } from '../../protocol/deprecations.ts';
import { INIT, SEE_CONFIG, TRUST } from '../../protocol/next-steps.ts';
import { nearest } from '../../util/nearest.ts';
import type { AcorApp } from '../acor-app.ts';
import { acorOperation } from '../define.ts';

const flags = {
  user: z
    .boolean()
    .default(false)
    .describe('Your own file, for all your projects; without it the file of the project.'),
  dry_run: z.boolean().default(false).describe('Show what would change, and change nothing.'),
};
const key = z.string().describe('The key, with dots: environment.timeout_s.');

const output = z.object({
  file: z.string(),
  key: z.string(),
  before: z.unknown().describe('The value in the file before; null when it had none.'),
  after: z.unknown().describe('The value in the file now; null when it has none.'),
  diff: z.string().describe('Unified; empty when nothing changes.'),
  holds: z
    .object({ value: z.unknown(), source: z.string(), where: z.string().nullable() })
    .nullable()
    .describe(
      'The value that holds now, and where it comes from; null with --dry-run, and for a key without a value.',
    ),
  needs_trust: z.boolean().describe('Whether the value has no effect until a person trusts the project.'),
  dry_run: z.boolean(),
});

type Changed = z.output<typeof output>;

export const configSet = acorOperation({
  name: 'config.set',
  summary: 'Set a key of the configuration; comments stay, and the value is checked first.',
  effect: 'writes',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    key,
    value: z.string().describe('The value. A list has commas, or is YAML: [a, b]; a map is YAML: {a: 1}.'),
    ...flags,
  }),
  output,
  positionals: ['key', 'value'],
  example: 'acor config set environment.timeout_s 10m',
  moreExamples: [
    'acor config set project.tools_dirs tools/,scripts/',
    'acor config set security.isolation required --user',
  ],
  run: async ({ value, ...change }, ctx) => {
    refuseDeprecated(change.key);
    return changeConfig({ ...change, value: await readGiven(change.key, value) }, ctx);
  },
});

export const configUnset = acorOperation({
  name: 'config.unset',
  summary: 'Remove a key from the configuration, so that the next source decides.',
  effect: 'writes',
  idempotent: true,
  rateLimit: null,
  input: z.object({ key, ...flags }),
  output,
  positionals: ['key'],
  example: 'acor config unset environment.timeout_s',
  run: (change, ctx) => changeConfig(change, ctx),
});

interface Change {
  key: string;
  value?: unknown;
  user: boolean;
  dry_run: boolean;
}

async function changeConfig(
  { key: name, value, user, dry_run }: Change,
  ctx: OperationContext<AcorApp>,
): Promise<OperationResult<Changed>> {
  const path = pathOf(name);
  const { root, file } = user ? userFile(ctx) : projectFile(ctx);
  const { editConfig } = await import('../../core/authoring/configuration/edit-config.ts');
  const edit = { path, ...(value !== undefined && { value }) };
  const edited = await editConfig(file, edit, { env: ctx.env, inside: root });
  if (user) refuseUnattended(name, edited, ctx);
  if (!dry_run) edited.write();
  const loaded = dry_run ? undefined : await loadConfig({ cwd: ctx.cwd, env: ctx.env, acceptLinks: true });
  if (loaded !== undefined) await ctx.app.warnOf(loaded);
  const isAsked = ({ key: each }: { key: string }) => each === name || each.startsWith(`${name}.`);
  const needsTrust = loaded !== undefined && !loaded.trust.isTrusted && loaded.trust.widenings.some(isAsked);
  const held = loaded && valueAt(loaded.config, path);
  const origin = loaded && Object.entries(loaded.origins).find(([each]) => isAsked({ key: each }))?.[1];
  return {
    kind: 'data',
    data: {
      file,
      key: name,
      before: edited.before ?? null,
      after: edited.after ?? null,
      diff: edited.diff,
      holds:
        held === undefined
          ? null
          : { value: held, source: origin?.source ?? 'default', where: origin?.where ?? null },
      needs_trust: needsTrust,
      dry_run,
    },
    next: needsTrust ? [TRUST] : [],
  };
}

/** Throws E_USAGE for a key that every later command would warn of. */
function refuseDeprecated(name: string): void {
  const found = DEPRECATIONS.find(({ file, path }) => file === 'config' && path === name);
  if (found === undefined) return;
  const { to } = found;
  throw new AppError('E_USAGE', `'${name}' is deprecated`, {
    hint: typeof to === 'string' ? `Set ${keyBeside(name, to)}.` : `It has no effect: ${to.removed}.`,
    next: [SEE_CONFIG],
  });
}

/** The path of a key in the same map as another one. */
function keyBeside(name: string, other: string): string {
  return [...name.split('.').slice(0, -1), other].join('.');
}

/** The words of a key. Throws E_USAGE for a name that no key can have. */
function pathOf(name: string): string[] {
  const path = name.split('.');
  if (path.every((word) => /^[A-Za-z_][\w-]*$/.test(word) && word !== '__proto__')) return path;
  throw unknownKey(name);
}

function unknownKey(name: string): AppError {
  const near = nearest(name, Object.keys(CONFIG_KEYS));
  return new AppError('E_USAGE', `there is no setting '${name}'`, {
    hint: near === undefined ? 'List all settings.' : `Did you mean ${near}?`,
    next: [SEE_CONFIG],
  });
}

/** The value of a key from its text: by the type of the key, or as YAML. */
async function readGiven(name: string, text: string): Promise<unknown> {
  if (/^[[{"']/.test(text)) return parsed(text);
  const kind = CONFIG_KEYS[name];
  if (kind === undefined) return parsed(text);
  const seconds = kind === 'number' && /_s$|_ttl$/.test(name) ? readDuration(text, 's') : undefined;
  return seconds ?? readText(kind, text);
}

async function parsed(text: string): Promise<unknown> {
  const { parseYaml } = await import('../../core/config/yaml-file.ts');
  const { value, problems } = await parseYaml('the value', text);
  const [problem] = problems;
  if (problem === undefined) return value;
  throw new AppError('E_USAGE', `the value is ${problem.message}`, {
    hint: 'Write a list as [a, b], a map as {a: 1}, and a text with special characters in quotes.',
  });
}

function userFile({ env }: OperationContext<AcorApp>) {
  return { root: null, file: join(userFolder('XDG_CONFIG_HOME', '.config', env), 'config.yaml') };
}

function projectFile({ cwd }: OperationContext<AcorApp>) {
  const { root, file, isProject } = findProject(cwd);
  if (isProject) return { root, file: file ?? join(root, '.acor', 'config.yaml') };
  throw new AppError('E_USAGE', `${root} is not in a project, so there is no file to change`, {
    hint: 'Make the folder a project, or pass --user to change your own file.',
    next: [INIT],
  });
}

/** In the user's own file these keys hold without trust: an agent must not remove its own limits. */
function refuseUnattended(
  name: string,
  { before, after }: { before: unknown; after: unknown },
  { person }: OperationContext<AcorApp>,
): void {
  const keys = [before, after]
    .flatMap((value) => leavesOf({ [name]: value }))
    .map(({ path }) => path.join('.'));
  if (person !== null || !keys.some((each) => mayWiden(each.split('.')))) return;
  throw new AcorError('E_APPROVAL_REQUIRED', `only a person sets ${name} for all projects of this user`, {
    hint: 'A person sets it at a terminal. Without --user the value goes into the file of the project, where a person trusts it.',
  });
}
