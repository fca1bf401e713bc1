import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { parseLines, TestProject, until } from '../support/project.ts';

describe('what an answer says about how to go on', () => {
  let project: TestProject;
  const REPORT = 'one\ntwo\n\n';
  before(() => {
    project = new TestProject({ tools: ['quick', 'heeds_cancel', 'no_result'] });
    project.write(
      'left.sh',
      '#!/bin/sh\necho hi > left.txt\nprintf "one\\ntwo\\n\\n" > "$ARTIFACTS_DIR/report.txt"\n',
      0o755,
    );
  });
  after(() => project[Symbol.dispose]());

  const idOf = async (...args: string[]) => {
    const { stdout } = await project.acor([...args, '--stream']);
    return String(parseLines(stdout)[0]!.run_id);
  };

  it('ends the hint about a file in the workspace with the whole command that keeps it', async () => {
    const { of } = await project.run(['--stream', './left.sh']);
    const warning = of('runner_warning').find((event) => 'leftovers' in event)!;
    assert.match(String(warning.msg), /To keep one: cp \S+\/left\.txt \.$/);
  });

  it('prints an artifact itself as text, byte for byte, and in an envelope otherwise', async () => {
    const { end } = await project.run(['--stream', './left.sh']);
    const text = await project.acor(['artifact', String(end.run_id), '1', '--format', 'text']);
    assert.equal(text.stdout, REPORT);
    const { data } = await project.envelope(['artifact', String(end.run_id), '1']);
    assert.deepEqual([data.encoding, data.content], ['utf8', REPORT]);
  });

  it('shows why a run was cancelled, and never cuts the name of a tool or an id', async () => {
    const { data } = await project.envelope(['run', 'heeds_cancel', '--detach']);
    await until(() => project.record(data.run_id)?.state === 'running');
    await project.acor(['cancel', data.run_id, '--reason', 'the input is wrong']);
    const shown = await project.acor(['show', data.run_id, '--format', 'text']);
    assert.match(shown.stdout, /^why +.*the input is wrong/m);
    const runs = await project.acor(['runs', '--format', 'text'], { env: { COLUMNS: '80' } });
    assert.ok(runs.stdout.includes(project.path('left.sh')), runs.stdout);
    const verified = await project.acor(['verify', '--format', 'text'], { env: { COLUMNS: '80' } });
    assert.ok(verified.stdout.includes(data.run_id), verified.stdout);
  });

  it('names the replay of a completed run that cannot be retried', async () => {
    const runId = await idOf('run', 'quick');
    const { error, meta } = await project.envelope(['retry', runId]);
    assert.equal(error.code, 'E_USAGE');
    assert.deepEqual(meta.next, [`acor show ${runId}`, `acor replay ${runId} --execute --dry-run`]);
    const [, ...replay] = meta.next[1].split(' ');
    assert.ok((await project.envelope(replay)).ok);
  });

  it('begins the page of all commands with what people do first', async () => {
    const { stdout } = await project.acor(['help', 'all']);
    assert.match(stdout, /^Example\n {2}acor init\n/);
  });

  it('offers only runs that the command accepts', async () => {
    const { data } = await project.envelope(['run', 'heeds_cancel', '--detach']);
    await until(() => project.record(data.run_id)?.state === 'running');
    const offered = async (...words: string[]) => {
      const { stdout } = await project.acor(['complete-words', '--', ...words, '']);
      return stdout;
    };
    const done = await idOf('run', 'quick');
    const cancel = await offered('cancel');
    assert.ok(cancel.includes(data.run_id) && !cancel.includes(done), cancel);
    const retry = await offered('retry');
    assert.ok(!retry.includes(data.run_id) && !retry.includes(done), retry);
    assert.ok((await offered('show')).includes(done));
    await project.acor(['cancel', data.run_id]);
  });
});
