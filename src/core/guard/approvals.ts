import { join } from 'node:path';
import { PrivateFiles } from '../../util/private-files.ts';
import { newSha256 } from '../../util/sha256.ts';
import { userFolder } from '../config/find.ts';
import { writePrivately } from '../config/write-privately.ts';
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

/** The approvals in the user's data folder, never in the project, whose content its author controls. */
export class ApprovalStore {
  readonly #files: PrivateFiles<StoredApproval>;

  constructor(env: Env) {
    const folder = join(userFolder('XDG_DATA_HOME', join('.local', 'share'), env), 'approvals');
    this.#files = new PrivateFiles(
      folder,
      ({ version, digest, files }) => version === 1 && typeof digest === 'string' && Array.isArray(files),
    );
  }

  /** The trusted approval of the tool, if there is one. */
  read(root: string, tool: string): StoredApproval | undefined {
    const found = this.#files.read(nameOf(root, tool));
    return found?.root === root && found.tool === tool ? found : undefined;
  }

  /** All approvals in a project. */
  list(root: string): StoredApproval[] {
    return this.#files
      .list()
      .filter((found) => found.root === root)
      .sort((a, b) => (a.tool < b.tool ? -1 : 1));
  }

  /** Stores an approval. Throws E_STORAGE when it cannot be stored safely. */
  write(approval: StoredApproval): void {
    writePrivately(this.#files, nameOf(approval.root, approval.tool), approval, 'the approval');
  }

  /** Revokes an approval. Returns whether there was one. */
  remove(root: string, tool: string): boolean {
    return this.#files.remove(nameOf(root, tool));
  }
}

function nameOf(root: string, tool: string): string {
  return `${newSha256().update(`${root}\0${tool}`).digest('hex')}.json`;
}
