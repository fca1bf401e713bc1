import { constants } from 'node:fs';

/** Landlock access rights for a file or a folder, as the kernel's bits. */
const EXECUTE = 1;
const READ_FILE = 1 << 2;
const READ_FOLDER = 1 << 3;
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
  return [
    `handled=${isEverything ? ALL : EXECUTE}`,
    `net=${isEverything ? 3 : 0}`,
    `scope=${isEverything ? 3 : 0}`,
    `nofollow=${constants.O_NOFOLLOW}`,
    ...rules.map(({ path, access, isGrant }) => `rule=${isGrant ? 'exact' : 'plain'}:${access}:${path}`),
  ];
}
