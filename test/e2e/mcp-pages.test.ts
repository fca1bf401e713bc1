import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Client } from '@modelcontextprotocol/client';
import { callOf, connectTo } from '../support/mcp-client.ts';
import { TestProject, until } from '../support/project.ts';

const BIG_ROWS = 60_000;

describe('an agent without a terminal', () => {
  let project: TestProject;
  let client: Client;
  before(async () => {
    project = new TestProject({ tools: ['asks'] });
    const add = (name: string, script: string, manifest = '') => {
      project.write(`tools/${name}/tool.yaml`, `name: ${name}\nversion: 1.0.0\nadapter: plain\n${manifest}`);
      project.write(`tools/${name}/cli.sh`, `#!/bin/bash\n${script}\n`, 0o755);
    };
    add('says', 'for i in 1 2 3 4 5 6; do echo "line $i"; done');
    const rows = `awk 'BEGIN{print "["; for(i=0;i<${BIG_ROWS};i++) printf "%s{\\"n\\":%d,\\"t\\":\\"some text of a row\\"}\\n",(i?",":""),i; print "]"}'`;
    add('big', rows, 'output: json\n');
    add('hangs', 'echo at work\nsleep 600 & wait', 'idempotent: true\n');
    project.write(
      '.acor/workflows/nightly.yaml',
      'name: nightly\nsteps:\n  - { name: one, type: tool, tool: says }\n  - { name: two, type: tool, tool: asks, needs: [one] }\n',
    );
    client = await connectTo(project);
  });
  after(async () => {
    await client.close();
    project[Symbol.dispose]();
  });

  it('reads every event of a log, and every run, by following next, however small the pages', async () => {
    const { run_id } = await callOf(client, 'says');
    await callOf(client, 'says');
    const seqs: number[] = [];
    let step = { tool: 'acor_logs', arguments: { run: run_id, max_tokens: 60 } as object };
    while (step !== undefined) {
      const { data, hasMore, next } = await callOf(client, step.tool, step.arguments);
      seqs.push(...data.events.map(({ seq }: { seq: number }) => seq));
      assert.equal(data.last_seq, seqs.at(-1));
      assert.equal(hasMore === true, next !== undefined);
      step = next?.at(-1);
    }
    assert.deepEqual(
      seqs,
      project.events(run_id).map(({ seq }) => seq),
    );
    const [first] = (await callOf(client, 'acor_logs', { run: 'last', limit: 1 })).next;
    assert.match(first.arguments.run, /^r-/, 'a later run is another one');
    const runs: string[] = [];
    let page = { tool: 'acor_runs', arguments: { limit: 1 } as object };
    while (page !== undefined) {
      const { data, next } = await callOf(client, page.tool, page.arguments);
      runs.push(...data.runs.map((run: { run_id: string }) => run.run_id));
      page = next?.at(-1);
    }
    assert.deepEqual(runs, project.runIds().sort().reverse());
  });

  it('is warned of a type of events that the protocol and the log do not have', async () => {
    const own = `#!/bin/bash\necho '{"type":"x-own"}'; echo '{"type":"result","status":"ok"}'\n`;
    project.write('speaks.sh', own, 0o755);
    const ran = await project.envelope(['run', '--no-stream', './speaks.sh']);
    const { run_id } = ran.data;
    const logs = (...type: string[]) => callOf(client, 'acor_logs', { run: run_id, type });
    const strange = await logs('nonsense', 'result');
    assert.equal(strange.data.events.length, 1);
    assert.match(strange.warnings.join(), /'nonsense'.*runner_end/);
    for (const known of ['x-own', 'heartbeat']) assert.equal((await logs(known)).warnings, undefined, known);
    for (const more of [[], ['--format', 'text'], ['--follow']]) {
      const { stdout, stderr } = await project.acor(['logs', run_id, '--type', 'nonsense', ...more]);
      assert.match(stdout + stderr, /no event has the type 'nonsense'/, more.join());
    }
  });

  it('gets data of any length: the beginning in the answer, all of it in the resource of the run', async () => {
    const { run_id, state, data, data_cut, text } = await callOf(client, 'big');
    assert.deepEqual([state, data], ['completed', undefined]);
    assert.ok(data_cut.chars > 2_000_000 && text.length < 5000);
    assert.match(data_cut.begins, /^\[\{"n":0/);
    const { contents } = await client.readResource({ uri: data_cut.whole });
    const shown = JSON.parse((contents[0] as { text: string }).text);
    assert.equal(shown.result.data.length, BIG_ROWS);
    for (const name of ['acor_logs', 'acor_show', 'acor_wait']) {
      const about = await client.callTool({ name, arguments: { run: run_id } });
      assert.ok(JSON.stringify(about).length < 100_000, name);
    }
  });

  it('is warned where the log of a run that it waits for was changed after its end', async () => {
    const { run_id, warnings } = await callOf(client, 'says');
    assert.equal(warnings, undefined);
    assert.equal((await callOf(client, 'acor_wait', { run: run_id })).warnings, undefined);
    // While its supervisor holds it, it may still change.
    await until(() => !readdirSync(join(project.runsDir, 'leases')).some((name) => name.startsWith(run_id)));
    const log = join(project.runsDir, run_id, 'events.jsonl');
    writeFileSync(log, readFileSync(log, 'utf8').replaceAll('line 3', 'line X'));
    const forged = await callOf(client, 'acor_wait', { run: run_id });
    assert.match(
      forged.warnings[0],
      new RegExp(`^${run_id} is unverified, and what is shown of it may be forged`),
    );
  });

  it('gets the run that an answer is about only once', async () => {
    const { data, live_runs } = await callOf(client, 'acor_run', { tool: 'hangs', detach: true });
    assert.equal(live_runs, undefined);
    const { state, note } = await callOf(client, 'acor_cancel', { run: data.run_id }).then(() =>
      callOf(client, 'acor_wait', { run: data.run_id }),
    );
    assert.equal(state, 'cancelled');
    assert.match(note, /acor_resume/);
  });

  it('starts a workflow by its name, previews it, and answers the question of a step', async () => {
    const { text } = await callOf(client, 'acor_explain');
    assert.match(text, /Workflows: `nightly`/);
    const preview = await callOf(client, 'acor_run', { tool: 'nightly', dry_run: true });
    assert.deepEqual(
      preview.data.steps.map(({ name }: { name: string }) => name),
      ['one', 'two'],
    );
    assert.deepEqual(preview.next, [{ tool: 'acor_run', arguments: { tool: 'nightly' } }]);
    const refused = await callOf(client, 'acor_run', { tool: 'nightly', review: true });
    assert.deepEqual([refused.isError, refused.error.code], [true, 'E_USAGE']);
    const asked = await callOf(client, 'acor_run', { tool: 'nightly' });
    assert.equal(asked.state, 'waiting_ai');
    const [answer] = asked.next;
    await callOf(client, answer.tool, answer.arguments);
    const done = await callOf(client, 'acor_wait', { run: asked.run_id });
    assert.deepEqual([done.state, done.run_id], ['completed', asked.run_id]);
  });

  it('reads in its own words what to do after a failure', async () => {
    for (const topic of [undefined, 'errors', 'practices']) {
      const { text } = await callOf(client, 'acor_explain', { topic });
      assert.doesNotMatch(text, /meta\.next/);
    }
    const missing = await callOf(client, 'acor_artifact_read', { run: 'last', artifact: '9' });
    assert.doesNotMatch(missing.text, /terminal/);
  });
});
