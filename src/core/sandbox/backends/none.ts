import { BY_THE_RUNNER } from '../enforced.ts';
import type { SandboxBackend } from '../sandbox.ts';

/**
 * No confinement by the system. What the runner itself does holds: the listed environment, a session of its own, the
 * clocks, the limit on output, the death of the whole tree. Files, network and resources are not enforced, and it says so.
 */
export const none: SandboxBackend = {
  name: 'none',
  tier: 3,

  async probe() {
    return {
      available: true,
      detail: 'tools run with the rights of this user; files, network and resources are not confined',
    };
  },

  async confine({ argv, folders }) {
    return {
      isolation: {
        backend: 'none',
        tier: 3,
        enforced: [...BY_THE_RUNNER],
        not_enforced: ['filesystem', 'network', 'commands', 'resources'],
      },
      changesUser: false,
      launch: ({ env, stdin, stdout, stderr }) => ({
        spawn: { argv, cwd: folders.work, env, stdout, stderr, ...(stdin !== undefined && { stdin }) },
        keepers: 0,
        hasEnded: () => false,
        settle: (exit) => ({ exit, left: 0 }),
        release() {},
        close() {},
      }),
    };
  },
};
