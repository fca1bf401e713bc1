import { execFile } from 'node:child_process';

type Env = Readonly<Record<string, string | undefined>>;

/** The first Node that runs TypeScript without a flag. */
const LEAST = [22, 18] as const;
const LIMIT_MS = 10_000;

const known = new Map<string, Promise<string | undefined>>();

/** The version of a Node that cannot run TypeScript; undefined for one that can, or that does not report its version. */
export async function tooOldForTypeScript(node: string, env: Env): Promise<string | undefined> {
  if (!known.has(node)) known.set(node, versionOf(node, env));
  const version = await known.get(node);
  const [, major, minor] = /^v(\d+)\.(\d+)\./.exec(version ?? '') ?? [];
  if (major === undefined) return undefined;
  const isRecent = Number(major) > LEAST[0] || (Number(major) === LEAST[0] && Number(minor) >= LEAST[1]);
  return isRecent ? undefined : version;
}

function versionOf(node: string, { PATH, HOME }: Env): Promise<string | undefined> {
  // A version manager's shim finds the real program by these variables.
  const env = { ...(PATH !== undefined && { PATH }), ...(HOME !== undefined && { HOME }) };
  return new Promise((resolve) => {
    execFile(node, ['--version'], { env, cwd: '/', timeout: LIMIT_MS }, (error, stdout) =>
      resolve(error === null ? stdout.trim() : undefined),
    );
  });
}
