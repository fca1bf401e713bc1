import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { digestOf, FILTER_DIGESTS } from './assemble-filter.ts';
import { type SeccompRules, seccompFilter } from './filter.ts';
import { type Architecture, AUDIT_ARCHITECTURE, numberOf, REFUSED_CALLS } from './system-calls.ts';

const ALLOWED = 'allowed';
const EPERM = 'errno 1';
const ENOSYS = 'errno 38';
const EOPNOTSUPP = 'errno 95';
const KILLED = 'killed';

/** Some of what no tool may call, named here because a test that only goes through `REFUSED_CALLS` misses what was taken off it. */
const DANGEROUS = [
  'mount',
  'umount2',
  'pivot_root',
  'chroot',
  'setns',
  'unshare',
  'ptrace',
  'process_vm_writev',
  'bpf',
  'perf_event_open',
  'userfaultfd',
  'keyctl',
  'add_key',
  'request_key',
  'io_uring_setup',
  'init_module',
  'finit_module',
  'kexec_load',
  'open_by_handle_at',
  'reboot',
];

/** Runs a filter as the kernel does: over the call's number, its architecture and its 64-bit arguments. */
function decide(program: Buffer, audit: number, call: number, args: readonly bigint[] = []): string {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(call >>> 0, 0);
  data.writeUInt32LE(audit, 4);
  for (const [index, value] of args.entries()) data.writeBigUInt64LE(value, 16 + 8 * index);
  let accumulator = 0;
  for (let at = 0; at < program.length / 8; at++) {
    const code = program.readUInt16LE(at * 8);
    const value = program.readUInt32LE(at * 8 + 4);
    const jump = (holds: boolean) => {
      at += program.readUInt8(at * 8 + (holds ? 2 : 3));
    };
    if (code === 0x20) accumulator = data.readUInt32LE(value);
    else if (code === 0x54) accumulator = (accumulator & value) >>> 0;
    else if (code === 0x15) jump(accumulator === value);
    else if (code === 0x35) jump(accumulator >= value);
    else if (code === 0x45) jump((accumulator & value) !== 0);
    else if (code === 0x05) at += value;
    else if (code === 0x06) return answer(value);
    else throw new Error(`no such instruction: ${code}`);
  }
  throw new Error('the filter has no end');
}

function answer(value: number): string {
  if (value === 0x7fff0000) return ALLOWED;
  return value === 0x80000000 ? KILLED : `errno ${value & 0xffff}`;
}

