import { ToolError } from './tool-error.ts';

const SAFE_NAME = /^[A-Za-z0-9_-][A-Za-z0-9_.-]*$/;

/** Rejects a name that could lead out of the folder it is used in. */
export function assertFileName(what: string, name: string): void {
  if (SAFE_NAME.test(name) && name.length <= 128) return;
  throw new ToolError(
    'E_USAGE',
    `not a ${what}: ${JSON.stringify(name)}`,
    'Use letters, digits, "_", "-" and ".", at most 128, not beginning with a dot.',
  );
}
