/** A request that the policy does not allow. */
export interface Violation {
  /** Its place: a key of the manifest, or an argument. */
  path: string;
  asked: unknown;
  allowed: unknown;
  /** The line that forbids it, `file:line:column`, or the name of the built-in rules. */
  by: string;
  /** In words. */
  rule: string;
  fix: string;
}

/** Whether a tool may run, and all violations. */
export interface Decision {
  allowed: boolean;
  violations: Violation[];
}
