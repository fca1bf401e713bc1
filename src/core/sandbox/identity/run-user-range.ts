/** Uids without an account: the range of systemd's dynamic users. */
export const FIRST_RUN_UID = 61_184;
export const LAST_RUN_UID = 65_519;

/** Whether a uid is in the range that runs get. */
export function isRunUser(uid: number): boolean {
  return uid >= FIRST_RUN_UID && uid <= LAST_RUN_UID;
}
