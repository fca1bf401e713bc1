/** Numbers that no account has: the range of systemd's dynamic users. */
export const FIRST_RUN_UID = 61_184;
export const LAST_RUN_UID = 65_519;

/** Whether a number is one of those that runs are given. */
export function isRunUser(uid: number): boolean {
  return uid >= FIRST_RUN_UID && uid <= LAST_RUN_UID;
}
