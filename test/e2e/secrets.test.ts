import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { bubblewrap } from '../../src/core/sandbox/backends/bubblewrap.ts';
import { filesWith } from '../support/files-with.ts';
import { placesOf } from '../support/places-of.ts';
import {
  ACOR,
  parseLines,
  processesOf,
  type RunOfTool,
  TestProject,
  until,
  WITHOUT_SANDBOX,
} from '../support/project.ts';
import { atTerminal, KEYS, noTerminal } from '../support/terminal.ts';
import { watchdogsOf } from '../support/watchdogs.ts';

const TOKEN = 'pa/ss "wörd" <it\'s> & $HOME; and so on until it is longer than a line of base64 is';
const KEY = '-----BEGIN KEY-----\nQUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo=\nshort\n-----END KEY-----';
/** The folder of the run that has the secrets as files, when the sandbox does not take them by descriptor. */
const BY_FILE = { ACOR_SECURITY_ISOLATION: 'off' };
const FILE_ID = 'file-name-77-of-it';

const probed = await bubblewrap.probe();
const bubblewrapIsMissing = probed.available ? false : probed.detail;

describe('acor secret', () => {
  let project: TestProject;
  before(() => {
    project = new TestProject({ tools: ['tells_secret'] });
  });
  after(() => project[Symbol.dispose]());

  it('stores a value from standard input in a file that only its user can read, outside the project', async () => {
    const { ok, data } = await project.envelope(['secret', 'set', 'API_TOKEN'], { stdin: `${TOKEN}\n` });
    assert.deepEqual(
      [ok, data],
      [true, { name: 'API_TOKEN', size: Buffer.byteLength(TOKEN), replaced: false, dry_run: false }],
    );
    const path = secretFile(project, 'API_TOKEN');
    assert.equal(readFileSync(path, 'utf8'), TOKEN);
    assert.deepEqual(
      [modeOf(path), modeOf(join(path, '..')), modeOf(join(path, '../..'))],
      ['600', '700', '700'],
    );
    const again = await project.envelope(['secret', 'set', 'API_TOKEN', '--file', project.write('t', TOKEN)]);
    assert.equal(again.data.replaced, true);
    assert.deepEqual(readdirSync(join(path, '..')), ['API_TOKEN']);
  });

  it('lists the stored secrets and those that tools need, without values', async () => {
    const { stdout } = await project.acor(['secret', 'list']);
    const { data, meta } = JSON.parse(stdout);
    const [stored, missing, other] = data.secrets;
    assert.deepEqual(
      { ...stored, changed_at: null },
      {
        name: 'API_TOKEN',
        size: Buffer.byteLength(TOKEN),
        mode: '600',
        changed_at: null,
        stored: true,
        tools: ['tells_secret'],
      },
    );
    assert.deepEqual([missing.name, missing.stored, missing.tools], ['FILE_ID', false, ['tells_secret']]);
    assert.deepEqual([other.name, other.stored], ['KEY', false]);
    assert.deepEqual(meta.next, ['acor secret set FILE_ID', 'acor secret set KEY']);
    assert.equal(stdout.includes('wörd'), false);
  });

  it('rejects a run with missing secrets, with exit code 2, and names all of them', async () => {
    using empty = new TestProject({ tools: ['tells_secret'] });
    const { code, error, meta } = await empty.envelope(['run', 'tells_secret']);
    assert.deepEqual(
      [code, error.code, error.details.missing],
      [2, 'E_ENV_MISSING', ['API_TOKEN', 'FILE_ID', 'KEY']],
    );
    assert.deepEqual(meta.next, [
      'acor secret set API_TOKEN',
      'acor secret set FILE_ID',
      'acor secret set KEY',
    ]);
    assert.match(error.message, /needs the secrets API_TOKEN, FILE_ID, KEY, which are not stored/);
    assert.deepEqual(empty.runIds(), []);
    for (const name of ['API_TOKEN', 'KEY'])
      await empty.acor(['secret', 'set', name, '--file', empty.write('value', 'a value of some length')]);
    const one = await empty.envelope(['run', 'tells_secret']);
    assert.match(one.error.message, /needs the secret FILE_ID, which is not stored/);
  });

  it('rejects values that cannot be stored or redacted, and stores nothing', async () => {
    const values: [value: string | Buffer, why: RegExp, fix: RegExp][] = [
      ['', /it is empty/, /standard input or in a file/],
      ['\n', /it is empty/, /standard input or in a file/],
      ['short', /it has 5 bytes.*cannot be redacted/, /value of at least 8 bytes.*as an input/],
      ['   short     \n', /it has 5 bytes/, /value of at least 8 bytes/],
      ['with a \0 in it', /NUL/, /base64/],
      ['x'.repeat(65_537), /more than 65536 bytes/, /as a file/],
    ];
    for (const [value, why, fix] of values) {
      const file = project.write('value', String(value));
      const { code, error } = await project.envelope(['secret', 'set', 'REFUSED', '--file', file]);
      assert.deepEqual([code, error.code], [1, 'E_USAGE'], String(why));
      assert.match(error.message, why);
      assert.match(error.hint, fix);
    }
    const longest = await project.envelope([
      'secret',
      'set',
      'LONGEST',
      '--file',
      project.write('value', 'x'.repeat(65_536)),
    ]);
    assert.equal(longest.data.size, 65_536);
    await project.acor(['secret', 'delete', 'LONGEST']);
    assert.deepEqual(readdirSync(join(secretFile(project, 'API_TOKEN'), '..')), ['API_TOKEN']);
  });

  it('takes no value from the command line, and no name that is a path', async () => {
    const given = await project.envelope(['secret', 'set', 'API_TOKEN', 'correct horse battery']);
    assert.deepEqual([given.code, given.error.code], [1, 'E_USAGE']);
    for (const name of ['../x', '.x', 'a/b', '', 'a\nb', '-x', 'x'.repeat(129)]) {
      const { error } = await project.envelope(['secret', 'set', '--name', name], {
        stdin: 'correct horse battery',
      });
      assert.equal(error.code, 'E_USAGE', name);
    }
  });

  it('checks with --dry-run and changes nothing', async () => {
    const set = await project.envelope(['secret', 'set', 'DRY', '--dry-run'], {
      stdin: 'correct horse battery',
    });
    assert.equal(set.data.dry_run, true);
    assert.equal(existsSync(secretFile(project, 'DRY')), false);
    const gone = await project.envelope(['secret', 'delete', 'API_TOKEN', '--dry-run']);
    assert.equal(gone.data.deleted, false);
    assert.equal(existsSync(secretFile(project, 'API_TOKEN')), true);
    const unknown = await project.envelope(['secret', 'delete', 'API_TOKENS']);
    assert.match(unknown.error.hint, /API_TOKEN\?/);
  });

  it('rejects a file that others can read or that belongs to another user, with the fix', async () => {
    await project.acor(['secret', 'set', 'FILE_ID'], { stdin: FILE_ID });
    await project.acor(['secret', 'set', 'KEY'], { stdin: KEY });
    const path = secretFile(project, 'FILE_ID');
    chmodSync(path, 0o640);
    const { code, error, meta } = await project.envelope(['run', 'tells_secret', '--no-stream']);
    assert.deepEqual([code, error.code, meta.next], [1, 'E_PERMISSION', [`chmod 600 ${path}`]]);
    chmodSync(path, 0o600);
    const folder = join(path, '..');
    chmodSync(folder, 0o770);
    const open = await project.envelope(['run', 'tells_secret', '--no-stream']);
    assert.deepEqual([open.error.code, open.meta.next], ['E_PERMISSION', [`chmod 700 ${folder}`]]);
    chmodSync(folder, 0o700);
    assert.equal((await project.envelope(['run', 'tells_secret', '--no-stream'])).code, 0);
    await project.acor(['secret', 'delete', 'FILE_ID']);
    symlinkSync(project.write('elsewhere', FILE_ID), path);
    const linked = await project.envelope(['run', 'tells_secret', '--no-stream']);
    assert.deepEqual(
      [linked.error.code, /not a secret that ACOR stored/.test(linked.error.message)],
      ['E_STORAGE', true],
    );
  });

  it('is checked by health, which has the command that fixes each fault', async () => {
    using own = new TestProject({ tools: ['tells_secret'] });
    const checks = async () =>
      (await own.envelope(['health'])).data.checks.filter(({ name }: { name: string }) =>
        name.startsWith('secrets'),
      );
    const missing = (name: string) => ({
      name: 'secrets.missing',
      status: 'degraded',
      detail: `${name} is not stored; needed by: tells_secret`,
      fix: `acor secret set ${name}`,
    });
    assert.deepEqual(await checks(), ['API_TOKEN', 'FILE_ID', 'KEY'].map(missing));
    for (const { fix } of await checks()) await own.acor(fix.split(' ').slice(1), { stdin: TOKEN });
    assert.deepEqual(await checks(), [{ name: 'secrets', status: 'ok', detail: '3 stored, none missing' }]);
    const path = secretFile(own, 'KEY');
    chmodSync(path, 0o644);
    chmodSync(join(path, '..'), 0o755);
    const faults = await checks();
    assert.deepEqual(
      faults.map(({ name, fix }: { name: string; fix: string }) => [name, fix]),
      [
        ['secrets.mode', `chmod 700 ${join(path, '..')}`],
        ['secrets.mode', `chmod 600 ${path}`],
      ],
    );
    for (const { fix } of faults) spawnSync('sh', ['-c', fix]);
    assert.equal((await checks())[0].status, 'ok');
    const { data } = await own.envelope(['run', 'tells_secret', '--dry-run']);
    assert.deepEqual(data.secrets, ['API_TOKEN', 'FILE_ID', 'KEY']);
    const { words } = (await own.envelope(['describe', 'tells_secret', '--permissions'])).data;
    assert.ok(words.includes('It gets these secrets: API_TOKEN, FILE_ID, KEY.'), words.join('\n'));
  });

  it('asks a person for the value, and does not show the typed text', () => {
    const script = `
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.chdir(sys.argv[1])
    os.execv(sys.argv[2], [sys.argv[2], 'secret', 'set', 'TYPED'])
seen = b''
while b'not shown' not in seen:
    seen += os.read(fd, 1000)
os.write(fd, b'correct horsX\\x7fe battery\\r')
try:
    while True:
        chunk = os.read(fd, 1000)
        if not chunk: break
        seen += chunk
except OSError:
    pass
print(seen.decode(), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`;
    const env = {
      PATH: process.env.PATH ?? '',
      HOME: project.root,
      XDG_DATA_HOME: project.path('data'),
      TERM: 'dumb',
    };
    const { stdout, stderr } = spawnSync('python3', ['-c', script, project.root, ACOR], {
      env,
      encoding: 'utf8',
    });
    assert.match(stdout, / 0\n$/, stdout + stderr);
    assert.equal(stdout.includes('hors'), false, stdout);
    assert.equal(readFileSync(secretFile(project, 'TYPED'), 'utf8'), 'correct horse battery');
  });
});

