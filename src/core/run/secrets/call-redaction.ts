import type { LoadedConfig } from '../../config/load.ts';
import type { ResolvedArguments } from '../../registry/arguments.ts';
import type { ToolEntry } from '../../registry/tool-entry.ts';
import { Redaction } from '../../secrets/redaction.ts';
import { coreOf, MIN_SECRET_BYTES } from '../../secrets/secret.ts';
import { SecretStore } from '../../secrets/secret-store.ts';

/**
 * What hides, in all that is told of a call that is not run, the values of its secret inputs and the stored secrets that its tool asks for; null
 * when there are none. What a run would be refused for, a missing secret or one that is too short, is passed over.
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
