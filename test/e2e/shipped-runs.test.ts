import assert from 'node:assert/strict';
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { bubblewrap } from '../../src/core/sandbox/backends/bubblewrap.ts';
import { canGiveUsers } from '../../src/core/sandbox/identity/run-users.ts';
import { TestProject } from '../support/project.ts';

const canMount = process.platform === 'linux' && (await bubblewrap.probe()).available;

/** A run that came with a cloned project. */
describe('the layer of a run whose record is not the one that ACOR has written here', {
  skip: !canMount && 'no sandbox here can mount a layer',
}, () => {
  async function withLayer(): Promise<{ project: TestProject; run: string; index: string }> {
    const project = new TestProject();
    project.letAgents('apply');
    project.write('site/a.txt', 'one\n');
    mkdirSync(project.path('victim'));
    project.write('victim/b.txt', 'theirs\n');
    project.write(
      'tools/works/tool.yaml',
      'name: works\nversion: 1.0.0\nidempotent: true\npermissions: { filesystem: { write: [{ path: site, mode: review }] } }\n',
    );
    const site = JSON.stringify(project.path('site'));
    project.write(
      'tools/works/cli.py',
      `import os\nos.chdir(${site})\nopen('a.txt', 'w').write('changed')\nopen('new', 'w').write('x')\nprint('{"type":"result","status":"ok"}')\n`,
    );
    const { data } = await project.envelope(['run', '--no-stream', 'works']);
    assert.equal(data.state, 'completed');
    const run = String(data.run_id);
    return { project, run, index: join(project.runsDir, run, 'kept', 'index.json') };
  }

  it('is put nowhere else, and the error says why', async () => {
    const { project, run, index } = await withLayer();
    using _ = project;
    const text = readFileSync(index, 'utf8');
    const forged = text.replaceAll(project.path('site'), project.path('victim'));
    assert.notEqual(forged, text);
    for (const each of [forged, forged.replace(/,"code":"\w+"/, '')]) {
      writeFileSync(index, each);
      const { error } = await project.envelope(['apply', run]);
      assert.equal(error?.code, 'E_INTEGRITY', JSON.stringify(error));
      assert.match(error!.message, /was not written by your ACOR at this place/);
      assert.equal((await project.envelope(['discard', run])).error?.code, 'E_INTEGRITY');
    }
    assert.deepEqual(readdirSync(project.path('victim')), ['b.txt']);
    // A control.
    writeFileSync(index, text);
    assert.equal((await project.envelope(['apply', run])).ok, true);
    assert.deepEqual(readdirSync(project.path('site')).sort(), ['a.txt', 'new']);
  });

  it('is not put in place from a copy of the store in another project', async () => {
    const { project, run } = await withLayer();
    using _ = project;
    using clone = new TestProject();
    clone.letAgents('apply');
    cpSync(join(project.runsDir, run), join(clone.runsDir, run), { recursive: true });
    const env = { XDG_DATA_HOME: project.environment()['XDG_DATA_HOME']! };
    const applied = await clone.acor(['apply', run], { env });
    assert.match(applied.stdout, /"code":"E_INTEGRITY"/);
    assert.deepEqual(readdirSync(project.path('site')), ['a.txt']);
  });

  it('is not made again elsewhere when the run is resumed', async () => {
    const { project, run, index } = await withLayer();
    using _ = project;
    const { places, effects } = JSON.parse(readFileSync(index, 'utf8'));
    for (const place of places) {
      place.tree = '../../victim';
      for (const which of ['before', 'after'])
        if (existsSync(join(index, '..', place.id, `${which}.json`)))
          writeFileSync(join(index, '..', place.id, `${which}.json`), '[]');
    }
    writeFileSync(index, JSON.stringify({ version: 1, places, effects }));
    await project.acor(['resume', run, '--force']);
    await project.acor(['diff', run]);
    assert.equal(readFileSync(project.path('victim/b.txt'), 'utf8'), 'theirs\n');
  });
});

describe('a record of owners that ACOR has not written', { skip: !canGiveUsers() }, () => {
  it('gives no file another owner, neither by the repair of the store nor by the next run', async () => {
    using project = new TestProject();
    project.write('tools/plain/tool.yaml', 'name: plain\nversion: 1.0.0\nadapter: plain\n');
    project.write('tools/plain/cli.sh', '#!/bin/bash\nid -u\n');
    const { end } = await project.run(['plain']);
    const run = String(end.run_id);
    const target = project.write('target', 'root only\n', 0o600);
    chownSync(target, 0, 0);
    const record = join(project.runsDir, run, 'control', 'ownership.json');
    const paths = [{ path: target, isDeep: false, isOwn: false, uid: 1000, gid: 1000, others: {} }];
    mkdirSync(join(project.runsDir, run, 'control'), { recursive: true });
    writeFileSync(record, JSON.stringify({ uid: 0, gid: 0, paths }));
    const { data } = await project.envelope(['health', '--fix']);
    assert.equal(statSync(target).uid, 0);
    const check = data.checks.find(({ name }: { name: string }) => name === 'store.owners');
    assert.match(check.detail, /was not written by this user's ACOR/);

    // As a run whose supervisor has died.
    const events = join(project.runsDir, run, 'events.jsonl');
    const lines = readFileSync(events, 'utf8').trimEnd().split('\n');
    writeFileSync(events, `${lines.slice(0, 2).join('\n')}\n`);
    mkdirSync(join(project.runsDir, 'leases'), { recursive: true });
    writeFileSync(join(project.runsDir, 'leases', `${run}@1`), '');
    const next = await project.run(['plain']);
    assert.equal(next.end.state, 'completed');
    assert.equal(statSync(target).uid, 0);
  });
});
