import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { PrivateFiles } from '../../util/private-files.ts';
import { newSha256 } from '../../util/sha256.ts';
import { userFolder } from './find.ts';
import type { Widening } from './widening.ts';
import { writePrivately } from './write-privately.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** A person's trust in the settings by which a project widens security. It is valid while these settings stay the same. */
export interface StoredTrust {
  version: 1;
  /** The real path of the project's folder. */
  root: string;
  digest: string;
  /** What the person saw. */
  settings: { key: string; value: unknown; leads_to?: string[] }[];
  by: string;
  at: string;
}

/** The trust of this user in projects: in the user's data folder, never in the project. */
export class TrustStore {
  readonly #files: PrivateFiles<StoredTrust>;

  constructor(env: Env) {
    const folder = join(userFolder('XDG_DATA_HOME', join('.local', 'share'), env), 'trust');
    this.#files = new PrivateFiles(
      folder,
      ({ version, digest, settings }) =>
        version === 1 && typeof digest === 'string' && Array.isArray(settings),
    );
  }

  read(root: string): StoredTrust | undefined {
    const real = realpathSync(root);
    const found = this.#files.read(nameOf(real));
    return found?.root === real ? found : undefined;
  }

  /** Where the trust in a project is stored, if there is any. */
  fileOf(root: string): string {
    return join(this.#files.folder, nameOf(realpathSync(root)));
  }

  /** Throws E_STORAGE when it cannot be stored safely. */
  write(root: string, widenings: readonly Widening[], given: { by: string; at: string }): void {
    const real = realpathSync(root);
    const settings = widenings.map(({ key, asked, leads_to }) => ({
      key,
      value: asked,
      ...(leads_to !== undefined && { leads_to }),
    }));
    const trust: StoredTrust = { version: 1, root: real, digest: trustDigest(widenings), settings, ...given };
    writePrivately(this.#files, nameOf(real), trust, 'the trust');
  }

  /** Revokes the trust. Returns whether there was one. */
  remove(root: string): boolean {
    return this.#files.remove(nameOf(realpathSync(root)));
  }
}

/** Changes with every setting that widens something, and with the places to which its folders lead; with nothing else. */
export function trustDigest(widenings: readonly Widening[]): string {
  const content = widenings
    .map(
      ({ key, asked, expanded, leads_to, files }) =>
        [key, asked, leads_to, ...(expanded === undefined ? [] : [expanded]), ...(files ?? [])] as const,
    )
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return newSha256()
    .update(JSON.stringify(['acor-trust-2', ...content]))
    .digest('hex');
}

function nameOf(root: string): string {
  return `${newSha256().update(root).digest('hex')}.json`;
}
