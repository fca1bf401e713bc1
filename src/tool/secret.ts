import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { assertFileName } from './file-name.ts';
import { ToolError } from './tool-error.ts';

/** Reads a secret that the manifest lists under `secrets:`; one newline at its end is removed. */
export function secret(name: string): string {
  assertFileName('secret name', name);
  const dir = process.env['SECRETS_DIR'];
  try {
    if (!dir) throw new Error('SECRETS_DIR is not set');
    return readFileSync(join(dir, name), 'utf8').replace(/\n$/, '');
  } catch (cause) {
    throw new ToolError(
      'E_ENV_MISSING',
      `the secret '${name}' is not available to this run`,
      `List '${name}' under secrets: in tool.yaml and store it with: acor secret set ${name}`,
      cause,
    );
  }
}
