import * as z from 'zod';
import { WRITE_MODES, type WriteMode } from './write-modes.ts';

/** The levels, weakest first (contract §9). */
export const PERMISSION_LEVELS = ['minimal', 'standard', 'privileged'] as const;

export type PermissionLevel = (typeof PERMISSION_LEVELS)[number];

const path = z
  .string()
  .min(1)
  .refine((text) => !/\p{Cc}/u.test(text), 'must not contain a control character');

const egressRule = z
  .string()
  .regex(
    /^(\*|(\[[0-9A-Fa-f:.]+\]|[\p{L}\p{M}\p{N}*_-]+(\.[\p{L}\p{M}\p{N}*_-]+)*):(\d{1,5}|\*))$/u,
    'must be host:port, such as api.example.com:443',
  );

const HTTPS_PORT = 443;

/** Requests of HTTPS to one host, or to the names below a domain. */
const httpRule = z.strictObject({
  host: z
    .string()
    .regex(
      /^(\[[0-9A-Fa-f:.]+\]|(\*\.)?[\p{L}\p{M}\p{N}_-]+(\.[\p{L}\p{M}\p{N}_-]+)*)(:\d{1,5})?$/u,
      'must be a host, such as api.example.com or api.example.com:8443',
    )
    .describe('The host, which is reached by HTTPS; the port is 443 unless it is written.'),
  methods: z
    .array(z.string().regex(/^[A-Z][A-Z-]*$/, 'must be a method in upper case, such as GET'))
    .min(1)
    .optional()
    .describe('The methods that it may use; all if missing.'),
  paths: z
    .array(
      z
        .string()
        .regex(/^\/[!-~]*$/, 'must begin with / and contain neither spaces nor characters that are not ASCII')
        .refine((text) => !/[?#%\\;]/.test(text), 'must be a plain path without ?, #, %, ; and \\')
        .refine(
          (text) => /^(\/(\*|[^/*]*))*(\/\*\*)?$/.test(text),
          'must have * as a whole segment, and ** as the last one',
        ),
    )
    .min(1)
    .optional()
    .describe(
      'The paths that it may request; * is one segment, ** at the end is everything below. All if missing.',
    ),
  max_upload: z
    .int()
    .nonnegative()
    .optional()
    .describe('How many bytes it may send to the host in one attempt, heads of requests included.'),
});

/** The limits of the requests to a host (host:port), which is one of `egress_allow`. */
export type HttpRule = z.output<typeof httpRule>;

/** The requested permissions. `*` alone matches any host. */
export const permissionsSpec = z.strictObject({
  level: z.enum(PERMISSION_LEVELS).optional().describe('Defaults to the lowest level that covers the rest.'),
  filesystem: z
    .strictObject({
      read: z.array(path).default([]).describe('Readable paths.'),
      write: z
        .array(
          z.union([
            path,
            z.strictObject({
              path,
              mode: z
                .enum(WRITE_MODES)
                .describe(
                  '`in_place`; `snapshot`: in place, after a copy was made, from which `undo` restores; `review`: in a layer, which `apply` puts in place.',
                ),
            }),
          ]),
        )
        .default([])
        .describe('Writable paths, each as a text, or with the mode of writing.'),
    })
    .prefault({})
    .describe('Paths beyond its workspace.'),
  network: z
    .strictObject({
      egress_allow: z
        .union([z.array(z.union([egressRule, httpRule])), z.literal('*')], 'must be a list of host:port')
        .default([])
        .describe('Hosts that it may access, as host:port, or with the HTTPS requests that it may send.'),
    })
    .prefault({})
    .describe('Network access.'),
  commands: z.array(z.string().min(1)).default([]).describe('Programs that it may start.'),
});

const PROJECT = '${PROJECT}/**';

/** The validated permissions: the level is set, and the hosts are a list. */
export interface Permissions {
  level: PermissionLevel;
  filesystem: {
    read: string[];
    write: string[];
    /** Of the writable paths that name a mode. */
    modes?: Record<string, WriteMode>;
  };
  network: { egress_allow: string[]; http_rules?: HttpRule[] };
  commands: string[];
}

/**
 * Applies the defaults. A tool that starts in the project may read it; `hosts` get a secret of the tool, so that it may
 * connect to them.
 */
export function settlePermissions(
  spec: z.output<typeof permissionsSpec>,
  { cwd = 'workspace', hosts = [] }: { cwd?: 'workspace' | 'project'; hosts?: readonly string[] } = {},
): Permissions {
  const asList = spec.network.egress_allow;
  const egress =
    asList === '*' ? ['*'] : asList.map((each) => (typeof each === 'string' ? each : withPort(each.host)));
  const rules = asList === '*' ? [] : asList.filter((each) => typeof each === 'object');
  const { read } = spec.filesystem;
  const write = spec.filesystem.write.map((each) => (typeof each === 'string' ? each : each.path));
  const modes = spec.filesystem.write.flatMap((each) =>
    typeof each === 'string' ? [] : [[each.path, each.mode] as const],
  );
  const asked = {
    ...spec,
    filesystem: {
      read: cwd === 'project' ? [...read, PROJECT] : read,
      write,
      ...(modes.length > 0 && { modes: Object.fromEntries(modes) }),
    },
    network: {
      egress_allow: egress.includes('*') ? egress : [...new Set([...egress, ...hosts])],
      ...(rules.length > 0 && { http_rules: rules.map((each) => ({ ...each, host: withPort(each.host) })) }),
    },
  };
  return { ...asked, level: spec.level ?? leastLevel(asked) };
}

function withPort(host: string): string {
  return /:\d+$/.test(host) ? host : `${host}:${HTTPS_PORT}`;
}

/** The lowest level that covers the requested permissions (contract §5, §9). */
export function leastLevel(asked: Omit<Permissions, 'level'>): PermissionLevel {
  const paths = [...asked.filesystem.read, ...asked.filesystem.write];
  if (paths.some(isWholeDisk) || asked.network.egress_allow.includes('*') || asked.commands.includes('*')) {
    return 'privileged';
  }
  const beyond = paths.some((each) => !isInWorkspace(each));
  return beyond || asked.network.egress_allow.length > 0 || asked.commands.length > 0
    ? 'standard'
    : 'minimal';
}

/** Also as `/.` or `//**`. */
function isWholeDisk(text: string): boolean {
  return /^[/*][/.*]*$/.test(text);
}

function isInWorkspace(text: string): boolean {
  const rest = /^(?:\$\{WORKSPACE\}|\$WORKSPACE|\.)(\/.*)?$/.exec(text);
  return rest !== null && !text.split('/').includes('..');
}
