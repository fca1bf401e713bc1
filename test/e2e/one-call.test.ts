import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';
import { after, describe, it } from 'node:test';
import { ACOR, TestProject } from '../support/project.ts';
import { ProjectInProcess } from '../support/project-in-process.ts';

const project = new ProjectInProcess({ tools: ['quick'] });
after(() => project[Symbol.dispose]());
project.write('tools/fails/cli.sh', '#!/bin/bash\necho "why it failed" >&2\nexit 3\n');
project.write('tools/mute/cli.sh', '#!/bin/bash\nexit 3\n');
project.write('tools/no_bit/main', '#!/bin/sh\necho\n', 0o644);
project.write('tools/listed/cli.sh', 'echo\n');
project.write('tools/listed/tool.yaml', 'name: listed\nversion: 1.0.0\ncategory: examples\n');

/** What takes a caller one call, not two: the answer has it, once. */
describe('an answer', () => {
  it('says where the reason of a failure is, and does not send the caller to a log that is empty', async () => {
    const { error } = await project.envelope(['run', 'fails', '--no-stream']);
    assert.deepEqual(error.details.stderr, ['why it failed']);
    assert.equal(error.hint, 'Its stderr says why; the logs of the run have all of it.');
    const mute = await project.envelope(['run', 'mute', '--no-stream']);
    assert.match(mute.error.hint, /^It wrote nothing to stderr/);
  });

  it('shows a whole example where several arguments are missing', async () => {
    await project.envelope(['run', 'quick', '--no-stream']);
    const { error } = await project.envelope(['artifact']);
    assert.match(error.hint, /acor artifact r-[0-9a-z]{16} \d+ /);
  });

  it('leads to the list where there is nothing to name yet', async () => {
    using other = new ProjectInProcess();
    const { error, meta } = await other.envelope(['run']);
    assert.match(error.hint, /^There is no tool here yet\. /);
    assert.equal(meta.next[0], 'acor list');
    assert.ok((await other.envelope(['list'])).meta.next.includes('acor template python --name my_tool'));
  });

  it('says that no run is live, or has failed, where a command takes only such a run', async () => {
    using other = new ProjectInProcess({ tools: ['quick'] });
    const hintOf = async (command: string) => (await other.envelope([command])).error.hint;
    assert.match(await hintOf('cancel'), /^There is no run here yet\. /, 'the control');
    await other.envelope(['run', 'quick', '--no-stream']);
    for (const command of ['cancel', 'answer', 'attach'])
      assert.match(await hintOf(command), /^No run is live\. /);
    assert.match(await hintOf('resume'), /^No run has failed or was cancelled\. /);
  });

  it('has only the requested fields, also of a run that failed', async () => {
    const { error } = await project.envelope(['run', 'fails', '--no-stream', '--fields', 'state,rc']);
    assert.deepEqual(error.details, { stderr: ['why it failed'], state: 'failed', rc: 3 });
  });

  it('is the envelope, where a flag asks for a part of it or for TOON, instead of the stream', async () => {
    const { data } = await project.envelope(['run', 'quick', '--fields', 'state']);
    assert.deepEqual(data, { state: 'completed' });
    const { stdout } = await project.acor(['run', 'quick', '--toon']);
    assert.match(stdout, /^ok: true\n/);
    const streamed = await project.acor(['run', '--stream', '--fields', 'type,state', 'quick']);
    assert.match(
      streamed.stdout,
      /^\{"type":"runner_start"\}\n[\s\S]*\{"type":"runner_end","state":"completed"\}\n$/,
    );
    const ends = await project.acor(['run', '--stream', '--fields', 'state', 'quick']);
    assert.equal(ends.stdout, '{"state":"completed"}\n');
  });

  it('has a field of the whole answer and of its list, where both have one of that name', async () => {
    const { data } = await project.envelope(['health', '--fields', 'status']);
    assert.equal(data.status, 'degraded');
    assert.ok(data.checks.every((check: object) => Object.keys(check).join() === 'status'));
  });

  it('names the command for a program that is not a tool', async () => {
    const { error, meta } = await project.envelope(['run', 'ls', '-a']);
    assert.match(error.hint, /\/ls is a program: run it with `exec`/);
    assert.equal(meta.next[0], 'acor exec ls -a');
    const started = await project.acor(meta.next[0].split(' ').slice(1));
    assert.equal(started.code, 0, started.stdout);
    // The control: a name near that of a tool is a mistake in the name.
    assert.match((await project.envelope(['run', 'quic'])).error.hint, /Did you mean 'quick'/);
  });

  it('names a broken file of error codes where a code is not found', async () => {
    using other = new ProjectInProcess();
    other.write(
      '.acor/error_codes.yaml',
      'version: 1\ncodes: { E_MINE: { class: bogus, retryable: true } }\n',
    );
    const { error, meta } = await other.envelope(['errors', 'E_MINE']);
    assert.match(error.hint, /cannot be read: .*error_codes\.yaml:2:\d+/);
    assert.deepEqual(meta.next, ['acor validate']);
  });

  it('lists the tools that a pattern matches', async () => {
    const names = async (filter: string) =>
      (await project.envelope(['list', '--filter', filter])).data.tools.map(
        ({ name }: { name: string }) => name,
      );
    assert.deepEqual(await names('f*s'), ['fails']);
    assert.deepEqual(await names('exam*'), ['listed'], 'by category');
    assert.deepEqual(await names('ai'), ['fails'], 'a text, anywhere');
    assert.deepEqual(await names('ai*'), []);
  });

  it('names the programs that a shell may start without a line in its manifest', async () => {
    const { data } = await project.envelope(['describe', 'fails', '--permissions']);
    assert.match(
      data.words.join('\n'),
      /no other program than bash and \d+ base utilities, such as cat, cp, find, rm, sed, xargs\./,
    );
    const used = await project.envelope(['exec', '--no-stream', '--', 'bash', '-c', 'echo x | xargs']);
    assert.equal(used.data.result.data.output, 'x');
  });

  it('of validate ends for a person with the errors, each once', async () => {
    const { stderr } = await project.acor(['validate', '--format', 'text']);
    assert.equal(stderr.split('tools/no_bit/main: ').length, 2, stderr);
    assert.ok(stderr.lastIndexOf('warning: ') < stderr.indexOf('tools/no_bit/main: '), stderr);
  });
});

describe('the shortcut ./tool', () => {
  it('says without arguments how it is called, and init says what it needs', async () => {
    using other = new TestProject();
    const bare = { HOME: '/', PATH: '/no/such/folder' };
    const init = (env: Record<string, string>) =>
      JSON.parse(spawnSync(ACOR, ['init'], { cwd: other.root, env, encoding: 'utf8' }).stdout).data.notes;
    assert.match(init(bare).join(), /acor is not on the PATH, where \.\/tool looks for it/);
    const env = { ...bare, PATH: `${dirname(ACOR)}:/usr/bin:/bin` };
    assert.deepEqual(init(env), []);
    const { status, stdout, stderr } = spawnSync('./tool', { cwd: other.root, env, encoding: 'utf8' });
    assert.deepEqual([status, stdout], [1, '']);
    assert.match(stderr, /--list \| --describe NAME/);
  });
});
