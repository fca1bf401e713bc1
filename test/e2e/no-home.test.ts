import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TestProject } from '../support/project.ts';

/** As service accounts have it. */
const NO_HOME = { HOME: '/dev/null', XDG_DATA_HOME: '', XDG_CACHE_HOME: '', XDG_CONFIG_HOME: '' };
const FOLDER = '/dev/null/.local/share/acor';

describe('a user whose home is no folder', () => {
  let project: TestProject;
  before(() => {
    project = new TestProject({ tools: ['quick'] });
    const write = '[{ path: site, mode: snapshot }]';
    project.write(
      'tools/keeps/tool.yaml',
      `name: keeps\nversion: 1.0.0\npermissions: { filesystem: { write: ${write} } }\n`,
    );
    project.write('tools/keeps/cli.sh', 'echo \'{"type":"result","status":"ok"}\'\n');
    project.write('site/a', 'a\n');
  });
  after(() => project[Symbol.dispose]());
  const acor = (args: readonly string[], stdin = '') => project.envelope(args, { env: NO_HOME, stdin });

  it('can run a tool whose run keeps nothing there', async () => {
    const { data, error } = await acor(['run', 'quick', '--no-stream']);
    assert.equal(data?.state, 'completed', JSON.stringify(error));
    assert.equal((await acor(['verify'])).code, 0);
  });

  it('gets the folder that cannot be written, and the fix, where something must be stored', async () => {
    const keeps = await acor(['run', 'keeps', '--no-stream']);
    const secret = await acor(['secret', 'set', 'TOKEN'], 'a long secret value');
    const schedule = await acor(['schedule', 'add', 'quick', '--cron', '0 3 * * *', '--timezone', 'UTC']);
    for (const [folder, { error }] of [
      ['keys', keeps],
      ['secrets', secret],
      ['schedules', schedule],
    ] as const) {
      assert.equal(error?.code, 'E_STORAGE', JSON.stringify(error));
      assert.ok(error.message.includes(`${FOLDER}/${folder}`), error.message);
      const fix = `Set XDG_DATA_HOME (or HOME) to a folder that this user can write, or make this one writable: ${FOLDER}/${folder}`;
      assert.ok(error.hint?.startsWith(fix), error.hint);
    }
  });

  it('has no secrets, approvals and schedules', async () => {
    assert.deepEqual((await acor(['secret', 'list'])).data.secrets, []);
    assert.match((await acor(['secret', 'delete', 'TOKEN'])).error.message, /^there is no secret 'TOKEN'/);
    assert.deepEqual((await acor(['schedule', 'list'])).data.schedules, []);
    assert.equal((await acor(['approve', 'quick', '--revoke'])).error?.code, 'E_USAGE');
  });
});