describe('the question for a value, at a terminal,', { skip: noTerminal }, () => {
  const keys = { 'Ctrl-C': KEYS.ctrlC, 'Ctrl-D': KEYS.ctrlD };
  for (const [name, key] of Object.entries(keys)) {
    for (const typed of ['', 'correct horse battery']) {
      it(`is left by ${name} ${typed === '' ? 'at once' : 'after something was typed'}, and nothing is stored`, async () => {
        using project = new TestProject();
        const { code, text } = await atTerminal(['secret', 'set', 'TYPED'], {
          cwd: project.root,
          when: /not shown/,
          typed: `${typed}${key}`,
        });
        assert.equal(code, 1, text);
        assert.match(text, /nothing was stored/);
        assert.equal(text.includes('horse'), false);
        const { data } = await project.envelope(['secret', 'list']);
        assert.deepEqual(data.secrets, []);
      });
    }
  }

  it('ends with Enter (the control)', async () => {
    using project = new TestProject();
    const { code, text } = await atTerminal(['secret', 'set', 'TYPED'], {
      cwd: project.root,
      when: /not shown/,
      typed: `correct horse battery${KEYS.enter}`,
    });
    assert.equal(code, 0, text);
    assert.equal(readFileSync(secretFile(project, 'TYPED'), 'utf8'), 'correct horse battery');
  });
});