for (const architecture of ['x64', 'arm64'] as const satisfies Architecture[]) {
  describe(`the filter of system calls on ${architecture}`, () => {
    const rules: SeccompRules = { architecture, internet: true, isShared: false, kind: 'full' };
    const filter = seccompFilter(rules);
    const ask = (name: string, ...args: bigint[]) =>
      decide(filter, AUDIT_ARCHITECTURE[architecture], numberOf(name, architecture)!, args);

    it('refuses every call of the list, and allows what programs live on', () => {
      for (const name of [...REFUSED_CALLS, ...DANGEROUS])
        if (numberOf(name, architecture) !== undefined) assert.equal(ask(name), EPERM, name);
      for (const name of ['execve', 'openat', 'close', 'prctl', 'prlimit64', 'getrusage', 'dup3'])
        assert.equal(ask(name), ALLOWED, name);
    });

    it('compares what the kernel compares: bits above the 32nd make no difference', () => {
      const high = 1n << 40n;
      assert.equal(ask('socket', 1n | high, 1n, 0n), EPERM);
      assert.equal(ask('ioctl', 0n, 0x5412n | high), EPERM);
      assert.equal(ask('fchmod', 3n, 0o4755n | high), EPERM);
      assert.equal(ask('clone', 0x10000000n | high), EPERM);
    });

    it('lets processes and threads be made, and no namespaces', () => {
      assert.equal(ask('clone', 0x11n), ALLOWED);
      assert.equal(ask('clone', 0x3d0f00n), ALLOWED);
      assert.equal(ask('clone3'), ENOSYS);
      for (const flag of [
        0x00020000n,
        0x02000000n,
        0x04000000n,
        0x08000000n,
        0x10000000n,
        0x20000000n,
        0x40000000n,
        0x80n,
      ])
        assert.equal(ask('clone', flag), EPERM, flag.toString(16));
    });

    it('knows the kinds of sockets', () => {
      const withoutInternet = seccompFilter({ ...rules, internet: false });
      const number = numberOf('socket', architecture)!;
      const audit = AUDIT_ARCHITECTURE[architecture];
      for (const family of [2n, 10n]) {
        assert.equal(ask('socket', family, 1n, 0n), ALLOWED);
        assert.equal(decide(withoutInternet, audit, number, [family, 1n, 0n]), EPERM);
      }
      for (const family of [1n, 3n, 17n, 38n, 40n]) assert.equal(ask('socket', family, 1n, 0n), EPERM);
      assert.deepEqual([ask('socket', 16n, 3n, 0n), ask('socket', 16n, 3n, 12n)], [ALLOWED, EPERM]);
      assert.deepEqual([ask('socketpair', 1n, 1n, 0n), ask('socketpair', 2n, 1n, 0n)], [ALLOWED, EPERM]);
    });

    it('lets modes be changed and pipes be made, and no borrowed rights or devices', () => {
      for (const [name, ...before] of [
        ['chmod', 0n],
        ['fchmod', 3n],
        ['fchmodat', 0n, 0n],
        ['fchmodat2', 0n, 0n],
      ] as const) {
        if (numberOf(name, architecture) === undefined) continue;
        assert.equal(ask(name, ...before, 0o1777n), ALLOWED, name);
        for (const mode of [0o4755n, 0o2755n]) assert.equal(ask(name, ...before, mode), EPERM, name);
      }
      if (architecture === 'x64') {
        const modes = [0o010600n, 0o020600n, 0o060600n];
        assert.deepEqual(
          modes.map((mode) => ask('mknod', 0n, mode)),
          [ALLOWED, EPERM, EPERM],
        );
      }
      assert.deepEqual([ask('fchmodat', 0n, 0n, 0o755n), ask('fchmodat', 0n, 0n, 0o2755n)], [ALLOWED, EPERM]);
      assert.deepEqual(
        [
          ask('mknodat', 0n, 0n, 0o010600n),
          ask('mknodat', 0n, 0n, 0o020600n),
          ask('mknodat', 0n, 0n, 0o060600n),
        ],
        [ALLOWED, EPERM, EPERM],
      );
    });

    it('lets files be created without borrowed rights, by every call that creates one', () => {
      const create = 0o101n;
      if (architecture === 'x64') {
        assert.deepEqual(
          [ask('open', 0n, create, 0o644n), ask('open', 0n, create, 0o4755n), ask('open', 0n, 0n, 0o4755n)],
          [ALLOWED, EPERM, ALLOWED],
        );
        assert.deepEqual([ask('creat', 0n, 0o644n), ask('creat', 0n, 0o2755n)], [ALLOWED, EPERM]);
        assert.equal(ask('mknod', 0n, 0o104755n), EPERM);
      }
      assert.deepEqual(
        [
          ask('openat', 0n, 0n, create, 0o644n),
          ask('openat', 0n, 0n, create, 0o6755n),
          ask('openat', 0n, 0n, 0o20000000n, 0o4755n),
          ask('openat', 0n, 0n, 0n, 0o4755n),
          ask('openat2', 0n, 0n, 0n, 0n),
          ask('mknodat', 0n, 0n, 0o104755n),
        ],
        [ALLOWED, EPERM, EPERM, ALLOWED, ENOSYS, EPERM],
      );
    });

    it('has no memory that no process maps, no segments that stay, and no access lists', () => {
      for (const name of ['memfd_create', 'shmget', 'shmat', 'msgget', 'semget'])
        assert.equal(ask(name), ENOSYS, name);
      for (const name of ['setxattr', 'lsetxattr', 'fsetxattr', 'removexattr'])
        assert.equal(ask(name), EOPNOTSUPP, name);
    });

    it('leaves other processes and names of files alone where no namespace does', () => {
      const shared = seccompFilter({ ...rules, internet: false, isShared: true });
      const audit = AUDIT_ARCHITECTURE[architecture];
      const there = (name: string, ...args: bigint[]) =>
        decide(shared, audit, numberOf(name, architecture)!, args);
      for (const name of ['prlimit64', 'sched_setaffinity', 'sched_setscheduler', 'sched_setattr'])
        assert.deepEqual([there(name, 0n), there(name, 1n), ask(name, 1n)], [ALLOWED, EPERM, ALLOWED], name);
      assert.deepEqual(
        [there('setpriority', 0n, 0n), there('setpriority', 0n, 7n), there('setpriority', 2n, 0n)],
        [ALLOWED, EPERM, EPERM],
      );
      assert.deepEqual(
        [there('ioprio_set', 1n, 0n), there('ioprio_set', 1n, 7n), there('ioprio_set', 3n, 0n)],
        [ALLOWED, EPERM, EPERM],
      );
      assert.deepEqual([there('inotify_add_watch'), ask('inotify_add_watch')], [ENOSYS, ALLOWED]);
      assert.deepEqual([there('getxattr'), ask('getxattr')], [EOPNOTSUPP, ALLOWED]);
    });

    it('ends a process that calls by the numbers of another architecture', () => {
      assert.equal(decide(filter, 0x40000003, 1), KILLED);
      if (architecture === 'x64')
        assert.equal(decide(filter, AUDIT_ARCHITECTURE.x64, 0x40000000 | 1), KILLED);
    });

    it('keeps even a tool that may do everything from changing the machine under everybody', () => {
      const small = seccompFilter({ ...rules, kind: 'small' });
      const audit = AUDIT_ARCHITECTURE[architecture];
      assert.equal(decide(small, audit, numberOf('bpf', architecture)!), EPERM);
      assert.equal(decide(small, audit, numberOf('mount', architecture)!), ALLOWED);
      assert.equal(decide(small, audit, numberOf('socket', architecture)!, [1n]), ALLOWED);
    });
  });
}

it('the digests by which filters are cached are those of the rules; after a change of the rules, copy them from here', () => {
  const digests: Record<string, string> = {};
  for (const architecture of ['x64', 'arm64'] as const) {
    for (const kind of ['full', 'small'] as const) {
      for (const { internet, isShared } of [
        { internet: true, isShared: false },
        { internet: false, isShared: false },
        { internet: false, isShared: true },
      ]) {
        const rules = { architecture, kind, internet, isShared };
        const [name] = Object.entries(FILTER_DIGESTS).find(([, digest]) => digest === digestOf(rules))!;
        digests[name] = createHash('sha256').update(seccompFilter(rules)).digest('hex');
      }
    }
  }
  assert.deepEqual(digests, FILTER_DIGESTS);
});
