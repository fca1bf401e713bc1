import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { Engine } from '../../src/core/sandbox/backends/engine.ts';
import { engineHere } from '../support/container-image.ts';
import { processesOf, TestProject, until } from '../support/project.ts';

const here = engineHere();

if ('reason' in here) it(`runs in containers are not tried here (${here.reason})`, { skip: true }, () => {});
else {
  const { command, image } = here.settings;
  const engine = new Engine(here.settings);
  // Podman is the default engine.
  const named = engine.isPodman ? '' : `, command: [${command.join(', ')}]`;
  const security = `security: { container: { image: ${image}${named} } }\n`;
  const CONFIG = `version: 1\nenvironment: { cancel_grace_s: 0.3 }\n${security}`;
  const STUBBORN =
    "#!/bin/bash\ntrap '' TERM\nsetsid sleep 600 &\necho there\nwhile :; do sleep 0.01; done\n";

  /** Whether the engine still has a container of this run. */
  const isKnown = (runId: string) => {
    const words = ['ps', '--all', '--quiet', '--filter', `label=acor.run=${runId}`];
    const [file, ...args] = engine.other(engine.program!.path, words);
    return spawnSync(file, args, { env: engine.env, encoding: 'utf8' }).stdout.trim() !== '';
  };

  describe('a tool in a container', () => {
    it('runs, and its run records the engine as its isolation', async () => {
      using project = new TestProject({ config: CONFIG });
      project.write('tools/greet', '#!/bin/bash\necho "hello $1"\necho x > "$ARTIFACTS_DIR/made"\n', 0o755);
      const run = await project.run(['greet', 'you']);
      assert.equal(run.end.state, 'completed', run.stdout);
      const [{ isolation }] = run.of('runner_start') as unknown as [{ isolation: Record<string, string[]> }];
      assert.equal(isolation.backend, 'container');
      assert.equal(isolation.image, image);
      assert.ok(isolation.not_enforced!.includes('resources'));
      assert.match(JSON.stringify(run.of('runner_log')), /hello you/);
      assert.match(JSON.stringify(run.of('artifact')), /made/);
    });

    it('leaves nothing alive when it has to be killed', async () => {
      using project = new TestProject({ config: CONFIG });
      project.write('tools/stubborn', STUBBORN, 0o755);
      const running = project.start(['run', 'stubborn']);
      const { run_id: runId } = (await running.event('runner_log')) as unknown as { run_id: string };
      await project.acor(['cancel', runId]);
      const { stdout } = await running.finished;
      const end = JSON.parse(stdout.trim().split('\n').at(-1)!);
      assert.deepEqual([end.state, end.survivors], ['cancelled', []], stdout);
      assert.deepEqual(processesOf(runId), []);
      assert.equal(isKnown(runId), false);
    });

    it('is removed when its supervisor is killed', async () => {
      using project = new TestProject({ config: CONFIG });
      // The process inside cannot be found by its environment.
      project.write('tools/stubborn', `#!/bin/bash\necho there\nexec env -i sleep 600\n`, 0o755);
      const running = project.start(['run', 'stubborn']);
      const { run_id: runId } = (await running.event('runner_log')) as unknown as { run_id: string };
      assert.equal(isKnown(runId), true);
      await project.killSupervisor(runId);
      await until(() => processesOf(runId).length === 0 && !isKnown(runId));
    });

    it('is rejected when it needs what a container cannot provide', async () => {
      using project = new TestProject({ config: CONFIG });
      project.write('tools/net/main.sh', '#!/bin/bash\necho no\n', 0o755);
      const manifest =
        'name: net\nversion: 1.0.0\nentry: main.sh\nadapter: plain\npermissions: { network: { egress_allow: ["example.com:443"] } }\n';
      project.write('tools/net/tool.yaml', manifest);
      const { error } = await project.envelope(['run', 'net', '--no-stream']);
      assert.equal(error?.code, 'E_SANDBOX_UNAVAILABLE');
    });
  });
}
