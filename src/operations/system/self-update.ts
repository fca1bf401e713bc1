import { installation } from '../../core/registry/own-files.ts';
import { shellCommand } from '../../util/shell-words.ts';
import { unreachable } from '../../util/unreachable.ts';

/** The command that updates ACOR itself from where it was installed. A single program is replaced by hand. */
export function selfUpdate(): string {
  const { how, folder } = installation();
  switch (how) {
    case 'npm':
      // npx keeps packages in a folder of its cache, and takes the newest when it is asked to.
      if (folder.split('/').includes('_npx')) return shellCommand(['npx', 'acor@latest']);
      return shellCommand(['npm', '--prefix', folder, 'update', 'acor']);
    case 'npm-global':
      return shellCommand(['npm', '--global', '--prefix', folder, 'update', 'acor']);
    case 'checkout':
      return shellCommand(['git', '-C', folder, 'pull', '--ff-only']);
    case 'program':
      return `Replace ${process.execPath} with the program of a later release.`;
    default:
      return unreachable(how);
  }
}
