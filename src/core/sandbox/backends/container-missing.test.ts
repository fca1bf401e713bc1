import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BACKENDS, chooseBackend } from '../choose.ts';
import { containerBackend } from './container.ts';
import { containerArguments } from './container-arguments.ts';
import { Engine } from './engine.ts';

const SETTINGS = { image: 'tools', command: ['no-such-engine', '--flag', 'run', '--own'] };
const FEATURES = { groups: true, keepsId: false, lowersLimits: false, landlock: true };
const ORDER = {
  profile: {
    ...{ sees: 'listed' as const, system: [], executable: null },
    mounts: [
      { path: '/srv/in', access: 'read' as const },
      { path: '/srv/out', access: 'write' as const },
    ],
    seccomp: { architecture: 'x64' as const, internet: false, isShared: false, kind: 'full' as const },
  },
  ...{ features: FEATURES, orders: '/control/o', empties: '/control/e', name: 'acor-x', runId: 'r-1' },
  ...{ image: 'tools', hasStdin: false, asRoot: true, limits: { memory_mb: 100 } },
};

describe('a container engine that is not here', () => {
  it('is reported with the command that installs it, and no other backend replaces it', async () => {
    const probe = await containerBackend(SETTINGS).probe();
    assert.equal(probe.available, false);
    assert.match(probe.detail, /no-such-engine/);
    assert.match(probe.fix!, /no-such-engine/);
    const chosen = chooseBackend({ isolation: 'preferred', container: SETTINGS }, null);
    await assert.rejects(chosen, { code: 'E_SANDBOX_UNAVAILABLE', message: /container: .*no-such-engine/ });
    const without = await chooseBackend({ isolation: 'off', container: SETTINGS }, null);
    assert.equal(without.backend.name, 'none');
  });
});

describe('the sandboxes from which one is chosen', () => {
  it('are tried from the strongest, each on its own system; without a sandbox a tool runs only where that is wanted', () => {
    assert.deepEqual(
      BACKENDS.map(({ name, tier, platform }) => [name, tier, platform]),
      [
        ['bubblewrap', 1, 'linux'],
        ['landlock', 2, 'linux'],
        ['seatbelt', 2, 'darwin'],
        ['none', 3, undefined],
      ],
    );
  });
});

describe('the command of a container', () => {
  it('is the configured one, then what confines the tool, then the image', () => {
    const engine = new Engine(SETTINGS);
    assert.deepEqual(engine.run('/e'), ['/e', '--flag', 'run', '--own']);
    assert.deepEqual(engine.other('/e', ['rm', 'x']), ['/e', '--flag', 'rm', 'x']);
    assert.deepEqual(new Engine({}).run('/e'), ['/e', 'run'], 'podman, unless another one is named');
    const words = containerArguments(ORDER);
    assert.equal(words.at(-1), 'tools');
    const confining = [
      '--rm',
      '--network=none',
      '--read-only',
      '--cap-drop=all',
      '--security-opt=no-new-privileges',
    ];
    for (const word of [...confining, '--pull=never', '--memory=100000000b'])
      assert.ok(words.includes(word), word);
    assert.ok(words.includes('type=bind,source=/srv/in,destination=/srv/in,readonly'));
    assert.ok(words.includes('type=bind,source=/srv/out,destination=/srv/out'));
  });

  it('is refused for a path that an engine would read as options', () => {
    const mounts = [{ path: '/srv/a,readonly=false', access: 'read' as const }];
    const order = { ...ORDER, profile: { ...ORDER.profile, mounts } };
    assert.throws(() => containerArguments(order), { code: 'E_PERMISSION' });
  });
});
