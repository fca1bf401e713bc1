import assert from 'node:assert/strict';
import { createServer, type Server, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { bubblewrap } from '../../src/core/sandbox/backends/bubblewrap.ts';
import { processesOf, TestProject, until } from '../support/project.ts';

const probe = await bubblewrap.probe();

describe('the network of a tool', {
  skip: !probe.available && `bubblewrap is not available here (${probe.detail})`,
}, () => {
  let project: TestProject;
  let server: Server;
  let port: number;
  const connected = new Set<Socket>();
  before(async () => {
    server = createServer((socket) => {
      connected.add(socket);
      socket.on('error', () => {}).on('close', () => connected.delete(socket));
      socket.write('hello\n');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as { port: number }).port;
    project = new TestProject({
      config: `version: 1\nenvironment: { cancel_grace_s: 0.3 }\nsecurity:\n  allow_private_egress: ['api.test:${port}']\n  egress_hosts: { api.test: 127.0.0.1, inner.test: 127.0.0.1 }\n`,
    });
    tool('calls', [`api.test:${port}`, `inner.test:${port}`, 'bücher.test:443']);
    tool('local', ['127.0.0.1:5432', 'api.test:443']);
    tool('wide', ['*.test:443']);
    tool('mute', []);
  });
  after(() => {
    server.close();
    project[Symbol.dispose]();
  });

  function tool(name: string, hosts: readonly string[]): void {
    project.write(
      `tools/${name}/tool.yaml`,
      `name: ${name}\nversion: 1.0.0\nadapter: plain\npermissions:\n  network:\n    egress_allow: ${JSON.stringify(hosts)}\ninputs:\n  - { name: script, type: string, required: true, positional: true }\n`,
    );
    project.write(`tools/${name}/cli.sh`, '#!/bin/bash\n[ "$1" != -- ] || shift\neval "$1"\n');
  }

  const GREET = (host: string) => `exec 3<>/dev/tcp/${host} && read -r word <&3 && echo "$word"`;

  it('is opened host by host, and every kind of connection is an event', async () => {
    const script = `${GREET(`api.test/${port}`)}; for n in 1 2 3; do ${GREET(`inner.test/${port}`)}; done; ${GREET('other.test/80')}; true`;
    const run = await project.run(['calls', script]);
    assert.deepEqual(
      [run.end.state, run.of('log').filter(({ msg }) => msg === 'hello').length],
      ['completed', 1],
    );
    const isolation = run.of('runner_start')[0]!.isolation as Record<string, unknown>;
    assert.deepEqual(isolation['egress'], [`api.test:${port}`, `inner.test:${port}`, 'bücher.test:443']);
    assert.ok((isolation['enforced'] as string[]).includes('network'));
    const [allowed, total] = run.of('runner_log');
    const { host, address, level } = allowed as Record<string, unknown>;
    assert.deepEqual([host, address, level], ['api.test', '127.0.0.1', 'info']);
    assert.deepEqual([total!.allowed, total!.failed], [1, 0]);
    const denied = run.of('runner_warning');
    assert.deepEqual(
      denied.map(({ code, host: name, allow }) => [code, name, (allow as { line: string }).line]),
      [
        ['E_POLICY_DENIED', 'inner.test', `- inner.test:${port}`],
        ['E_POLICY_DENIED', 'other.test', '- other.test:443'],
      ],
    );
  });

  it('is shown by a dry run', async () => {
    const { data } = await project.envelope(['run', 'calls', 'true', '--dry-run']);
    assert.deepEqual(data.isolation.egress, [`api.test:${port}`, `inner.test:${port}`, 'bücher.test:443']);
    assert.ok(data.env.includes('HTTPS_PROXY'));
    const mute = await project.envelope(['run', 'mute', 'true', '--dry-run']);
    assert.deepEqual([mute.data.isolation.egress, mute.data.env.includes('HTTPS_PROXY')], [undefined, false]);
  });

  it('is rejected before anything starts when it could never be opened', async () => {
    const local = await project.envelope(['run', 'local', 'true', '--no-stream']);
    assert.deepEqual([local.code, local.error.code], [2, 'E_POLICY_DENIED']);
    assert.match(local.error.hint, /allow_private_egress: - '127\.0\.0\.1:5432'$/);
    const wide = await project.envelope(['run', 'wide', 'true', '--no-stream']);
    assert.equal(wide.error.code, 'E_POLICY_DENIED');
  });

  it('ends with the run, also when the run is cancelled', async () => {
    const running = project.start(['run', 'calls', `${GREET(`api.test/${port}`)}; read -r word <&3`]);
    await running.event('log');
    assert.equal(connected.size, 1);
    running.child.kill('SIGINT');
    const { stdout } = await running.finished;
    assert.match(stdout, /"state":"cancelled"/);
    await until(() => connected.size === 0);
  });

  it('leaves nothing alive when its supervisor is killed', async () => {
    const running = project.start([
      'run',
      'calls',
      `${GREET(`api.test/${port}`)}; read -r word <&3; sleep 600`,
    ]);
    const { run_id } = await running.event('log');
    const runId = String(run_id);
    assert.equal(connected.size, 1);
    assert.ok(processesOf(runId).length > 0);
    await project.killSupervisor(runId);
    await until(() => connected.size === 0 && processesOf(runId).length === 0);
  });

  it('is probed by acor health', async () => {
    const { data } = await project.envelope(['health']);
    const check = data.checks.find(({ name }: { name: string }) => name === 'network');
    assert.equal(check.status, 'ok', check.detail);
  });
});
