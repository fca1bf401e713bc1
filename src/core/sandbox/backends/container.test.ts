import { it } from 'node:test';
import { sandboxContract } from '../../../../test/contracts/sandbox.ts';
import { engineHere } from '../../../../test/support/container-image.ts';
import { containerBackend } from './container.ts';

const here = engineHere();
if ('settings' in here) {
  const made = containerBackend(here.settings);
  const probe = await made.probe();
  // Tried out once: the contract asks before each of its tools.
  if (probe.available) sandboxContract({ ...made, probe: async () => probe });
  else
    it('the container backend works with the engine of this machine', () =>
      Promise.reject(new Error(probe.detail)));
} else it(`the sandbox 'container' is not available here (${here.reason})`, { skip: true }, () => {});