describe('a tool that needs secrets', () => {
  let project: TestProject;
  before(async () => {
    project = new TestProject({ tools: ['tells_secret'] });
    await project.acor(['secret', 'set', 'API_TOKEN'], { stdin: TOKEN });
    await project.acor(['secret', 'set', 'FILE_ID'], { stdin: FILE_ID });
    await project.acor(['secret', 'set', 'KEY'], { stdin: KEY });
  });
  after(() => project[Symbol.dispose]());

  function filedAnswers(runId: string): string[] {
    const folder = project.path('.runs', runId, 'control', 'tool', 'answers');
    return existsSync(folder) ? readdirSync(folder) : [];
  }

  function tool(name: string, script: string, manifest: string): void {
    project.write(`tools/${name}/tool.yaml`, manifest);
    project.write(`tools/${name}/cli.sh`, `#!/bin/bash\n${script}\n`, 0o755);
  }

  it('finds each in a file of SECRETS_DIR, again in every attempt, and leaves none behind', async () => {
    tool(
      'takes',
      `stat -c '{"type":"log","msg":"%a %s"}' "$SECRETS_DIR" "$SECRETS_DIR"/*
       rm -r "$SECRETS_DIR"; ln -s "$PWD" "$SECRETS_DIR"; touch kept
       [ "$ACOR_ATTEMPT" = 2 ] && exit 30; exit 20`,
      'secrets: [API_TOKEN, FILE_ID]\nretry: { max_attempts: 2, backoff_s: 0 }\n',
    );
    const { end, of } = await project.run(['takes']);
    const { work, secrets } = foldersOf(project, end.run_id);
    const seen = of('log').map(({ msg }) => String(msg));
    const files = [`600 ${Buffer.byteLength(TOKEN)}`, `600 ${FILE_ID.length}`];
    assert.deepEqual(
      [seen.slice(1, 3), seen.slice(4, 6), end.state, end.attempt],
      [files, files, 'failed', 2],
    );
    assert.match(`${seen[0]} ${seen[3]}`, /^700 \d+ 700 \d+$/);
    assert.equal(existsSync(secrets), false);
    assert.ok(existsSync(join(work, 'kept')), 'the link in place of the folder was not followed');
  });

  it('leaves none behind when it is cancelled', async () => {
    tool('stays', `echo '{"type":"heartbeat"}'; sleep 600`, 'secrets: [API_TOKEN]\n');
    const running = project.start(['run', 'stays'], { env: BY_FILE });
    const { run_id } = await running.event('heartbeat');
    const { secrets } = foldersOf(project, run_id);
    assert.deepEqual(readdirSync(secrets), ['API_TOKEN']);
    await project.acor(['cancel', String(run_id)]);
    await running.finished;
    assert.equal(existsSync(secrets), false);
  });

  describe('has them, while it runs,', () => {
    before(() =>
      tool(
        'has_it',
        `[ "$(wc -c < "$SECRETS_DIR/API_TOKEN")" = ${Buffer.byteLength(TOKEN)} ] && echo '{"type":"heartbeat"}'; sleep 600`,
        'secrets: [API_TOKEN]\n',
      ),
    );

    const places = async (env: Record<string, string>) => {
      const running = project.start(['run', 'has_it'], { env });
      const runId = String((await running.event('heartbeat')).run_id);
      const found = [
        ...(await placesOf([TOKEN], project, '')),
        ...filesWith([TOKEN], '/dev/shm').map(({ text, path }) => `${text} in ${path}`),
      ];
      await project.acor(['cancel', runId]);
      await running.finished;
      return { runId, found };
    };
    it('in no file of the machine in bubblewrap', { skip: bubblewrapIsMissing }, async () => {
      const { runId, found } = await places({});
      const { backend } = project.events(runId)[0]!.isolation as { backend: string };
      assert.deepEqual([backend, found], ['bubblewrap', []]);
    });

    it('in one file of its run without a sandbox (the control)', async () => {
      const { runId, found } = await places(BY_FILE);
      const file = join(foldersOf(project, runId).secrets, 'API_TOKEN');
      assert.deepEqual(found, [`${TOKEN} in ${file}`]);
    });
  });

  it('leaves none behind soon after its supervisor was killed', async () => {
    const { secrets } = await killedSupervisor(project, false);
    await until(() => !existsSync(secrets));
  });

  it('leaves none behind after its run is recovered, if the watchdog was killed as well', async () => {
    const { runId, secrets } = await killedSupervisor(project, true);
    assert.deepEqual(readdirSync(secrets), ['API_TOKEN'], 'the control: no process was left to remove it');
    await project.acor(['health', '--fix']);
    const { data } = await project.envelope(['show', runId]);
    assert.equal(data.code, 'E_RUNNER_LOST');
    assert.equal(existsSync(secrets), false);
  });

  it('starts again with its own secrets only, whatever is in their folder', async () => {
    tool('fails', 'exit 20', 'exit_codes: { ok: 0, retryable_error: 20 }\n');
    const { end } = await project.run(['fails']);
    const { secrets } = foldersOf(project, end.run_id);
    mkdirSync(secrets);
    writeFileSync(join(secrets, 'LEFT_BY_SOMEBODY'), TOKEN);
    await project.acor(['resume', String(end.run_id)]);
    assert.equal(existsSync(secrets), false);
  });

  it('is rejected with a secret input that is too short; a longer one is redacted and never stored', async () => {
    tool(
      'takes_input',
      `echo "$2"; echo "{\\"type\\":\\"result\\",\\"status\\":\\"ok\\",\\"data\\":\\"$2\\"}"`,
      'inputs: [{ name: password, secret: true }, { name: note }]\n',
    );
    const short = await project.envelope(['run', 'takes_input', '--password', '1234567']);
    assert.deepEqual([short.code, short.error.code], [1, 'E_USAGE']);
    const { stdout, stderr } = await project.acor([
      'run',
      'takes_input',
      '--password',
      'correct horse',
      '--no-stream',
    ]);
    const { data } = JSON.parse(stdout);
    assert.equal(data.result.data, '[redacted:password]');
    assert.deepEqual(await placesOf(['correct horse'], project, stdout + stderr), []);
    const shortest = ['takes_input', '--password', '12345678', '--note', 'of 12345678'];
    for (const command of [
      ['policy', 'check'],
      ['run', '--no-stream'],
    ]) {
      const shown = await project.acor([...command, ...shortest]);
      assert.equal(shown.code, 0, shown.stdout);
      assert.deepEqual(await placesOf(['12345678'], project, shown.stdout + shown.stderr), []);
    }
  });

  it('gets a stored secret as an argument, which the record does not contain', async () => {
    tool('ignores', `echo '{"type":"result","status":"ok"}'`, 'secrets: [FILE_ID]\n');
    const cwd = project.path(`of-${FILE_ID}`);
    mkdirSync(cwd);
    const { stdout, stderr, end } = await project.run(['ignores', `--id=${FILE_ID}`], { cwd });
    assert.equal(end.state, 'completed');
    assert.deepEqual(await placesOf([FILE_ID], project, stdout + stderr), []);
    const record = JSON.parse(
      readFileSync(join(project.runsDir, String(end.run_id), 'metadata.json'), 'utf8'),
    );
    assert.deepEqual([record.args, record.given_args], [['--id=[redacted:FILE_ID]'], null]);
  });

  it('can get a secret as an answer, which no record contains', async () => {
    tool(
      'asks_for_it',
      `echo '{"type":"action_required","action":"id","action_id":"a-1","blocking":true}'
       read -r answer; case $answer in *${FILE_ID}*) echo '{"type":"result","status":"ok"}' ;; esac`,
      'secrets: [FILE_ID]\nactions: [id]\n',
    );
    const { stdout, stderr, end } = await project.run(['asks_for_it', '--answer', `id=${FILE_ID}`]);
    assert.equal(end.state, 'completed', stdout);
    assert.deepEqual(await placesOf([FILE_ID], project, stdout + stderr), []);
  });

  it('asks again for an answer that was a secret: no later attempt and no replay gets the mark instead', async () => {
    tool(
      'asks_then_fails',
      `if [ -e "$ANSWERS_DIR/a-1.json" ]; then log=filed; else log=none; fi
       echo '{"type":"log","msg":"'$log'"}'
       ask() {
         [ -e "$ANSWERS_DIR/$1.json" ] && return
         echo '{"type":"action_required","action":"'$2'","action_id":"'$1'","blocking":true}'; read -r answer
       }
       ask b-1 note; ask a-1 id; case $answer in *${FILE_ID}*) heard=secret ;; *) heard=no ;; esac
       echo '{"type":"log","msg":"heard '$heard'"}'; exit 20`,
      'secrets: [FILE_ID]\nactions: [id, note]\nexit_codes: { ok: 0, retryable_error: 20 }\n',
    );
    const { of, end } = await project.run([
      'asks_then_fails',
      '--answer',
      `id=${FILE_ID}`,
      '--answer',
      'note=short',
    ]);
    const runId = String(end.run_id);
    const heard = of('log').map(({ msg }) => msg);
    assert.deepEqual(
      [end.state, heard, filedAnswers(runId)],
      ['failed', ['none', 'heard secret'], ['b-1.json']],
    );
    const resumed = await project.acor(['resume', runId]);
    assert.match(resumed.stdout, /"msg":"none"/);
    assert.equal(project.record(runId)!.state, 'waiting_ai');
    assert.deepEqual(filedAnswers(runId), ['b-1.json']);
    await project.acor(['answer', runId, 'a-1', '--value', JSON.stringify(FILE_ID)]);
    await project.acor(['wait', runId]);
    assert.equal(project.events(runId).at(-2)!.to, 'failed');
    assert.deepEqual(await placesOf([FILE_ID], project, resumed.stdout), []);

    const replayed = parseLines((await project.acor(['replay', runId, '--execute'])).stdout);
    const again = String(replayed[0]!.run_id);
    const answered = replayed.filter(({ type }) => type === 'action_answered').map(({ answer }) => answer);
    assert.deepEqual([answered, project.record(again)!.state], [['short'], 'waiting_ai']);
    await project.acor(['cancel', again]);
    await project.acor(['wait', again]);
  });

  it('leaves no such answer behind after its run is recovered', async () => {
    tool(
      'asks_and_stays',
      `echo '{"type":"action_required","action":"id","action_id":"a-1","blocking":true}'; read -r answer
       echo '{"type":"heartbeat"}'; sleep 600`,
      'secrets: [FILE_ID]\nactions: [id]\n',
    );
    const running = project.start(['run', 'asks_and_stays', '--answer', `id=${FILE_ID}`]);
    const runId = String((await running.event('heartbeat')).run_id);
    assert.deepEqual(filedAnswers(runId), ['a-1.json']);
    await project.killSupervisor(runId);
    await running.finished;
    await project.acor(['health', '--fix']);
    const { data } = await project.envelope(['show', runId]);
    assert.deepEqual([data.code, filedAnswers(runId)], ['E_RUNNER_LOST', []]);
  });

  it('has it in no record while the run is queued, and in no file before it starts', async () => {
    using queued = new TestProject({
      tools: ['heeds_cancel'],
      config: 'version: 1\nproject: { name: test }\nbudget: { max_runs: 1 }\n',
    });
    await queued.acor(['secret', 'set', 'FILE_ID'], { stdin: FILE_ID });
    queued.write('tools/ignores/tool.yaml', 'secrets: [FILE_ID]\n');
    queued.write('tools/ignores/cli.sh', '#!/bin/bash\n', 0o755);
    const first = queued.start(['run', 'heeds_cancel']);
    const { run_id: holder } = await first.event('start');
    const cwd = queued.path(`of-${FILE_ID}`);
    mkdirSync(cwd);
    const second = queued.start(['run', 'ignores', '--idempotency-key', `for-${FILE_ID}`], { cwd });
    const { run_id } = await second.event('runner_log');
    assert.equal(queued.record(String(run_id))!.state, 'queued');
    assert.equal(existsSync(foldersOf(queued, run_id).secrets), false);
    assert.deepEqual(await placesOf([FILE_ID], queued, ''), []);
    await queued.acor(['cancel', String(run_id)]);
    await queued.acor(['cancel', String(holder)]);
    const { stdout } = await second.finished;
    await first.finished;
    assert.deepEqual(await placesOf([FILE_ID], queued, stdout), []);
  });

  it('that writes one into an artifact keeps its result, and readers of the run get a warning', async () => {
    tool(
      'files',
      `base64 -w 0 "$SECRETS_DIR/API_TOKEN" > "$ARTIFACTS_DIR/b64.txt"; echo fine > "$ARTIFACTS_DIR/fine.txt"
       mkdir made; cp "$SECRETS_DIR/FILE_ID" made/inner
       echo '{"type":"result","status":"ok","artifacts":[{"path":"made"}]}'`,
      'secrets: [API_TOKEN, FILE_ID]\n',
    );
    const { end, of } = await project.run(['files']);
    const warned = of('runner_warning').map(({ artifact, secrets }) => [
      String(artifact).split('/').at(-1),
      secrets,
    ]);
    assert.deepEqual([end.state, (end.artifacts as unknown[]).length], ['completed', 3]);
    assert.deepEqual(warned, [
      ['made', ['FILE_ID']],
      ['b64.txt', ['API_TOKEN']],
    ]);
  });

  it('that has one in the name or folder of an artifact that it reports keeps its result, and a false sha256 is found', async () => {
    for (const [name, folder] of [
      ['named', ''],
      ['filed', 'of-$(base64 -w 0 "$SECRETS_DIR/API_TOKEN")/'],
    ] as const) {
      tool(
        name,
        `path="${folder}leak-$(cat "$SECRETS_DIR/FILE_ID").txt"; mkdir -p "$(dirname "$path")"; echo text > "$path"
         sum=$(sha256sum < "$path"); echo "{\\"type\\":\\"result\\",\\"status\\":\\"ok\\",\\"artifacts\\":[{\\"path\\":\\"$path\\",\\"sha256\\":\\"\${1:-\${sum%% *}}\\"}]}"`,
        'secrets: [API_TOKEN, FILE_ID]\n',
      );
      const { end, of } = await project.run([name]);
      assert.equal(end.state, 'completed', JSON.stringify(end));
      const [artifact] = end.artifacts as { path: string; size: number }[];
      assert.match(artifact!.path, /\/leak-\[redacted:FILE_ID\]\.txt$/);
      assert.equal(artifact!.size, 5);
      const secrets = folder === '' ? ['FILE_ID'] : ['API_TOKEN', 'FILE_ID'];
      assert.deepEqual(
        of('runner_warning').map((warning) => warning.secrets),
        [secrets],
      );
      const lied = await project.run([name, 'f'.repeat(64)]);
      assert.match(String(lied.end.reason ?? lied.of('runner_error')[0]?.msg), /does not have the sha256/);
    }
  });

  it('that has one with a slash in the path of an artifact that it reports keeps its result', async () => {
    await project.acor(['secret', 'set', 'SLASHED'], { stdin: 'alpha-1/beta-2/gamma-3' });
    tool(
      'slashed',
      `path="in/x-$(cat "$SECRETS_DIR/SLASHED")-y/$(cat "$SECRETS_DIR/SLASHED")"; mkdir -p "$(dirname "$path")" in/x-alpha-1/other
       echo text > "$path"; sum=$(sha256sum < "$path")
       echo "{\\"type\\":\\"result\\",\\"status\\":\\"ok\\",\\"artifacts\\":[{\\"path\\":\\"$path\\",\\"sha256\\":\\"\${1:-\${sum%% *}}\\"}]}"`,
      'secrets: [SLASHED]\n',
    );
    const { end, of, stdout } = await project.run(['slashed']);
    assert.equal(end.state, 'completed', stdout);
    const [artifact] = end.artifacts as { path: string; size: number }[];
    assert.match(artifact!.path, /\/work\/in\/x-\[redacted:SLASHED\]-y\/\[redacted:SLASHED\]$/);
    assert.equal(artifact!.size, 5);
    assert.deepEqual(
      of('runner_warning').map(({ secrets }) => secrets),
      [['SLASHED']],
    );
    assert.doesNotMatch(stdout, /gamma-3/);
    const lied = await project.run(['slashed', 'f'.repeat(64)]);
    assert.match(String(lied.of('runner_error')[0]?.msg), /does not have the sha256/);
  });

  it('that has one anywhere in its path is verified, in a folder and in a pack, and a change of it is found', async () => {
    await project.acor(['secret', 'set', 'SLASHED'], { stdin: 'alpha-1/beta-2/gamma-3' });
    tool(
      'deep',
      `of="of-$(cat "$SECRETS_DIR/FILE_ID")"; in="$(cat "$SECRETS_DIR/SLASHED")"
       for path in "$ARTIFACTS_DIR/$of/a.txt" "$ARTIFACTS_DIR/$in/b-$in.txt" "made/$of/c"; do mkdir -p "$(dirname "$path")"; echo "$path" > "$path"; done
       echo "{\\"type\\":\\"result\\",\\"status\\":\\"ok\\",\\"artifacts\\":[{\\"path\\":\\"made/$of\\"}]}"`,
      'secrets: [FILE_ID, SLASHED]\n',
    );
    const { end } = await project.run(['deep']);
    const paths = (end.artifacts as { path: string }[]).map(
      ({ path }) => path.split(/\/(?=work|artifacts)/)[1],
    );
    assert.deepEqual(paths.sort(), [
      'artifacts/[redacted:SLASHED]/b-[redacted:SLASHED].txt',
      'artifacts/of-[redacted:FILE_ID]/a.txt',
      'work/made/of-[redacted:FILE_ID]',
    ]);
    const runId = project.runIds().at(-1)!;
    assert.equal((await project.acor(['verify', runId])).code, 0);
    await project.acor(['clean', '--pack', '--keep', '0']);
    assert.ok(!existsSync(join(project.runsDir, runId)));
    assert.equal((await project.acor(['verify', runId])).code, 0);

    await project.run(['deep']);
    const changed = project.runIds().at(-1)!;
    project.write(`.runs/${changed}/artifacts/alpha-1/beta-2/gamma-3/b-alpha-1/beta-2/gamma-3.txt`, 'other');
    const { stdout, code } = await project.acor(['verify', changed]);
    assert.equal(code, 1);
    assert.match(stdout, /artifacts\/\[redacted:SLASHED\]\/b-\[redacted:SLASHED\]\.txt/);
    assert.doesNotMatch(stdout, /a\.txt|gamma-3/);
  });

  it('that an agent puts into the name of a file that it reports is found there, too', async () => {
    tool(
      'agent',
      `name="leak-$(cat "$SECRETS_DIR/FILE_ID").txt"; echo text > "$name"; printf '[FILES_MODIFIED]\\n- %s\\n\\n[CODEX_COMPLETE]\\ndone\\n' "$name"`,
      'secrets: [FILE_ID]\nadapter: markers\n',
    );
    const { end, of, stdout } = await project.run(['agent']);
    assert.deepEqual([end.state, (end.artifacts as unknown[]).length], ['completed', 1], stdout);
    assert.deepEqual(
      of('runner_warning').map(({ secrets }) => secrets),
      [['FILE_ID']],
    );
  });

  it('is read at once when its line ends like the beginning of a secret', async () => {
    await project.acor(['secret', 'set', 'ODD'], { stdin: '}\nis how this one begins' });
    tool(
      'waits_for_file',
      `echo '{"type":"heartbeat"}'; until [ -e go ]; do sleep 0.05; done`,
      'secrets: [ODD]\n',
    );
    const running = project.start(['run', 'waits_for_file']);
    const { run_id } = await running.event('heartbeat');
    project.write(`.runs/${run_id}/work/go`, '');
    assert.equal((await running.finished).code, 0);
  });
});

