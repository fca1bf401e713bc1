import { it } from 'node:test';
import { sandboxContract } from '../../../../test/contracts/sandbox.ts';
import { bubblewrap } from './bubblewrap.ts';
import { landlock } from './landlock.ts';

const backends = [
  { backend: bubblewrap, ways: ['now', 'ahead'] },
  { backend: landlock, ways: ['now', 'ahead', 'fork'] },
] as const;

for (const { backend, ways } of backends) {
  const probe = await backend.probe();
  if (probe.available) for (const way of ways) sandboxContract(backend, way);
  else it(`the sandbox '${backend.name}' is not available here (${probe.detail})`, { skip: true }, () => {});
}
