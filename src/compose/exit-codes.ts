/** What a command's exit code says: it is done, it failed, or something must be provided first. */
export const EXIT = { done: 0, failed: 1, blocked: 2 } as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
