import type { LoadedConfig } from '../../config/load.ts';
import type { ResolvedArguments } from '../../registry/arguments.ts';
import type { ToolEntry } from '../../registry/tool-entry.ts';
import { Redaction } from '../../secrets/redaction.ts';
import { coreOf, MIN_SECRET_BYTES } from '../../secrets/secret.ts';
import { SecretStore } from '../../secrets/secret-store.ts';

/**
 * The redaction for a call that is explained or checked but not run: it hides the values of secret inputs and the stored secrets that the
 * tool needs. Null when there are none. Missing or too short secrets are skipped here; a run would be refused for them.
 */
export function callRedaction(
  config: LoadedConfig,
  { manifest }: ToolEntry,
  { secretInputs }: ResolvedArguments,
  env: Readonly<Record<string, string | undefined>>,
): Redaction | null {
  const store = new SecretStore(config.root, env);
  const stored = [...new Set(manifest.secrets)].flatMap((name) => {
    const bytes = store.read(name);
    return bytes === undefined ? [] : [{ name, bytes }];
  });
  const inputs = secretInputs.map(({ name, text }) => ({ name, bytes: Buffer.from(text) }));
  const secrets = [...stored, ...inputs].filter(({ bytes }) => coreOf(bytes).length >= MIN_SECRET_BYTES);
  return secrets.length === 0 ? null : new Redaction(secrets);
}
