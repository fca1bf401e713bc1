import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { none } from '../../src/core/sandbox/backends/none.ts';
import { architecture } from '../../src/core/sandbox/profile/profile.ts';
import type { SandboxBackend } from '../../src/core/sandbox/sandbox.ts';
import { numberOf } from '../../src/core/sandbox/seccomp/system-calls.ts';
import { trustedProgram } from '../../src/core/sandbox/trusted-program.ts';
import { processesOf, until } from '../support/project.ts';
import { SandboxRig, type SandboxStart } from '../support/sandbox-rig.ts';

const isRoot = process.getuid?.() === 0;
const node = trustedProgram('node');

const WAYS: Readonly<Record<SandboxStart, string>> = {
  now: '',
  ahead: ', started before its tool',
  fork: ', forked before its tool',
};

/** The contract of every backend that is a boundary. Each attack that must fail inside succeeds without a sandbox. */
export function sandboxContract(backend: SandboxBackend, way: SandboxStart = 'now'): void {
  const when = WAYS[way];
  describe(`the sandbox '${backend.name}'${when}, for ${isRoot ? 'root' : 'an ordinary user'}`, () => {
    let rig: SandboxRig;
    before(async () => {
      rig = await SandboxRig.make(way);
    });
    after(() => rig.remove());

    /** A script that prints `harm` if it can do what it must not. */
    async function assertHeld(
      script: string,
      options: Parameters<SandboxRig['bash']>[2] = {},
    ): Promise<void> {
      const inside = await rig.bash(backend, script, options);
      assert.doesNotMatch(inside.stdout, /harm/, `${backend.name}: ${inside.stdout}${inside.stderr}`);
      const control = await rig.bash(none, script, options);
      assert.match(control.stdout, /harm/, `the control did no harm: ${control.stdout}${control.stderr}`);
    }

    describe('lets a tool', () => {
      it('read its grants, its own folder, its secrets, and the base system', async () => {
        const { stdout, stderr, rc } = await rig.bash(
          backend,
          `cat ${rig.readable}/file ../secrets/TOKEN; . ${rig.tool}/helper.sh; ls /usr/bin > /dev/null && echo system`,
        );
        assert.deepEqual([stdout, stderr, rc], ['granted\ntoken\nhelped\nsystem\n', '', 0]);
      });

      it('write to its workspace, its artifacts, its logs, a granted folder, and a temporary folder', async () => {
        const { rc, stderr } = await rig.bash(
          backend,
          `echo 1 > here; echo 2 > ../artifacts/a; echo 3 > ../logs/tool/l; echo 4 > ${rig.writable}/w; echo 5 > "$(mktemp)"; mkdir d; mv here d/there; rm ../logs/tool/l`,
          { env: { TMPDIR: '/tmp' } },
        );
        assert.deepEqual([rc, stderr], [0, '']);
        assert.equal(readFileSync(join(rig.work, 'd/there'), 'utf8'), '1\n');
        assert.equal(readFileSync(join(rig.writable, 'w'), 'utf8'), '4\n');
      });

      it('rename and link files between folders of a place that it may write', async () => {
        const perl = [
          'mkdir "x"; mkdir "y"; open(F, ">", "x/f"); close F',
          'rename("x/f", "y/f") or die "rename: $!"; link("y/f", "x/g") or die "link: $!"',
          'rename("x", "y/x") or die "rename a folder: $!"; print join(" ", sort glob "y/* y/x/*"), "\\n"',
        ].join('; ');
        for (const place of [rig.work, rig.writable]) {
          const script = `cd ${place}; perl -e '${perl}'; rm -r y`;
          const { stdout, stderr } = await rig.bash(backend, script, { request: { commands: ['perl'] } });
          assert.deepEqual([stdout, stderr], ['y/f y/x y/x/g\n', ''], place);
        }
      });

      it('see its cancel file when it appears', async () => {
        const flag = join(rig.run, 'control', 'tool', 'CANCEL');
        const running = await rig.start(
          backend,
          `echo ready; until cat ${flag} 2>/dev/null; do sleep 0.05; done`,
        );
        await until(() => running.stdout() === 'ready\n');
        // Renamed: the tool must not read it before it is written.
        writeFileSync(`${flag}.new`, 'enough\n', { mode: 0o644 });
        renameSync(`${flag}.new`, flag);
        await running.ended;
        assert.equal(running.stdout(), 'ready\nenough\n');
      });

      it('start the commands that its manifest declares', async () => {
        const { stdout } = await rig.bash(backend, 'perl -e "print 1"', { request: { commands: ['perl'] } });
        assert.equal(stdout, '1');
      });

      // An image need not have it.
      if (typeof node !== 'string' && backend.name !== 'container')
        it('start Node, which does not start when it is denied the settings of OpenSSL', async () => {
          const script = `${node.path} -p 6*7`;
          const ran = await rig.bash(backend, script, {
            request: { commands: ['node'], path: dirname(node.path) },
          });
          assert.deepEqual([ran.stdout, ran.stderr], ['42\n', '']);
        });
    });

    describe('keeps a tool from', () => {
      it('reading a path without a grant', () => assertHeld(`cat ${rig.secret} && echo harm`));

      it('reading it through a link of its own', () =>
        assertHeld(
          `ln -sf ${rig.secret} link; cat link && echo harm; ln -sfn / up; cat up${rig.secret} && echo harm`,
        ));

      it('making a hard link to it', () =>
        assertHeld(`rm -f name; ln ${rig.secret} name && echo harm; rm -f name`));

      it('moving or linking anything out of where it may only read, or into it', async () => {
        const moves = [
          [`${rig.readable}/file`, `${rig.writable}/moved`],
          [`${rig.readable}/file`, `${rig.readable}/moved`],
          [`${rig.tool}/helper.sh`, 'moved'],
          [`${rig.writable}/own`, `${rig.readable}/moved`],
        ];
        for (const [from, to] of moves) {
          const names = `("${from}", "${to}")`;
          await assertHeld(
            `echo > ${rig.writable}/own; perl -e 'if (link${names}) { print "harm"; unlink "${to}" }'; rm -f ${rig.writable}/own`,
            { request: { commands: ['perl'] } },
          );
          await assertHeld(
            `echo > ${rig.writable}/own; perl -e 'if (rename${names}) { print "harm"; rename("${to}", "${from}") }'; rm -f ${rig.writable}/own`,
            { request: { commands: ['perl'] } },
          );
        }
      });

      it('writing where it may only read', () =>
        assertHeld(`echo x > ${rig.readable}/new && echo harm; rm -f ${rig.readable}/new`));

      it('writing anywhere else', () =>
        assertHeld(`echo x > ${rig.root}/new && echo harm; rm -f ${rig.root}/new`));

      it('changing itself', () => assertHeld(`echo : >> ${rig.tool}/helper.sh && echo harm`));

      it('writing into its own event log, or claiming its run', async () => {
        const before = readFileSync(rig.events, 'utf8');
        await assertHeld(
          'echo forged >> ../events.jsonl && echo harm; echo {} > ../control/epoch-2 && echo harm; rm -f ../control/epoch-2',
        );
        assert.equal(
          readFileSync(rig.events, 'utf8'),
          `${before}forged\n`,
          'the control wrote it, and nothing else did',
        );
      });

      it('reading other runs and the settings, even in a granted folder', async () => {
        const grants = [{ path: rig.project, access: 'read' as const }];
        const { stdout } = await rig.bash(backend, 'cat ../../../readable/file', { request: { grants } });
        assert.equal(stdout, 'granted\n');
        await assertHeld(
          'cat ../../r-other/events.jsonl && echo harm; cat ../../../.acor/config.yaml && echo harm',
          {
            request: { grants },
          },
        );
      });

      it('starting programs that its manifest does not declare', () =>
        assertHeld('perl -e "print qq(harm)"'));

      if (isRoot)
        it('changing the kernel', () =>
          assertHeld('f=/proc/sys/kernel/core_pattern; { cat $f > $f; } && echo harm'));

      it('signalling processes outside', () => assertHeld(`kill -0 ${process.pid} && echo harm`));

      it('reading the environment of processes outside', () =>
        assertHeld(`tr '\\0' '\\n' < /proc/${process.pid}/environ | grep -q PATH && echo harm`));

      if (backend.tier === 1)
        it('inspecting the process that supervises it', async () => {
          const { stdout } = await rig.bash(
            backend,
            'cat /proc/1/environ && echo harm; ls /proc/1/fd && echo harm',
          );
          assert.equal(stdout, '');
        });

      it('gaining privileges', async () => {
        const status =
          'grep -E "^(CapInh|CapPrm|CapEff|CapAmb|NoNewPrivs|Seccomp):" /proc/self/status | tr -s "\\t\\n" " "; id -u';
        const { stdout } = await rig.bash(backend, status);
        const zero = '0000000000000000';
        assert.match(
          stdout,
          new RegExp(
            `^CapInh: ${zero} CapPrm: ${zero} CapEff: ${zero} CapAmb: ${zero} NoNewPrivs: 1 Seccomp: 2 [1-9]`,
          ),
        );
        assert.match((await rig.bash(none, status)).stdout, /NoNewPrivs: 0 Seccomp: 0/);
      });

      it('setting the setuid and setgid bits', () => assertHeld('echo > f; chmod 4755 f && echo harm'));

      it('making system calls that no tool needs', async () => {
        const call = (name: string, ...args: number[]) =>
          `syscall(${[numberOf(name, architecture() ?? 'x64'), ...args].join(',')})`;
        const perl = `print "harm " if ${call('socket', 1, 1, 0)} >= 0; print "harm " if ${call('personality', 8)} >= 0;`;
        await assertHeld(`perl -e '${perl}'`, { request: { commands: ['perl'] } });
      });
    });

    describe('gives a tool no network', () => {
      let server: Server;
      let port: number;
      before(async () => {
        server = createServer((socket) => socket.end('hello'));
        await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
        port = (server.address() as { port: number }).port;
      });
      after(() => server.close());

      it('not even to the machine itself', () =>
        assertHeld(
          `exec 3<>/dev/tcp/127.0.0.1/${port} && read -r -N 5 word <&3 && [ "$word" = hello ] && echo harm`,
        ));
    });

    it('gives a tool exactly its environment, none of which affects the programs that start the tool', async () => {
      const env = {
        PERL5OPT: '-MNo::Such::Module',
        LD_PRELOAD: '',
        BASH_ENV: '/dev/null',
        VALUE: 'two\nlines ',
      };
      const { stdout, stderr, rc } = await rig.bash(backend, 'echo "$VALUE|$PERL5OPT"; env | wc -l', { env });
      assert.deepEqual([rc, stderr], [0, '']);
      assert.match(stdout, /^two\nlines \|-MNo::Such::Module\n/);
      const control = await rig.bash(none, 'perl -e 1', { env });
      assert.notEqual(control.rc, 0, 'a Perl that heeds it does not even start');
    });

    it('gives a tool no descriptors but its three', async () => {
      const { stdout } = await rig.bash(backend, 'ls /proc/self/fd | sort | tr "\\n" " "');
      assert.equal(stdout, '0 1 2 3 ', 'the last one is that of ls itself');
    });

    it('lets a privileged tool see and do what its user can, except in ACOR’s own folders', async () => {
      if (backend.name === 'container') {
        const asked = rig.bash(backend, 'echo harm', { request: { level: 'privileged' } });
        await assert.rejects(asked, { code: 'E_SANDBOX_UNAVAILABLE' }, 'an image is not the machine');
        return;
      }
      const { stdout } = await rig.bash(
        backend,
        `cat ${rig.secret}; perl -e 'print "any program\n"'; echo x > here && echo wrote; cat ../../r-other/events.jsonl; cat ../../../.acor/config.yaml; echo x >> ../events.jsonl && echo harm; cat ../secrets/TOKEN`,
        { request: { level: 'privileged', network: backend.tier === 1 ? 'host' : 'none' } },
      );
      assert.equal(stdout, 'the secret\nany program\nwrote\ntoken\n');
    });

    it('distinguishes exit codes from signals', async () => {
      for (const [script, rc, signal] of [
        ['exit 0', 0, null],
        ['exit 7', 7, null],
        ['exit 130', 130, null],
        ['exit 255', 255, null],
        ['kill -SEGV $$', null, 'SIGSEGV'],
        ['kill -KILL $$', null, 'SIGKILL'],
      ] as const) {
        const ended = await rig.bash(backend, script);
        assert.deepEqual([ended.rc, ended.signal], [rc, signal], script);
      }
    });

    it('reports the same error for a program that cannot start as without a sandbox', async () => {
      const argv = ['/no/such/program'] as [string];
      await assert.rejects(rig.bash(backend, '', { request: { argv } }), { code: 'E_SPAWN_FAILED' });
    });

    it('starts nothing when it cannot be set up', async () => {
      const missing = join(rig.root, 'missing');
      const folders = { work: missing, writable: [missing], readable: [] };
      const beforeLaunch = () => rmSync(missing, { recursive: true, force: true });
      const trace = join(rig.writable, 'trace');
      await assert.rejects(rig.bash(backend, `touch ${trace}`, { request: { folders }, beforeLaunch }));
      assert.equal(existsSync(trace), false);
    });

    it('does not follow a link that has replaced a granted path', async () => {
      const grant = join(rig.root, 'swapped');
      mkdirSync(grant);
      const beforeLaunch = () => {
        renameSync(grant, `${grant}-away`);
        symlinkSync(join(rig.root, 'outside'), grant);
      };
      const run = rig.bash(backend, `cat ${grant}/secret`, {
        request: { grants: [{ path: grant, access: 'read' }] },
        beforeLaunch,
      });
      await assert.rejects(run, { code: 'E_PERMISSION' });
    });

    describe('when it ends', () => {
      const FAMILY = `trap '' TERM; setsid sh -c 'trap "" TERM; sleep 600' & (setsid sleep 600 &) ; sleep 600 & echo ready; wait`;

      it('passes SIGTERM to the tool', async () => {
        const running = await rig.start(
          backend,
          'trap "sleep 0.1; echo heard; exit 9" TERM; echo ready; while :; do sleep 0.01; done',
        );
        await until(() => running.stdout() === 'ready\n');
        running.tree.signal('SIGTERM');
        const { exit } = await running.ended;
        assert.deepEqual([exit.rc, running.stdout()], [9, 'ready\nheard\n']);
      });

      it('is empty by its own word only when no process of it is alive', async () => {
        const left = await (await rig.start(backend, '(setsid sleep 600 &); echo ready')).ended;
        if (left.isEmpty) assert.deepEqual(processesOf(rig.runId), []);
        // A process that was killed says nothing of what is below it.
        const killed = await rig.start(backend, 'echo ready; sleep 600');
        await until(() => killed.stdout() === 'ready\n');
        process.kill(killed.rootPid, 'SIGKILL');
        assert.equal((await killed.ended).isEmpty ?? false, false);
        assert.deepEqual(await killed.tree.kill(), []);
      });

      it('leaves no process alive after a kill', async () => {
        const running = await rig.start(backend, FAMILY);
        await until(() => running.stdout() === 'ready\n');
        assert.ok(running.tree.members().length >= 4);
        assert.deepEqual(await running.tree.kill(), []);
        const { exit } = await running.ended;
        assert.deepEqual([exit.rc, exit.signal], [null, 'SIGKILL']);
        assert.deepEqual(processesOf(rig.runId), []);
      });
    });
  });
}
