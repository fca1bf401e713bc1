import { it } from 'node:test';
import { sandboxContract } from '../../../../test/contracts/sandbox.ts';
import { bubblewrap } from './bubblewrap.ts';
import { landlock } from './landlock.ts';

for (const backend of [bubblewrap, landlock]) {
  const probe = await backend.probe();
  if (probe.available) for (const startsAhead of [false, true]) sandboxContract(backend, { startsAhead });
  else it(`the sandbox '${backend.name}' is not available here (${probe.detail})`, { skip: true }, () => {});
}