describe('output of a tool with its secrets', () => {
  let project: TestProject;
  let forms: string[];
  let formCount: number;
  before(async () => {
    project = new TestProject({ tools: ['tells_secret'] });
    await project.acor(['secret', 'set', 'API_TOKEN'], { stdin: TOKEN });
    await project.acor(['secret', 'set', 'FILE_ID'], { stdin: FILE_ID });
    await project.acor(['secret', 'set', 'KEY'], { stdin: KEY });
    const { stdout } = spawnSync('python3', [project.path('tools/tells_secret/cli.py'), '--forms'], {
      input: TOKEN,
      encoding: 'utf8',
    });
    forms = Object.values(JSON.parse(stdout) as Record<string, string>);
    formCount = forms.length;
    forms.push(...KEY.split('\n').slice(1, -1));
    assert.ok(forms.length > 15);
  });
  after(() => project[Symbol.dispose]());

  for (const args of [[], ['--fail'], ['--no-stream'], ['--fail', '--no-stream']]) {
    it(`is neither in the store nor in what ACOR shows (acor run tells_secret ${args.join(' ')})`, async () => {
      const { stdout, stderr, code } = await project.acor(['run', 'tells_secret', ...args]);
      assert.equal(code, args.includes('--fail') ? 1 : 0, stdout + stderr);
      assert.deepEqual(await placesOf([...forms, FILE_ID], project, stdout + stderr), []);
      const runId = project.runIds().at(-1)!;
      for (const command of ['show', 'logs', 'artifacts', 'decisions']) {
        const shown = await project.acor([command, runId]);
        assert.deepEqual(await placesOf([...forms, FILE_ID], project, shown.stdout), [], command);
      }
      assert.equal((await project.envelope(['verify', runId])).data.ok, true);
    });
  }

  it('is emitted as valid messages', async () => {
    const { of, end } = (await project.run(['tells_secret'])) as RunOfTool;
    assert.equal(end.state, 'completed');
    assert.deepEqual(of('result')[0]!.data, { token: '[redacted:API_TOKEN]', named: '[redacted:FILE_ID]' });
    assert.equal(of('progress')[0]!.msg, '[redacted:API_TOKEN]');
    assert.deepEqual(of('note_of_mine')[0]!['[redacted:API_TOKEN]'], {
      deep: ['[redacted:API_TOKEN]', { er: '[redacted:API_TOKEN]' }],
    });
    assert.equal(
      of('log').filter(({ msg }) => /^[a-z0-9-]+: .*redacted:API_TOKEN/.test(String(msg))).length,
      formCount,
    );
    assert.ok(of('log').some(({ msg }) => msg === '[redacted:KEY]'));
    assert.equal(
      of('runner_warning').some(({ msg }) => /contains the secrets: FILE_ID/.test(String(msg))),
      true,
    );
  });

  it('contains every form without `secrets` in the manifest (the control of the search above)', async () => {
    using control = new TestProject({ tools: [], config: WITHOUT_SANDBOX });
    cpSync(project.path('tools/tells_secret/cli.py'), join(control.root, 'tools/tells_openly/cli.py'), {
      recursive: true,
    });
    control.write('tools/tells_openly/tool.yaml', 'env: { allow: [TOKEN_FILE] }\n');
    mkdirSync(control.path('files'));
    const env = { TOKEN_FILE: control.write('files/token', 'plain old secret of mine') };
    const { stdout } = spawnSync('python3', [project.path('tools/tells_secret/cli.py'), '--forms'], {
      input: 'plain old secret of mine',
      encoding: 'utf8',
    });
    const plainForms = Object.values(JSON.parse(stdout) as Record<string, string>);
    const shown = await control.run(['tells_openly'], { env });
    const places = await placesOf(plainForms, control, shown.stdout);
    const found = new Set(places.map((place) => place.split(' in ')[0]));
    assert.deepEqual([...found].sort(), [...new Set(plainForms)].sort());
  });
});

