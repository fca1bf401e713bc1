import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { writeAtomic } from '../../util/atomic-write.ts';
import { errorCode, errorMessage } from '../../util/error-code.ts';
import { userFolder } from '../config/find.ts';
import type { DigestedFile } from './tool-digest.ts';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * A person's approval of a privileged tool in a project. It is valid while the tool's manifest and entry stay
 * unchanged.
 */
export interface StoredApproval {
  version: 1;
  /** The real path of the project's folder. */
  root: string;
  tool: string;
  digest: string;
  files: DigestedFile[];
  by: string;
  at: string;
}

/**
 * The approvals in the user's data folder, never in the project, whose content its author controls. The folder has the
 * mode 0700 and its files 0600; a file that others could have written is ignored.
 */
export class ApprovalStore {
  readonly folder: string;

  constructor(env: Env) {
    this.folder = join(userFolder('XDG_DATA_HOME', join('.local', 'share'), env), 'approvals');
  }

  /** The trusted approval of the tool, if there is one. */
  read(root: string, tool: string): StoredApproval | undefined {
    return this.#readFile(this.#pathOf(root, tool), (found) => found.root === root && found.tool === tool);
  }

  /** All approvals in a project. */
  list(root: string): StoredApproval[] {
    let names: string[];
    try {
      names = readdirSync(this.folder);
    } catch {
      return [];
    }
    return names
      .flatMap((name) => this.#readFile(join(this.folder, name), (found) => found.root === root) ?? [])
      .sort((a, b) => (a.tool < b.tool ? -1 : 1));
  }

  /** Stores an approval. Throws E_STORAGE when it cannot be stored safely. */
  write(approval: StoredApproval): void {
    try {
      mkdirSync(this.folder, { recursive: true, mode: 0o700 });
      if (!isPrivate(this.folder)) {
        throw new AcorError(
          'E_STORAGE',
          `other users can write to ${this.folder}, so ACOR stores no approval there`,
          {
            hint: `Restrict it to your user: chmod 700 '${this.folder}'`,
          },
        );
      }
      writeAtomic(this.#pathOf(approval.root, approval.tool), `${JSON.stringify(approval)}\n`, {
        durable: true,
        mode: 0o600,
      });
    } catch (error) {
      if (error instanceof AcorError) throw error;
      throw new AcorError(
        'E_STORAGE',
        `the approval could not be stored in ${this.folder}: ${errorCode(error) ?? errorMessage(error)}`,
        { hint: `Check that you have write permission: ${this.folder}`, cause: error },
      );
    }
  }

  /** Revokes an approval. Returns whether there was one. */
  remove(root: string, tool: string): boolean {
    const path = this.#pathOf(root, tool);
    const existed = lstatSync(path, { throwIfNoEntry: false }) !== undefined;
    rmSync(path, { force: true });
    return existed;
  }

  #pathOf(root: string, tool: string): string {
    return join(this.folder, `${createHash('sha256').update(`${root}\0${tool}`).digest('hex')}.json`);
  }

  #readFile(path: string, fits: (found: StoredApproval) => boolean): StoredApproval | undefined {
    try {
      if (!isPrivate(this.folder) || !isPrivate(path)) return undefined;
      const found = JSON.parse(readFileSync(path, 'utf8')) as StoredApproval;
      return found.version === 1 &&
        typeof found.digest === 'string' &&
        Array.isArray(found.files) &&
        fits(found)
        ? found
        : undefined;
    } catch {
      return undefined;
    }
  }
}

/** Whether a file or folder belongs to this user, is not a link, and is not writable for others. */
function isPrivate(path: string): boolean {
  const stats = lstatSync(path);
  const isOwn = process.getuid === undefined || stats.uid === process.getuid();
  return isOwn && !stats.isSymbolicLink() && (stats.mode & 0o022) === 0;
}
