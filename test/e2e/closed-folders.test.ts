import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { ACOR, TestProject, WITHOUT_SANDBOX } from '../support/project.ts';

const USER = process.getuid?.() || 65_534;
/** Root may enter any folder. */
const AS_USER =
  process.getuid?.() === 0 ? ['setpriv', `--reuid=${USER}`, `--regid=${USER}`, '--clear-groups'] : [];

describe('a tool that closes its own folders', () => {
  it('fails by itself in each attempt: the next one finds them open', async () => {
    using project = new TestProject();
    project.write(
      'tools/closes/tool.yaml',
      'name: closes\nversion: 1.0.0\nidempotent: true\nretry: { max_attempts: 2, backoff_s: 0.01 }\n',
    );
    project.write(
      'tools/closes/cli.py',
      `import os, sys
for name in ('ARTIFACTS_DIR', 'WORKSPACE'): os.chmod(os.environ[name], 0)
sys.exit(20)
`,
    );
    const { end } = await project.run(['closes']);
    assert.deepEqual([end.state, end.code, end.rc], ['failed', 'E_TOOL_FAILED', 20], JSON.stringify(end));
    const again = await project.envelope(['retry', String(end.run_id), '--no-stream']);
    assert.equal(again.error.code, 'E_TOOL_FAILED');
  });

  it('is reported as that, with the command that opens the folder again', () => {
    using project = new TestProject({ config: WITHOUT_SANDBOX });
    project.write('tools/closes/tool.yaml', 'adapter: plain\n');
    project.write(
      'tools/closes/cli.py',
      `import os, sys
run = os.path.dirname(os.getcwd())
store = os.path.dirname(run)
places = {'logs': run + '/logs', 'run': run, 'leases': store + '/leases', 'store': store, 'none': None}
place = places[sys.argv[1]]
if place: os.chmod(place, 0)
print('done')
`,
    );
    const env = project.environment({ HOME: project.root });
    spawnSync('chown', ['-R', String(USER), project.root]);
    const call = (command: string[]) =>
      spawnSync(
        AS_USER[0] ?? command[0]!,
        AS_USER.length > 0 ? [...AS_USER.slice(1), ...command] : command.slice(1),
        {
          cwd: project.root,
          env,
          encoding: 'utf8',
        },
      );
    const run = (place: string) => JSON.parse(call([ACOR, 'run', 'closes', place, '--no-stream']).stdout);
    for (const [place, path] of [
      ['none', null],
      ['logs', /\.runs\/r-[^/]+\/logs$/],
      ['run', /\.runs\/r-[^/]+$/],
      ['leases', /\.runs\/leases$/],
      ['store', /\.runs$/],
      ['none', null],
    ] as const) {
      const { ok, error } = run(place);
      if (path === null) {
        assert.equal(ok, true, JSON.stringify(error));
        continue;
      }
      assert.deepEqual([error.code, /^permission denied: /.test(error.message)], ['E_STORAGE', true], place);
      const [, folder, chmod] =
        /^(\S+) has the mode 000: .*\((chmod u\+rwx '[^']+')\)/.exec(error.hint) ?? [];
      assert.match(folder ?? error.hint, path);
      assert.equal(call(['sh', '-c', chmod!]).status, 0);
    }
  });
});
