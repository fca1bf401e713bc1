import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { Acor } from '../../src/index.ts';
import { TestServer } from '../support/http-server.ts';
import { TestProject, until } from '../support/project.ts';

const AGENT = { AI_AGENT: 'bob' };
const SIGNED = { choice: 'fast', by: 'user:root' };
const BOTH = 'bob (for user:root)';

const project = new TestProject({ tools: ['asks'] });
after(async () => {
  await project.supervisorsExited();
  project[Symbol.dispose]();
});

async function asking(): Promise<string> {
  const { data } = await project.envelope(['run', 'asks', '--detach']);
  await until(() => project.record(data.run_id)?.state === 'waiting_ai');
  return data.run_id;
}

async function authorOf(run: string): Promise<unknown> {
  return (await project.envelope(['decisions', run])).data.decisions[0].by;
}

function answer(run: string, by: string, env = {}) {
  return project.envelope(['answer', run, '--choice', 'fast', '--by', by], { env });
}

describe('the author of an answer that is signed with another name', () => {
  it('is the name that the user of a command line gives (the control)', async () => {
    const run = await asking();
    await answer(run, 'ada');
    assert.equal(await authorOf(run), 'ada');
  });

  it('is the agent that calls, by a command or the library', async () => {
    const [first, second, own] = [await asking(), await asking(), await asking()];
    assert.equal((await answer(first, 'user:root', AGENT)).data.by, BOTH);
    await new Acor({ cwd: project.root, env: project.environment(AGENT) }).answer(second, 'a-1', 'fast', {
      by: 'user:root',
    });
    await answer(own, 'bob', AGENT);
    assert.deepEqual(
      [await authorOf(first), await authorOf(second), await authorOf(own)],
      [BOTH, BOTH, 'bob'],
    );
  });

  it('is the caller, for an answer beforehand and for a recorded one that a replay gives again', async () => {
    const first = await project.envelope(['run', 'asks', '--no-stream', '--answer', 'choose_speed=fast'], {
      env: AGENT,
    });
    const { run_id: run } = first.data;
    const again = await project.envelope(['replay', run, '--execute', '--no-stream'], {
      env: { AI_AGENT: 'ada' },
    });
    assert.deepEqual([await authorOf(run), await authorOf(again.data.run_id)], ['bob', 'ada']);
    project.write('.acor/workflows/one.yaml', 'steps: [{ name: only, tool: asks }]\n');
    const answered = ['--no-stream', '--answer', 'choose_speed=fast'];
    const { data } = await project.envelope(['workflow', 'run', 'one', ...answered], { env: AGENT });
    const asked = project.events(data.run_id).find(({ type }) => type === 'task_started');
    assert.equal(await authorOf(String(asked!.child_run_id)), 'bob');
  });

  it('is the caller of the library, for answers beforehand and of a handler', async () => {
    // This process supervises the runs.
    using own = new TestProject({ tools: ['asks'] });
    const acor = new Acor({ cwd: own.root, env: own.environment(AGENT) });
    for (const how of [{ answers: { choose_speed: 'fast' } }, { onQuestion: () => 'fast' }]) {
      const { run_id } = await acor.run('asks', [], how);
      assert.equal((await own.envelope(['decisions', run_id])).data.decisions[0].by, 'bob');
    }
  });

  it('is the client of the HTTP API, and the user whose token the server has', async () => {
    project.write('token', 'a-token-of-the-client\n', 0o600);
    const options = ['--http-allow', 'answer', '--client', `bob=${project.path('token')}`];
    const server = await TestServer.start(project, options);
    try {
      const [first, second] = [await asking(), await asking()];
      const bob = { Authorization: 'Bearer a-token-of-the-client' };
      assert.equal((await server.call('run.answer', { run: first, ...SIGNED }, bob)).json.data.by, BOTH);
      await server.call('run.answer', { run: second, choice: 'fast', by: 'bob' });
      assert.equal(await authorOf(first), BOTH);
      assert.match(String(await authorOf(second)), / \(for bob\)$/);
    } finally {
      await server.stop();
    }
  });
});
