import { constants } from 'node:fs';

/** Landlock access rights for a file or a folder, as the kernel's bits. */
const EXECUTE = 1;
const READ_FILE = 1 << 2;
const READ_FOLDER = 1 << 3;
/** Without it the kernel refuses each rename and hard link between two folders, also where nothing else is handled. */
const REFER = 1 << 13;
const ALL = (1 << 16) - 1;
const DEVICES = (1 << 6) | (1 << 11);

export const LANDLOCK_ACCESS = {
  execute: EXECUTE,
  read: READ_FILE | READ_FOLDER,
  readAndExecute: EXECUTE | READ_FILE | READ_FOLDER,
  /** Everything except executing files and creating device files. */
  write: ALL & ~EXECUTE & ~DEVICES,
} as const;

/**
 * A path and its rights. A path that others may change is opened without following links and must resolve to itself.
 */
export interface LandlockRule {
  path: string;
  access: number;
  isGrant?: boolean;
}

/** The rights that Landlock handles. Of these, only what a rule grants is allowed. */
export interface LandlockRules {
  handled: 'execute' | 'everything';
  rules: readonly LandlockRule[];
}

/** The rules as orders for the launcher. `everything` also blocks TCP, and signals and sockets to outside processes. */
export function landlockRecords({ handled, rules }: LandlockRules): string[] {
  const isEverything = handled === 'everything';
  // The mounts decide what the tool may change. The kernel still refuses to move a file to where it could be executed.
  const anywhere = isEverything ? [] : [{ path: '/', access: REFER, isGrant: false }];
  return [
    `handled=${isEverything ? ALL : EXECUTE | REFER}`,
    `net=${isEverything ? 3 : 0}`,
    `scope=${isEverything ? 3 : 0}`,
    `nofollow=${constants.O_NOFOLLOW}`,
    ...[...rules, ...anywhere].map(
      ({ path, access, isGrant }) => `rule=${isGrant ? 'exact' : 'plain'}:${access}:${path}`,
    ),
  ];
}
