/** Something that was asked for and that the policy does not allow. */
export interface Violation {
  /** Its place: a key of the manifest, or the argument that asks for it. */
  path: string;
  asked: unknown;
  allowed: unknown;
  /** The line that refuses it, `file:line:column`, or what stands for the built-in rules. */
  by: string;
  /** In words. */
  rule: string;
  fix: string;
}

/** Whether a tool may run, and the whole list of what stands against it. */
export interface Decision {
  allowed: boolean;
  violations: Violation[];
}
