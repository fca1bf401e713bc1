import assert from 'node:assert/strict';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { type ProjectFolder, projectFolder } from '../../../../test/support/project-folder.ts';
import { tasksFor } from '../profile/limits.ts';
import type { Mount } from '../profile/mounts.ts';
import type { Profile } from '../profile/profile.ts';
import { type ContainerOrder, containerArguments } from './container-arguments.ts';

const NONE = { groups: false, keepsId: false, lowersLimits: false, landlock: false };

describe('the command line of a container', () => {
  let folder: ProjectFolder;
  beforeEach(() => {
    folder = projectFolder({ 'in/file': '', 'out/x': '' });
    folder.folder('empties');
  });
  afterEach(() => folder.remove());

  function argumentsFor(mounts: readonly Mount[], more: Partial<ContainerOrder> = {}): string[] {
    return containerArguments({
      profile: { mounts } as unknown as Profile,
      features: NONE,
      orders: '/orders',
      empties: folder.at('empties'),
      name: 'acor-1',
      runId: 'r-1',
      image: 'image:1',
      hasStdin: false,
      asRoot: false,
      limits: {},
      ...more,
    });
  }

  const ALWAYS = [
    '--rm',
    '--name',
    'acor-1',
    '--label',
    'acor.run=r-1',
    '--pull=never',
    '--log-driver=none',
    '--stop-timeout=0',
    '--network=none',
    '--hostname=sandbox',
    '--ipc=private',
    '--read-only',
    '--workdir=/',
    '--cap-drop=all',
    '--security-opt=no-new-privileges',
    '--no-healthcheck',
  ];
  const user = `--user=${process.getuid!()}:${process.getgid!()}`;
  const tmp = (bytes: number) => [
    '--mount',
    `type=tmpfs,destination=/tmp,tmpfs-size=${bytes},tmpfs-mode=1777`,
  ];
  const nothing = (path: string) => [
    '--mount',
    `type=tmpfs,destination=${path},tmpfs-size=65536,tmpfs-mode=0555,ro`,
  ];
  const END = [
    '--mount',
    'type=bind,source=/orders,destination=/.acor',
    '--entrypoint=/usr/bin/perl',
    'image:1',
  ];

  it('takes everything away, and gives the temporary folders back', () => {
    assert.deepEqual(argumentsFor([]), [
      ...ALWAYS,
      user,
      '--shm-size=16777216b',
      ...tmp(64_000_000),
      ...nothing('/run'),
      ...nothing('/var/tmp'),
      ...END,
    ]);
  });

  it('has what the features and the limits ask for', () => {
    const all = { groups: true, keepsId: true, lowersLimits: true, landlock: true };
    const limits = { memory_mb: 1.5, processes: 10, tmp_mb: 0.5 };
    const given = argumentsFor([], { features: all, limits, hasStdin: true });
    assert.deepEqual(
      given.filter((each) => !ALWAYS.includes(each)),
      [
        '--interactive',
        '--userns=keep-id',
        user,
        '--memory=1500000b',
        `--pids-limit=${tasksFor(10)}`,
        '--ulimit=nofile=1024:1024',
        '--ulimit=nproc=4096:4096',
        '--shm-size=16777216b',
        ...tmp(500_000),
        ...nothing('/run'),
        ...nothing('/var/tmp'),
        ...END,
      ].filter((each) => !ALWAYS.includes(each)),
    );
    const without = argumentsFor([], { features: { ...NONE, groups: true } });
    assert.ok(!without.some((each) => each.startsWith('--memory') || each.startsWith('--pids')));
  });

  it('starts as root where the launcher changes to the tool’s user', () => {
    const given = argumentsFor([], { asRoot: true, features: { ...NONE, keepsId: true } });
    assert.deepEqual(given.slice(ALWAYS.length, ALWAYS.length + 4), [
      '--user=0:0',
      '--cap-add=SETUID',
      '--cap-add=SETGID',
      '--cap-add=SETPCAP',
    ]);
  });

  it('mounts what is granted, and nothing over it', () => {
    const given = argumentsFor([
      { path: '/tmp', access: 'write' },
      { path: folder.at('in'), access: 'read', isGrant: true },
      { path: '/run', access: 'read' },
      { path: '/layer', access: 'write', from: folder.at('out'), isGrant: true },
    ]);
    assert.deepEqual(
      given.slice(ALWAYS.length + 2, -4),
      [
        ...nothing('/var/tmp'),
        ...END.slice(0, 2),
        '--mount',
        'type=bind,source=/tmp,destination=/tmp',
        '--mount',
        `type=bind,source=${folder.at('in')},destination=${folder.at('in')},readonly`,
        '--mount',
        'type=bind,source=/run,destination=/run,readonly',
        ...[],
      ].slice(0, given.length - ALWAYS.length - 6),
    );
    assert.ok(given.includes(`type=bind,source=${folder.at('out')},destination=/layer`));
  });

  it('hides a folder by an empty one that has places for what is granted within it', () => {
    const hidden = folder.at('in');
    folder.folder('in/deep/granted');
    const given = argumentsFor([
      { path: folder.root, access: 'read' },
      { path: hidden, access: 'empty' },
      { path: folder.at('in/deep/granted'), access: 'read' },
      { path: folder.at('in/file'), access: 'read' },
    ]);
    const source = folder.at('empties/1');
    assert.ok(given.includes(`type=bind,source=${source},destination=${hidden},readonly`));
    assert.deepEqual(readdirSync(source).sort(), ['deep', 'file']);
    assert.equal(statSync(`${source}/deep/granted`).isDirectory(), true);
    assert.equal(statSync(`${source}/file`).isFile(), true);
    assert.equal(statSync(`${source}/deep`).mode & 0o777, 0o755);
    assert.equal(existsSync(folder.at('empties/0')), false);
  });

  it('is refused for a grant that leads elsewhere, or cannot be written down', () => {
    folder.link('moved', folder.at('in'));
    const granted = (path: string) => () => argumentsFor([{ path, access: 'read', isGrant: true }]);
    assert.throws(granted(folder.at('moved')), { code: 'E_PERMISSION', message: /it leads elsewhere now$/ });
    assert.throws(granted(folder.at('none')), {
      code: 'E_PERMISSION',
      message: /changed after it was granted: /,
    });
    folder.folder('a,b');
    assert.throws(granted(folder.at('a,b')), {
      code: 'E_PERMISSION',
      message: /cannot be mounted in a container$/,
    });
    // A path that ACOR chose itself is not followed.
    assert.doesNotThrow(() => argumentsFor([{ path: folder.at('moved'), access: 'read' }]));
  });
});
