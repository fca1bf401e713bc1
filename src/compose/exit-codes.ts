/** The exit codes of a command: done, failed, or something must be provided first. */
export const EXIT = { done: 0, failed: 1, blocked: 2 } as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
