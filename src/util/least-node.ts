/** The oldest Node.js that ACOR's JavaScript runs in: it has `node:sqlite` and what the library calls. */
const LEAST = [22, 22] as const;

/** Why this process cannot run ACOR's JavaScript; undefined in a Node.js that can, and in Bun. */
export function problemOfNode(): string | undefined {
  if (process.versions['bun'] !== undefined) return undefined;
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > LEAST[0] || (major === LEAST[0] && minor >= LEAST[1])) return undefined;
  return `ACOR's JavaScript needs Node.js ${LEAST.join('.')} or later; this is ${process.versions.node}`;
}
