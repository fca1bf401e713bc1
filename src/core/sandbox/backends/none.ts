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

  async prepare({ argv }) {
    return {
      argv: [...argv],
      isolation: {
        backend: 'none',
        tier: 3,
        enforced: ['environment', 'deadline', 'output', 'process_tree'],
        not_enforced: ['filesystem', 'network', 'commands', 'resources'],
      },
    };
  },
};
