import assert from 'node:assert/strict';
import { execSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { TestServer } from '../support/http-server.ts';
import { TestProject } from '../support/project.ts';

const SECRET = 'what-no-project-may-show';
const skip = process.platform === 'win32' ? 'links need rights on this system' : false;

let project: TestProject;
let outside: string;
let server: TestServer;
before(async () => {
  project = new TestProject({ tools: ['quick'] });
  outside = mkdtempSync(join(tmpdir(), 'acor-outside-'));
  server = await TestServer.start(project, ['--http-allow', 'writes', '--http-allow', 'destroys']);
});
after(async () => {
  await server?.stop();
  await project.supervisorsExited();
  project[Symbol.dispose]();
  rmSync(outside, { recursive: true });
});

/** Moves a file or folder of the store out of the project, marks it, and leaves a link to it: what a cloned project can bring. */
function leadOut(path: string): string {
  const name = `${path.replaceAll('/', '-')}-${readdirSync(outside).length}`;
  renameSync(join(project.runsDir, path), join(outside, name));
  symlinkSync(join(outside, name), join(project.runsDir, path));
  return join(outside, name);
}

const LINE = JSON.stringify({ v: '1.0', type: 'message', msg: SECRET, level: 'info' });

describe('a link in the store of a cloned project', { skip }, () => {
  it('instead of a run or of a file of it is followed by no command', async () => {
    for (const path of ['', 'metadata.json', 'events.jsonl', 'control', 'logs']) {
      const { run_id: run } = (await project.run(['quick'])).end as unknown as { run_id: string };
      const dir = join(project.runsDir, run);
      mkdirSync(join(dir, 'control'), { recursive: true });
      const record = JSON.parse(readFileSync(join(dir, 'metadata.json'), 'utf8'));
      const marked = { ...record, state: 'failed', code: 'E_UNKNOWN', message: SECRET };
      writeFileSync(
        join(dir, 'metadata.json'),
        JSON.stringify(path === '' || path === 'metadata.json' ? marked : { ...record, state: 'failed' }),
      );
      const log = readFileSync(join(dir, 'events.jsonl'), 'utf8');
      if (path === '' || path === 'events.jsonl') writeFileSync(join(dir, 'events.jsonl'), `${LINE}\n${log}`);
      const target = leadOut(join(run, path));
      const seen = () => JSON.stringify(readdirSync(outside, { recursive: true }).sort());
      const before = [seen(), path.includes('.') ? readFileSync(target, 'utf8') : ''];
      for (const words of [
        ['show', run],
        ['runs'],
        ['logs', run],
        ['verify', run],
        ['cancel', run],
        ['resume', run],
        ['retry', run],
        ['artifact', run],
        ['diff', run],
        ['explain', run],
        ['insights'],
        ['health', '--fix'],
      ]) {
        const { stdout, stderr } = await project.acor(words);
        assert.ok(!`${stdout}${stderr}`.includes(SECRET), `${path} ${words.join(' ')}: ${stdout}`);
      }
      for (const [operation, input] of [
        ['run.show', { run }],
        ['run.list', {}],
        ['run.logs', { run }],
        ['run.verify', { runs: [run] }],
      ] as const) {
        const { json } = await server.call(operation, input);
        assert.ok(!JSON.stringify(json).includes(SECRET), `${path} ${operation}`);
      }
      assert.deepEqual([seen(), path.includes('.') ? readFileSync(target, 'utf8') : ''], before, path);
      await project.acor(['clean', '--keep', '0']);
      assert.deepEqual(
        [seen(), path.includes('.') ? readFileSync(target, 'utf8') : ''],
        before,
        `${path} clean`,
      );
      rmSync(dir, { recursive: true, force: true });
    }
  });

  it('instead of the ledger or of a folder of the store gets no line and no file', async () => {
    for (const name of ['ledger.jsonl', 'leases', 'queue', 'removed', 'packs', 'keys']) {
      await project.run(['quick', '--idempotency-key', name]);
      rmSync(join(project.runsDir, name), { recursive: true, force: true });
      const target = join(outside, `target-${name}`);
      if (name.includes('.')) writeFileSync(target, 'mine\n');
      else mkdirSync(target);
      symlinkSync(target, join(project.runsDir, name));
      for (const words of [
        ['run', 'quick'],
        ['verify'],
        ['health', '--fix'],
        ['clean', '--pack', '--keep', '0'],
        ['clean', '--keep', '0'],
      ])
        await project.acor(words);
      assert.deepEqual(
        name.includes('.') ? readFileSync(target, 'utf8') : readdirSync(target),
        name.includes('.') ? 'mine\n' : [],
        name,
      );
      rmSync(join(project.runsDir, name), { force: true });
    }
  });

  it('instead of a folder of the store keeps the files that it leads to', async () => {
    const target = join(outside, 'photos');
    for (const path of [target, project.runsDir]) mkdirSync(path, { recursive: true });
    const commands = [
      ['clean', '--older-than', '30d'],
      ['clean', '--pack', '--older-than', '30d'],
      ['runs', 'rm', 'r-0000000000000000'],
      ['outbox'],
    ];
    for (const name of ['leases', 'queue', 'packs', 'keys', 'removed', 'ledger', 'outbox', 'removed-costs']) {
      rmSync(join(project.runsDir, name), { recursive: true, force: true });
      symlinkSync(target, join(project.runsDir, name));
      for (const words of commands) {
        writeFileSync(join(target, 'a.jpg'), 'mine');
        await project.acor(words);
        assert.deepEqual(readdirSync(target), ['a.jpg'], `${name}: ${words.join(' ')}`);
      }
      const { json } = await server.call('run.clean', { older_than: 2_592_000 });
      assert.match(JSON.stringify(json), /E_STORAGE.*is a link, which ACOR does not follow/, name);
      const { hint } = (json as unknown as { error: { hint: string } }).error;
      execSync(hint.slice(hint.indexOf('mv ')));
      assert.equal(existsSync(join(project.runsDir, name)), false, hint);
    }
    // What is in a folder of that name, as after a kill, is deleted.
    mkdirSync(join(project.runsDir, 'removed'));
    writeFileSync(join(project.runsDir, 'removed', 'a.jpg'), 'left');
    await project.acor(commands[0]!);
    assert.deepEqual(readdirSync(join(project.runsDir, 'removed')), []);
  });

  it('instead of the cache leaves a project that works, without a cache', async () => {
    const target = join(outside, 'no-cache');
    for (const path of [target, project.runsDir]) mkdirSync(path, { recursive: true });
    rmSync(join(project.runsDir, 'cache'), { recursive: true, force: true });
    symlinkSync(target, join(project.runsDir, 'cache'));
    for (const words of [['list'], ['describe', 'quick'], ['run', 'quick']]) {
      const { code, stdout } = await project.acor(words);
      assert.equal(code, 0, stdout);
    }
    await project.acor(['health']);
    assert.deepEqual(readdirSync(target), []);
    rmSync(join(project.runsDir, 'cache'));
    await project.acor(['list']);
    assert.ok(readdirSync(join(project.runsDir, 'cache')).includes('discovery.json'));
  });
});

describe('the outbox of a cloned project', { skip }, () => {
  it('that is a file or a link is reported as a problem of the store', async () => {
    using notified = new TestProject({
      config: 'version: 1\nnotify: [{ on: [failure], program: [cat] }]\n',
    });
    mkdirSync(notified.runsDir);
    const path = join(notified.runsDir, 'outbox');
    for (const make of [() => writeFileSync(path, 'x'), () => symlinkSync(outside, path)]) {
      make();
      const before = readdirSync(outside);
      const { stdout } = await notified.acor(['outbox']);
      assert.match(stdout, /"code":"E_STORAGE".*cannot lock the outbox/);
      assert.deepEqual(readdirSync(outside), before);
      rmSync(path);
    }
  });
});