function secretFile(project: TestProject, name: string): string {
  const root = project.path('data/acor/secrets');
  const [folder] = readdirSync(root);
  return join(root, folder!, name);
}

function foldersOf(project: TestProject, runId: unknown): { work: string; secrets: string } {
  const dir = join(project.runsDir, String(runId));
  return { work: join(dir, 'work'), secrets: join(dir, 'secrets') };
}

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}

/** A run of a tool with a secret whose supervisor was killed by SIGKILL; with the watchdog killed first, no process is left. */
async function killedSupervisor(
  project: TestProject,
  alsoWatchdog: boolean,
): Promise<{ runId: string; secrets: string }> {
  project.write('tools/lasts/tool.yaml', 'secrets: [API_TOKEN]\n');
  project.write('tools/lasts/cli.sh', `#!/bin/bash\necho '{"type":"heartbeat"}'\nsleep 600\n`, 0o755);
  const running = project.start(['run', 'lasts'], { env: BY_FILE });
  const runId = String((await running.event('heartbeat')).run_id);
  const { secrets } = foldersOf(project, runId);
  assert.deepEqual(readdirSync(secrets), ['API_TOKEN']);
  if (alsoWatchdog) {
    // The subshell of a killed watchdog is listed after it.
    await until(() => {
      const left = watchdogsOf(runId);
      for (const pid of left) process.kill(pid, 'SIGKILL');
      return left.length === 0;
    });
  }
  await project.killSupervisor(runId);
  await running.finished;
  if (!alsoWatchdog) await until(() => processesOf(runId).length === 0);
  return { runId, secrets };
}

