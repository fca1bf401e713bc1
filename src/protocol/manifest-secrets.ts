import * as z from 'zod';
import type { Mistake } from './mistake.ts';
import { SECRET_NAME, SECRET_NAME_RULE, whyDenied } from './names.ts';

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
const secretName = z.string().regex(SECRET_NAME, SECRET_NAME_RULE);
const variable = z.string().regex(VARIABLE, 'must be the name of an environment variable');

/** One host with an optional port: a value goes to hosts that are named, never to a wildcard. */
const HOST = /^(?:\[[0-9A-Fa-f:.]+\]|[\p{L}\p{M}\p{N}_-]+(?:\.[\p{L}\p{M}\p{N}_-]+)*)(?::\d{1,5})?$/u;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const HEADER_TEXT = /^[\t -~]*$/;
const HTTPS_PORT = 443;

const injectionSpec = z
  .strictObject({
    hosts: z
      .array(z.string().regex(HOST, 'must be one host, such as api.example.com or api.example.com:8443'))
      .min(1)
      .describe('The hosts that get the value, by TLS; the port is 443 unless it is written.'),
    header: z
      .string()
      .regex(HEADER_NAME, 'must be the name of a header')
      .default('Authorization')
      .describe('The header that holds the value.'),
    format: z
      .string()
      .regex(HEADER_TEXT, 'must be one line of ASCII text')
      .refine((text) => text.split('{}').length === 2, 'must contain {} once, where the value goes')
      .optional()
      .describe(
        'The text of the header, with {} for the value. The default is `Bearer {}` for Authorization, else `{}`. `Basic user:{}` is encoded as the scheme requires.',
      ),
    placeholder: z
      .string()
      .regex(/^[!-~]+$/, 'must be ASCII text without spaces')
      .optional()
      .describe('What the tool gets instead of the value, for programs that check its form.'),
  })
  .describe('ACOR puts the value into requests to these hosts; the tool gets a placeholder.');

const secretObject = z.strictObject({
  name: secretName,
  // For programs that do not know ACOR. A variable protects less than a file: every program that the tool starts gets it, too.
  as: z
    .enum(['env', 'file'])
    .optional()
    .describe('The variable holds the value, or the path of a file with it.'),
  variable: variable.optional().describe('Defaults to the name.'),
  inject: injectionSpec.optional(),
});

type SecretObject = z.output<typeof secretObject>;

/** How a tool gets a secret: as a file, in a variable, or not at all, when ACOR puts it into its requests. */
export const secretSpec = z.union([secretName, secretObject]);

type SecretSpec = z.output<typeof secretSpec>;

/** A secret that the tool gets in a variable. */
export interface SecretVariable {
  name: string;
  as: 'env' | 'file';
  variable: string;
}

/** A secret that is put into a header of requests to `hosts` (host:port); the tool gets `placeholder`. */
export interface SecretInjection {
  name: string;
  hosts: string[];
  header: string;
  format: string;
  placeholder: string;
}

/** How the secrets of a manifest are delivered. */
export function settleSecrets(specs: readonly SecretSpec[]): {
  secrets: string[];
  secret_variables?: SecretVariable[];
  secret_injections?: SecretInjection[];
} {
  const objects = specs.filter((each) => typeof each === 'object');
  const variables = objects.flatMap(({ name, as, variable: text }) =>
    as === undefined ? [] : [{ name, as, variable: text ?? name }],
  );
  const injections = objects.flatMap(({ name, inject }) =>
    inject === undefined ? [] : [settleInjection(name, inject)],
  );
  return {
    secrets: specs.map((each) => (typeof each === 'string' ? each : each.name)),
    ...(variables.length > 0 && { secret_variables: variables }),
    ...(injections.length > 0 && { secret_injections: injections }),
  };
}

/** The hosts of all injections, as host:port. */
export function injectionHosts(specs: readonly SecretSpec[]): string[] {
  return (settleSecrets(specs).secret_injections ?? []).flatMap(({ hosts }) => hosts);
}

