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
        .union([z.array(egressRule), z.literal('*')], 'must be a list of host:port')
        .default([])
        .describe('Hosts that it may access, as host:port.'),
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
  network: { egress_allow: string[] };
  commands: string[];
}

/** Applies the defaults. A tool that starts in the project may read it. */
export function settlePermissions(
  spec: z.output<typeof permissionsSpec>,
  cwd: 'workspace' | 'project' = 'workspace',
): Permissions {
  const egress = spec.network.egress_allow;
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
    network: { egress_allow: egress === '*' ? ['*'] : egress },
  };
  return { ...asked, level: spec.level ?? leastLevel(asked) };
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

function isWholeDisk(text: string): boolean {
  return /^[/*]*$/.test(text);
}

function isInWorkspace(text: string): boolean {
  const rest = /^(?:\$\{WORKSPACE\}|\$WORKSPACE|\.)(\/.*)?$/.exec(text);
  return rest !== null && !text.split('/').includes('..');
}
