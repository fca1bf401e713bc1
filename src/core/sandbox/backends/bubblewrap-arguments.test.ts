import assert from 'node:assert/strict';
import { closeSync, readFileSync, readlinkSync } from 'node:fs';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { openFiles } from '../../../../test/support/open-files.ts';
import { type ProjectFolder, projectFolder } from '../../../../test/support/project-folder.ts';
import type { EgressLayout } from '../egress/layout.ts';
import type { Mount } from '../profile/mounts.ts';
import type { Profile } from '../profile/profile.ts';
import { scratchFile } from '../scratch-file.ts';
import { type BubblewrapOrder, bubblewrapArguments, OWN_ENVIRONMENT } from './bubblewrap-arguments.ts';

const FEATURES = { canBindDescriptors: true, canDisableNamespaces: true, canMountProc: true };
const SYSTEM = [
  { path: '/usr', link: null },
  { path: '/bin', link: 'usr/bin' },
  { path: '/etc/ssl/certs', link: null },
];

describe('the command line of bubblewrap', { skip: process.platform !== 'linux' && 'Linux' }, () => {
  let folder: ProjectFolder;
  let fds: number[] = [];
  beforeEach(() => {
    folder = projectFolder({ 'in/file': '', 'out/x': '' });
  });
  afterEach(() => {
    for (const fd of fds.splice(0)) closeSync(fd);
    folder.remove();
  });

  function argumentsFor(
    mounts: readonly Mount[],
    more: Partial<BubblewrapOrder> = {},
    sees: Profile['sees'] = 'listed',
  ) {
    const profile = { sees, system: SYSTEM, mounts, executable: null } as unknown as Profile;
    const made = bubblewrapArguments(
      {
        profile,
        features: FEATURES,
        network: 'none',
        names: null,
        trust: [],
        asRoot: false,
        ids: { uid: 1000, gid: 1001 },
        scratch: folder.root,
        tmpMb: undefined,
        secrets: undefined,
        ...more,
      },
      10,
    );
    fds = made.fds;
    return made.args;
  }

  /** What is behind the descriptor that an option names. */
  const textAt = (args: readonly string[], path: string) =>
    readFileSync(`/proc/self/fd/${fds[Number(args[args.indexOf(path) - 1]) - 10]}`, 'utf8');
  const data = (fd: number, path: string) => ['--perms', '0444', '--file', `${fd}`, path];
  const dir = (path: string) => ['--perms', '0555', '--dir', path];
  const UNSHARED = ['--unshare-ipc', '--unshare-pid', '--unshare-uts', '--unshare-cgroup-try'];
  const LAST = [
    '--die-with-parent',
    '--new-session',
    '--as-pid-1',
    '--hostname',
    'sandbox',
    '--cap-drop',
    'ALL',
  ];
  const BASE = [
    ...dir('/etc'),
    ...dir('/etc/ssl'),
    ...['--ro-bind-try', '/usr', '/usr', '--symlink', 'usr/bin', '/bin'],
    ...['--ro-bind-try', '/etc/ssl/certs', '/etc/ssl/certs'],
  ];
  const KERNEL = [
    '--proc',
    '/proc',
    '--dev',
    '/dev',
    '--size',
    '16777216',
    '--perms',
    '1777',
    '--tmpfs',
    '/dev/shm',
  ];
  const TMP = ['--size', '64000000', '--perms', '1777', '--tmpfs', '/tmp'];
  const ACCOUNTS = [...data(10, '/etc/passwd'), ...data(11, '/etc/group'), ...data(12, '/etc/hosts')];

  it('has namespaces of its own, the base system, and accounts that say nothing of the machine', () => {
    const args = argumentsFor([]);
    assert.deepEqual(args, [
      ...['--unshare-user', '--disable-userns'],
      ...UNSHARED,
      '--unshare-net',
      ...LAST,
      ...BASE,
      ...KERNEL,
      ...TMP,
      ...ACCOUNTS,
      ...['--remount-ro', '/'],
    ]);
    assert.equal(
      textAt(args, '/etc/passwd'),
      'root:x:0:0::/:/bin/sh\ntool:x:1000:1001::/tmp:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n',
    );
    assert.equal(textAt(args, '/etc/group'), 'root:x:0:\ntool:x:1001:\nnogroup:x:65534:\n');
    assert.equal(textAt(args, '/etc/hosts'), '127.0.0.1 localhost sandbox\n::1 localhost\n');
    assert.deepEqual(OWN_ENVIRONMENT, { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' });
  });

  it('keeps the powers of root for the launcher alone', () => {
    const powers = (args: readonly string[]) => args.filter((_, at) => args[at - 1] === '--cap-add');
    const asRoot = argumentsFor([], { asRoot: true, ids: { uid: 0, gid: 0 } });
    assert.deepEqual(powers(asRoot), ['CAP_SETUID', 'CAP_SETGID', 'CAP_SETPCAP']);
    assert.ok(!asRoot.includes('--unshare-user'));
    assert.equal(
      textAt(asRoot, '/etc/passwd'),
      'root:x:0:0::/:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n',
    );
    assert.equal(textAt(asRoot, '/etc/group'), 'root:x:0:\nnogroup:x:65534:\n');
    for (const fd of fds.splice(0)) closeSync(fd);
    const secrets = { folder: '/run/s', files: [], areGivenAway: true };
    assert.deepEqual(powers(argumentsFor([], { asRoot: true, secrets })), [
      'CAP_SETUID',
      'CAP_SETGID',
      'CAP_SETPCAP',
      'CAP_CHOWN',
      'CAP_SYS_ADMIN',
      'CAP_DAC_READ_SEARCH',
    ]);
    for (const fd of fds.splice(0)) closeSync(fd);
    assert.deepEqual(powers(argumentsFor([])), []);
  });

  it('covers what root could write below /proc, and has no /proc where it cannot be mounted', () => {
    const cover = [
      '--ro-bind',
      '/proc/sys',
      '/proc/sys',
      '--ro-bind-try',
      '/proc/sysrq-trigger',
      '/proc/sysrq-trigger',
    ];
    for (const [more, expected] of [
      [{ asRoot: true }, ['--proc', '/proc', ...cover]],
      [{ ids: { uid: 0, gid: 0 } }, ['--proc', '/proc', ...cover]],
      [{}, ['--proc', '/proc']],
      [{ features: { ...FEATURES, canMountProc: false } }, ['--tmpfs', '/proc']],
    ] as const) {
      const args = argumentsFor([], more);
      const at = args.indexOf('/usr') === -1 ? 0 : args.indexOf('/etc/ssl/certs') + 2;
      assert.deepEqual(args.slice(at, args.indexOf('--dev')), expected);
      for (const fd of fds.splice(0)) closeSync(fd);
    }
  });

  it('in a network with listed hosts is its own user there, with its names and certificates', () => {
    const names = { hostsFile: 'hosts\n', resolverFile: 'resolver\n' } as EgressLayout;
    const trust = [{ path: '/etc/ssl/cert.pem', content: 'trusted\n' }];
    const args = argumentsFor([], { network: 'listed', names, trust });
    assert.deepEqual(args.slice(2, 6), ['--uid', '1000', '--gid', '1001']);
    assert.ok(!args.includes('--unshare-net'));
    assert.equal(textAt(args, '/etc/hosts'), 'hosts\n');
    assert.equal(textAt(args, '/etc/resolv.conf'), 'resolver\n');
    assert.equal(textAt(args, '/etc/ssl/cert.pem'), 'trusted\n');
    for (const fd of fds.splice(0)) closeSync(fd);
    assert.ok(!argumentsFor([], { network: 'listed', names, asRoot: true }).includes('--uid'));
    for (const fd of fds.splice(0)) closeSync(fd);
    const bare = argumentsFor([], { features: { ...FEATURES, canDisableNamespaces: false } });
    assert.equal(bare[1], '--unshare-ipc');
  });

  it('mounts each path below folders that all may enter, grants by what was opened', () => {
    const args = argumentsFor(
      [
        { path: '/opt/tool', access: 'read' },
        { path: '/opt/tool/out', access: 'write', from: folder.at('out'), isGrant: true },
        { path: folder.at('in'), access: 'read', isGrant: true },
      ],
      { tmpMb: 1.5 },
    );
    const own = args.slice(args.indexOf('/etc/hosts') + 1);
    const parents = folder.root
      .split('/')
      .slice(1)
      .map((_, at, all) => `/${all.slice(0, at + 1).join('/')}`);
    assert.deepEqual(own, [
      ...['/opt', ...parents.filter((each) => each !== '/tmp')].sort().flatMap(dir),
      ...['--ro-bind', '/opt/tool', '/opt/tool'],
      ...['--bind-fd', '13', '/opt/tool/out'],
      ...['--ro-bind-fd', '14', folder.at('in')],
      ...['--remount-ro', '/'],
    ]);
    assert.ok(args.includes('1500000'));
    assert.deepEqual(
      [3, 4].map((at) => readlinkSync(`/proc/self/fd/${fds[at]}`)),
      [folder.at('out'), folder.at('in')],
    );
    for (const fd of fds.splice(0)) closeSync(fd);
    const features = { ...FEATURES, canBindDescriptors: false };
    const byPath = argumentsFor(
      [{ path: '/layer', access: 'write', from: folder.at('out'), isGrant: true }],
      { features },
    );
    assert.deepEqual(byPath.slice(-5), ['--bind', folder.at('out'), '/layer', '--remount-ro', '/']);
  });

  it('has no own /tmp where one is granted', () => {
    const args = argumentsFor([{ path: '/tmp', access: 'write' }]);
    assert.deepEqual(args.slice(args.indexOf('/etc/hosts') + 1), [
      '--bind',
      '/tmp',
      '/tmp',
      '--remount-ro',
      '/',
    ]);
    assert.ok(!args.includes('64000000'));
  });

  it('hides a folder, with places for what is granted within it', () => {
    const args = argumentsFor([
      { path: '/a', access: 'read' },
      { path: '/a/hidden', access: 'empty' },
      { path: '/a/hidden/deep/er', access: 'read' },
    ]);
    assert.deepEqual(args.slice(args.indexOf('/etc/hosts') + 1), [
      ...['--ro-bind', '/a', '/a'],
      ...['--size', '65536', '--perms', '0555', '--tmpfs', '/a/hidden', ...dir('/a/hidden/deep')],
      ...['--ro-bind', '/a/hidden/deep/er', '/a/hidden/deep/er'],
      ...['--remount-ro', '/'],
    ]);
  });

  it('puts secrets into memory, for the tool’s user alone', () => {
    const files = [{ name: 'key', open: () => scratchFile(folder.root, 'value') }];
    const secrets = { folder: '/run/s', files, areGivenAway: false };
    const args = argumentsFor([{ path: '/run/s', access: 'read' }], { secrets });
    assert.deepEqual(args.slice(args.indexOf('--tmpfs', args.indexOf('/etc/hosts')) - 2, -2), [
      ...['--perms', '0700', '--tmpfs', '/run/s'],
      ...['--perms', '0600', '--file', '13', '/run/s/key'],
      ...['--remount-ro', '/run/s'],
    ]);
    assert.equal(textAt(args, '/run/s/key'), 'value');
    for (const fd of fds.splice(0)) closeSync(fd);
    const given = argumentsFor([], { secrets: { ...secrets, areGivenAway: true } });
    assert.ok(!given.includes('/run/s') || given[given.lastIndexOf('/run/s') - 1] === '--tmpfs');
    for (const fd of fds.splice(0)) closeSync(fd);
    assert.throws(
      () => argumentsFor([{ path: '/run', access: 'write' }], { secrets }),
      /lies where the tool may write/,
    );
  });

  it('sees the whole machine for a privileged tool, but for what is hidden', () => {
    const args = argumentsFor([{ path: '/home/me/.acor', access: 'empty' }], {}, 'all');
    assert.deepEqual(args.slice(args.indexOf('ALL') + 1), [
      ...['--bind', '/', '/'],
      ...KERNEL,
      ...['--size', '65536', '--perms', '0555', '--tmpfs', '/home/me/.acor'],
    ]);
  });

  it('is refused for a grant that leads elsewhere, and for too many, and leaves nothing open', () => {
    folder.link('moved', folder.at('in'));
    const opened = () => openFiles().filter((path) => path.startsWith(folder.root));
    for (const [path, message] of [
      ['moved', /it leads elsewhere now$/],
      ['moved/file', /it leads elsewhere now$/],
      ['none', /changed after it was granted: /],
    ] as const)
      assert.throws(() => argumentsFor([{ path: folder.at(path), access: 'read', isGrant: true }]), {
        code: 'E_PERMISSION',
        message,
      });
    const grants = (count: number) =>
      Array.from({ length: count }, (): Mount => ({ path: folder.at('in'), access: 'read', isGrant: true }));
    assert.throws(() => argumentsFor(grants(201)), {
      code: 'E_PERMISSION',
      message: /^201 paths are granted individually; at most 200/,
    });
    assert.deepEqual(opened(), []);
    argumentsFor(grants(200));
    assert.equal(fds.length, 203);
  });
});
