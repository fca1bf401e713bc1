/** The tools that ask for each secret, by the name of the secret. */
export function askedSecrets(
  tools: readonly { name: string; manifest: { secrets: readonly string[] } }[],
): Map<string, string[]> {
  const asked = new Map<string, string[]>();
  for (const { name: tool, manifest } of tools) {
    for (const name of new Set(manifest.secrets)) asked.set(name, [...(asked.get(name) ?? []), tool]);
  }
  return asked;
}