describe('secrets of a program that reads variables', () => {
  it('arrive as a value or as the path of a file, are redacted, and are described', async () => {
    using project = new TestProject();
    project.write(
      'tools/gh/main',
      '#!/bin/bash\necho "value $GH_TOKEN"\necho "file $(cat "$KEY_FILE")"\necho "length ${#GH_TOKEN}"\n',
      0o755,
    );
    project.write(
      'tools/gh/tool.yaml',
      'name: gh\nversion: 1.0.0\nadapter: plain\nsecrets: [{ name: gh-token, as: env, variable: GH_TOKEN }, { name: key, as: file, variable: KEY_FILE }]\n',
    );
    await project.acor(['secret', 'set', 'gh-token'], { stdin: 'token-0123456789\n' });
    await project.acor(['secret', 'set', 'key'], { stdin: 'key-9876543210' });
    const { of, stdout } = await project.run(['gh']);
    assert.deepEqual(
      of('log').map(({ msg }) => msg),
      ['value [redacted:gh-token]', 'file [redacted:key]', 'length 16'],
    );
    assert.doesNotMatch(stdout, /0123456789|9876543210/);
    const { data } = await project.envelope(['describe', 'gh', '--permissions']);
    assert.ok(
      data.words.some((line: string) => /every program that it starts gets them, too: GH_TOKEN\./.test(line)),
    );
    project.write('tools/gh/tool.yaml', 'name: gh\nsecrets: [{ name: gh-token, as: env }]\n');
    const { error } = await project.envelope(['run', 'gh']);
    assert.match(error.message, /must not get the variable 'gh-token'/);
  });
});
