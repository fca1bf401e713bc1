/** What a call needs beyond the grants. With `security.on_denied: ask` it is asked for before the tool starts. */
export type MissingPermission =
  | {
      kind: 'path';
      /** Real and absolute. */
      name: string;
      access: 'read' | 'write';
      /** The argument that names it. */
      input: string;
      /** Whether the same grant can stand in the manifest; an output that ACOR puts in place cannot. */
      isGrant: boolean;
    }
  | {
      kind: 'command';
      name: string;
      /** What the same line may start without the manifest naming it, until the manifest names commands. */
      beside: string[];
    };
