import { AcorError } from '../../../protocol/acor-error.ts';
import type { SecretInjection } from '../../../protocol/manifest-secrets.ts';
import { storeSecret } from '../../../protocol/next-steps.ts';
import type { LoadedConfig } from '../../config/load.ts';
import type { ResolvedArguments } from '../../registry/arguments.ts';
import type { ToolEntry } from '../../registry/tool-entry.ts';
import { headerValue } from '../../secrets/header-value.ts';
import { Redaction } from '../../secrets/redaction.ts';
import { coreOf, MIN_SECRET_BYTES, type Secret } from '../../secrets/secret.ts';
import { SecretStore } from '../../secrets/secret-store.ts';
import type { PlanServices } from '../plan/check-tool.ts';
import type { RunRequest } from '../run-request.ts';
import { RunSecrets } from './run-secrets.ts';

/** Reads the secrets of a run. Throws E_ENV_MISSING with the names of all missing secrets. */
export function planSecrets(
  { config }: PlanServices,
  tool: ToolEntry,
  { secretInputs }: Pick<ResolvedArguments, 'secretInputs'>,
  { env }: Pick<RunRequest, 'env'>,
): RunSecrets {
  const store = new SecretStore(config.root, env);
  const read = [...new Set(tool.manifest.secrets)].map((name) => ({ name, bytes: store.read(name) }));
  const missing = read.filter(({ bytes }) => bytes === undefined).map(({ name }) => name);
  if (missing.length > 0) throw missingSecrets(tool, missing);
  const inputs = secretInputs
    .filter(({ text }) => text !== '')
    .map(({ name, text }) => ({ name, bytes: Buffer.from(text) }));
  for (const input of inputs) checkInput(tool, input);
  const injections = tool.manifest.secret_injections ?? [];
  for (const each of injections) checkInjection(each, read as Secret[]);
  return new RunSecrets(read as Secret[], inputs, injections);
}

/** Servers take no longer headers, and the search for a longer value would need too much memory. */
const MAX_INJECTED_BYTES = 8192;

function checkInjection({ name, header, format }: SecretInjection, secrets: readonly Secret[]): void {
  const { bytes } = secrets.find((each) => each.name === name)!;
  const isLong = bytes.length > MAX_INJECTED_BYTES;
  if (!isLong && headerValue(format, bytes) !== undefined) return;
  const what = isLong
    ? `more than ${MAX_INJECTED_BYTES} bytes`
    : 'several lines, or characters that are not ASCII';
  throw new AcorError(
    'E_ENV_MISSING',
    `the stored secret '${name}' cannot be put into the header ${header}: it has ${what}`,
    { hint: 'Store the value as the service expects it in the header.', next: [storeSecret(name)] },
  );
}

function missingSecrets({ name: tool }: ToolEntry, missing: readonly string[]): AcorError {
  const what = missing.length === 1 ? 'the secret' : 'the secrets';
  return new AcorError(
    'E_ENV_MISSING',
    `tool '${tool}' needs ${what} ${missing.join(', ')}, which ${missing.length === 1 ? 'is' : 'are'} not stored`,
    {
      hint: 'Store each missing secret.',
      next: missing.map(storeSecret),
      details: { missing },
    },
  );
}

function checkInput({ name: tool }: ToolEntry, { name, bytes }: Secret): void {
  const { length } = coreOf(bytes);
  if (length >= MIN_SECRET_BYTES) return;
  throw new AcorError(
    'E_USAGE',
    `the secret input '${name}' of tool '${tool}' has ${length} bytes; a secret of fewer than ${MIN_SECRET_BYTES} bytes cannot be redacted`,
    { hint: `Pass a longer value, or remove 'secret: true' from the tool's manifest.` },
  );
}

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
