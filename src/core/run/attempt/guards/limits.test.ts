import { it } from 'node:test';
import { limitsContract } from '../../../../../test/contracts/limits.ts';
import { bubblewrap } from '../../../sandbox/backends/bubblewrap.ts';
import { landlock } from '../../../sandbox/backends/landlock.ts';
import { none } from '../../../sandbox/backends/none.ts';

for (const backend of [bubblewrap, landlock, none]) {
  const probe = await backend.probe();
  if (probe.available) limitsContract(backend);
  else
    it(`the limits under '${backend.name}' are not tried here (${probe.detail})`, { skip: true }, () => {});
}
