import { constants } from 'node:fs';

/** What may be done with a file or below a folder, as bits of the kernel. */
const EXECUTE = 1;
const READ_FILE = 1 << 2;
const READ_FOLDER = 1 << 3;
const ALL = (1 << 16) - 1;
const DEVICES = (1 << 6) | (1 << 11);

export const LANDLOCK_ACCESS = {
  execute: EXECUTE,
  read: READ_FILE | READ_FOLDER,
  readAndExecute: EXECUTE | READ_FILE | READ_FOLDER,
  /** Everything but to execute and to make device nodes. */
  write: ALL & ~EXECUTE & ~DEVICES,
} as const;

/** A path and what may be done there. One that others may change is opened without following a link, and must be where it says. */
export interface LandlockRule {
  path: string;
  access: number;
  isGrant?: boolean;
}

/** What the kernel is to ask about; of that, only what a rule names is allowed. */
export interface LandlockRules {
  handled: 'execute' | 'everything';
  rules: readonly LandlockRule[];
}

/** The rules as orders for the launcher. `everything` also keeps the tool from TCP, and from signals and sockets of processes outside. */
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