function settleInjection(
  name: string,
  { hosts, header, format, placeholder }: z.output<typeof injectionSpec>,
): SecretInjection {
  return {
    name,
    hosts: hosts.map((host) => (/:\d+$/.test(host) ? host : `${host}:${HTTPS_PORT}`)),
    header,
    format: format ?? (header.toLowerCase() === 'authorization' ? 'Bearer {}' : '{}'),
    placeholder: placeholder ?? `acor-injects-${name}`,
  };
}

/** Headers that decide where a request goes, where it ends, or how the answer is encoded. */
const NOT_INJECTED =
  /^(?:host|content-length|transfer-encoding|connection|keep-alive|te|trailer|upgrade|expect|accept-encoding|proxy-.*|sec-websocket-.*)$/i;

/** The problems of `secrets`. Entries that are invalid themselves are skipped here. */
export function* secretMistakes(value: unknown, isPrivileged: boolean): Generator<Mistake> {
  if (!Array.isArray(value)) return;
  const entries = value.flatMap((each, index) => {
    const checked = secretObject.safeParse(typeof each === 'string' ? { name: each } : each);
    return checked.success ? [{ index, spec: checked.data }] : [];
  });
  for (const entry of entries) yield* variableMistakes(entry);
  const injected = new Set(entries.flatMap(({ spec }) => (spec.inject === undefined ? [] : [spec.name])));
  const taken = new Set<string>();
  for (const { index, spec } of entries) {
    if (spec.inject !== undefined)
      yield* injectionMistakes(index, settleInjection(spec.name, spec.inject), taken);
    else if (injected.has(spec.name)) {
      yield {
        path: ['secrets', index],
        rule: 'injected-or-given',
        message: `the secret '${spec.name}' is injected, and this entry would give its value to the tool`,
        fix: 'Remove this entry, or write its keys into the entry with inject.',
      };
    }
    if (spec.inject === undefined || !isPrivileged) continue;
    yield {
      path: ['secrets', index, 'inject'],
      rule: 'inject-needs-gateway',
      message:
        'a privileged tool uses the network of the machine, so ACOR cannot put a secret into its requests',
      fix: 'Request less than the level privileged, or remove inject.',
    };
  }
}

function* variableMistakes({ index, spec }: { index: number; spec: SecretObject }): Generator<Mistake> {
  const { name, as, variable: text } = spec;
  if (as === undefined && text !== undefined) {
    yield {
      path: ['secrets', index],
      rule: 'variable-without-as',
      message: `'variable' has no effect without 'as'`,
      fix: 'Add as: env or as: file.',
    };
  }
  if (as === undefined) return;
  const chosen = text ?? name;
  const isName = VARIABLE.test(chosen);
  const why = isName ? whyDenied(chosen) : 'it is no name of a variable';
  if (why === undefined) return;
  yield {
    path: ['secrets', index],
    rule: 'env-name',
    message: `a tool must not get the variable '${chosen}': ${why}`,
    fix: 'Set variable: to the name that the program reads.',
  };
}

function* injectionMistakes(
  index: number,
  { hosts, header }: SecretInjection,
  taken: Set<string>,
): Generator<Mistake> {
  if (NOT_INJECTED.test(header)) {
    yield {
      path: ['secrets', index, 'inject', 'header'],
      rule: 'inject-header',
      message: `the header '${header}' belongs to the connection and cannot hold a secret`,
      fix: 'Name the header that the service reads, such as Authorization or X-Api-Key.',
    };
  }
  for (const host of hosts) {
    const place = `${host} ${header}`.toLowerCase();
    if (taken.has(place)) {
      yield {
        path: ['secrets', index, 'inject', 'hosts'],
        rule: 'inject-twice',
        message: `the header '${header}' of requests to ${host} would hold two secrets`,
        fix: 'Remove the host from one of them, or name another header.',
      };
    }
    taken.add(place);
  }
}
