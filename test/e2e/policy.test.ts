import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { readRun, TestProject } from '../support/project.ts';
import { atTerminal } from '../support/terminal.ts';

const SCRIPT = '#!/bin/bash\necho \'{"type":"result","status":"ok","approved":true}\'\n';
const ASKS = /To approve it, type its name/;

let project: TestProject;
let home: string;
let env: Record<string, string>;
beforeEach(async () => {
  project = new TestProject({ tools: ['quick', 'reads_file'] });
  home = mkdtempSync(join(tmpdir(), 'acor-home-'));
  env = { HOME: home };
  project.write('tools/deploy/cli.sh', SCRIPT, 0o755);
  project.write(
    'tools/deploy/tool.yaml',
    'name: deploy\nversion: 1.0.0\npermissions: { level: privileged }\nsecrets: [KEY]\n',
  );
  await project.acor(['secret', 'set', 'KEY'], { stdin: 'correct horse', env });
});
afterEach(() => {
  project[Symbol.dispose]();
  rmSync(home, { recursive: true });
});

const approve = (typed: string, extra: Record<string, string> = {}, { root } = project) =>
  atTerminal(['approve', 'deploy'], {
    cwd: root,
    env: { ...env, ...extra },
    when: ASKS,
    typed: `${typed}\n`,
  });

describe('a privileged tool', () => {
  it('runs after a person at a terminal has read what it may do and typed its name', async () => {
    const before = await project.envelope(['run', 'deploy'], { env });
    assert.deepEqual([before.code, before.error.code], [2, 'E_APPROVAL_REQUIRED']);
    assert.deepEqual(before.meta.next, ['acor approve deploy']);
    assert.deepEqual(project.runIds(), []);

    const { text, code } = await approve('deploy');
    assert.equal(code, 0, text);
    for (const expected of [
      /may do everything that you may do/,
      /every host/,
      /secrets: KEY/,
      /cli\.sh, SHA-256 [0-9a-f]{64}/,
    ])
      assert.match(text, expected);

    const { events, end } = await project.run(['deploy'], { env });
    assert.equal(end.state, 'completed');
    const [started] = events;
    const approval = started!.approval as { digest: string; by: string; at: string };
    assert.match(approval.digest, /^[0-9a-f]{64}$/);
    assert.equal(approval.by, execFileSync('id', ['-un'], { encoding: 'utf8' }).trim());
    assert.ok(Date.parse(approval.at) > 0);
    assert.ok(events.slice(1).every((event) => event.approval === undefined));

    const { data } = await project.envelope(['approve', '--list'], { env });
    const [{ tool, state, digest, by }] = data.approvals;
    assert.deepEqual([tool, state, digest, by], ['deploy', 'valid', approval.digest, approval.by]);
    assert.equal(existsSync(project.path('.acor/approvals')), false);
    const kept = join(home, '.local/share/acor/approvals');
    assert.deepEqual([readdirSync(kept).length, statSync(kept).mode & 0o777], [1, 0o700]);
  });

  it('is reported with the file that changed since its approval, by every command, and is approved again', async () => {
    await approve('deploy');
    project.write('tools/deploy/cli.sh', `${SCRIPT}# changed\n`, 0o755);
    const { error } = await project.envelope(['run', 'deploy'], { env });
    assert.equal(error.code, 'E_APPROVAL_REQUIRED');
    assert.match(error.message, /no longer holds, because cli\.sh changed/);
    const listed = await project.envelope(['approve', '--list'], { env });
    assert.deepEqual(
      listed.data.approvals.map((each: Record<string, unknown>) => [each.state, each.changed]),
      [['stale', ['cli.sh']]],
    );
    const described = await project.envelope(['describe', 'deploy', '--permissions'], { env });
    assert.deepEqual([described.data.approval.state, described.data.approval.changed], ['stale', ['cli.sh']]);
    await approve('deploy');
    assert.equal((await project.run(['deploy'], { env })).end.state, 'completed');
  });

  it('is not approved by anything but its name', async () => {
    for (const typed of ['', 'y', 'yes', 'deploy2', 'DEPLOY']) {
      const { code, text } = await approve(typed);
      assert.equal(code, 2, typed);
      assert.match(text, /was not approved/);
    }
    assert.equal((await project.envelope(['run', 'deploy'], { env })).error.code, 'E_APPROVAL_REQUIRED');
  });

  it('is not approved when it changes while the person reads', async () => {
    const change = () => project.write('tools/deploy/cli.sh', `${SCRIPT}# changed\n`, 0o755);
    const { code, text } = await atTerminal(['approve', 'deploy'], {
      cwd: project.root,
      env,
      when: ASKS,
      typed: 'deploy\n',
      beforeTyping: change,
    });
    assert.equal(code, 2);
    assert.match(text, /changed while the person was reading it/);
    assert.deepEqual((await project.envelope(['approve', '--list'], { env })).data.approvals, []);
  });

  it('cannot be approved by an agent, or without a terminal', async () => {
    const piped = await project.envelope(['approve', 'deploy'], { env, stdin: 'deploy\n' });
    assert.deepEqual([piped.code, piped.error.code], [2, 'E_APPROVAL_REQUIRED']);
    assert.match(piped.error.hint, /A person must approve it at a terminal/);
    assert.deepEqual(piped.meta.next, ['acor describe deploy']);
    for (const extra of [{ CLAUDECODE: '1' }, { AI_AGENT: 'x' }] as Record<string, string>[]) {
      const { text, code } = await atTerminal(['approve', 'deploy'], {
        cwd: project.root,
        env: { ...env, ...extra },
      });
      assert.equal(code, 2);
      assert.equal(JSON.parse(text).error.code, 'E_APPROVAL_REQUIRED');
    }
    const json = await atTerminal(['approve', 'deploy', '--json'], { cwd: project.root, env });
    assert.equal(JSON.parse(json.text).error.code, 'E_APPROVAL_REQUIRED');
    assert.equal((await project.envelope(['run', 'deploy'], { env })).error.code, 'E_APPROVAL_REQUIRED');
  });

  for (const [words, change, end] of [
    ['starts after its turn in the queue came (the control of what follows)', '', ['completed', null]],
    ['does not start when it changed while it waited', '# changed\n', ['failed', 'E_APPROVAL_REQUIRED']],
  ] as const) {
    it(words, async () => {
      using limited = new TestProject({
        tools: ['heeds_cancel'],
        config: 'version: 1\nbudget: { max_runs: 1 }\nenvironment: { cancel_grace_s: 0.3 }\n',
      });
      const script = `${SCRIPT}touch '${limited.path('started')}'\n`;
      limited.write('tools/deploy/cli.sh', script, 0o755);
      limited.write('tools/deploy/tool.yaml', 'name: deploy\npermissions: { level: privileged }\n');
      await approve('deploy', {}, limited);
      const first = limited.start(['run', 'heeds_cancel'], { env });
      const firstId = String((await first.event('start')).run_id);
      const second = limited.start(['run', 'deploy'], { env });
      await second.event('runner_log');
      limited.write('tools/deploy/cli.sh', `${script}${change}`, 0o755);
      await limited.acor(['cancel', firstId], { env });
      const { state, code } = readRun(await second.finished).end;
      assert.deepEqual([state, code], end);
      assert.equal(existsSync(limited.path('started')), state === 'completed');
      await first.finished;
    });
  }

  it('loses its approval by --revoke, which needs no terminal', async () => {
    await approve('deploy');
    const { data } = await project.envelope(['approve', 'deploy', '--revoke'], { env });
    assert.equal(data.approvals[0].state, 'revoked');
    assert.equal((await project.envelope(['run', 'deploy'], { env })).error.code, 'E_APPROVAL_REQUIRED');
    const again = await project.envelope(['approve', 'deploy', '--revoke'], { env });
    assert.deepEqual([again.code, again.error.code], [1, 'E_USAGE']);
  });

  it('is the only kind that needs an approval', async () => {
    const { error } = await project.envelope(['approve', 'quick'], { env });
    assert.equal(error.code, 'E_USAGE');
    assert.match(error.message, /needs no approval/);
  });

  it('runs with its approval under a supervisor process as well', async () => {
    await approve('deploy');
    const { data } = await project.envelope(['run', 'deploy', '--detach'], { env });
    await project.acor(['wait', data.run_id], { env });
    const [started] = project.events(data.run_id);
    assert.match((started!.approval as { digest: string }).digest, /^[0-9a-f]{64}$/);
  });
});

describe('acor policy check', () => {
  it('evaluates a tool with every violation and policy file, and exits with 0 or 2', async () => {
    const free = await project.envelope(['policy', 'check', 'quick'], { env });
    assert.deepEqual([free.code, free.data.allowed, free.data.files], [0, true, []]);
    project.write('tools/asks_much/cli.sh', SCRIPT, 0o755);
    project.write(
      'tools/asks_much/tool.yaml',
      'name: asks_much\npermissions: { commands: [curl], network: { egress_allow: ["a.org:1", "*.b.org:2"] } }\n',
    );
    project.write('.acor/policy.yaml', 'commands: []\nnetwork: { egress_allow: ["a.org:1"] }\n');
    const { code, error } = await project.envelope(['policy', 'check', 'asks_much'], { env });
    const data = error.details;
    assert.deepEqual([code, error.code, data.allowed], [2, 'E_POLICY_DENIED', false]);
    assert.deepEqual(
      data.violations.map(({ path, by }: { path: string; by: string }) => [
        path,
        by.replace(project.root, ''),
      ]),
      [
        ['permissions.network.egress_allow[1]', 'built-in rule'],
        ['permissions.network.egress_allow[1]', '/.acor/policy.yaml:2:26'],
        ['permissions.commands[0]', '/.acor/policy.yaml:1:11'],
      ],
    );
    const run = await project.envelope(['run', 'asks_much'], { env });
    assert.deepEqual([run.code, run.error.code], [2, 'E_POLICY_DENIED']);
    assert.deepEqual(run.error.details.violations, data.violations);
    assert.deepEqual(project.runIds(), []);
    const dry = await project.envelope(['run', 'asks_much', '--dry-run'], { env });
    assert.equal(dry.error.code, 'E_POLICY_DENIED');
  });

  it('also checks the paths of a call, which limit a run in the same way', async () => {
    project.write('data.txt', 'x\n');
    project.write('.acor/policy.yaml', 'filesystem: { read: ["${PROJECT}/data"] }\n');
    assert.equal((await project.envelope(['policy', 'check', 'reads_file'], { env })).code, 0);
    const { code, error } = await project.envelope(['policy', 'check', 'reads_file', 'data.txt'], { env });
    const { violations } = error.details;
    assert.deepEqual([code, violations.length, violations[0].asked], [2, 1, project.path('data.txt')]);
    const refused = await project.envelope(['run', 'reads_file', 'data.txt'], { env });
    assert.equal(refused.error.code, 'E_POLICY_DENIED');
    assert.deepEqual(refused.meta.next, ['acor policy check reads_file data.txt'], 'the same call');
    assert.deepEqual(project.runIds(), []);
    project.write('data/in.txt', 'x\n');
    assert.equal((await project.run(['reads_file', 'data/in.txt'], { env })).end.state, 'completed');
  });

  it('finds what a refused run finds: in the manifest and in the call, also in a call that cannot be settled', async () => {
    project.write('data.txt', 'x\n');
    project.write('tools/long_read/cli.sh', SCRIPT, 0o755);
    project.write(
      'tools/long_read/tool.yaml',
      'name: long_read\ntimeout_s: 60\ninputs: [{ name: file, type: path, access: read, required: true }]\n',
    );
    project.write(
      '.acor/policy.yaml',
      'filesystem: { read: ["${PROJECT}/data"] }\nlimits: { timeout_s: 30 }\n',
    );
    const call = ['long_read', '--file', 'data.txt'];
    const checked = await project.envelope(['policy', 'check', ...call], { env });
    const paths = (given: { error: { details: { violations: { path: string }[] } } }) =>
      given.error.details.violations.map(({ path }) => path);
    assert.deepEqual(paths(checked as never), ['inputs.file', 'timeout_s']);
    const run = await project.envelope(['run', ...call], { env });
    assert.deepEqual(run.error.details.violations, checked.error.details.violations);
    const unsettled = await project.envelope(['run', 'long_read', '--file', 'missing.txt'], { env });
    assert.equal(unsettled.error.code, 'E_POLICY_DENIED');
    assert.deepEqual(paths(unsettled as never), ['timeout_s']);
    assert.deepEqual(project.runIds(), []);
  });

  it('masks secrets of a call for the engine and in its answer, as a run does, and names what it masked', async () => {
    const log = join(home, 'asked');
    project.write(
      'engine.py',
      `#!/usr/bin/python3\nimport json, sys\nasked = sys.stdin.read()\nopen('${log}', 'a').write(asked)\nprint(json.dumps({"allow": False, "violations": [{"rule": "no " + " ".join(json.loads(asked)["args"]), "asked": "correct horse"}]}))\n`,
      0o755,
    );
    const policy = join('.config', 'acor', 'policy.yaml');
    mkdirSync(join(home, '.config', 'acor'), { recursive: true });
    writeFileSync(join(home, policy), `engine: command\ncommand: [${project.path('engine.py')}]\n`);
    project.write(
      'tools/sends/tool.yaml',
      'name: sends\nsecrets: [KEY]\ninputs: [{ name: password, secret: true }, { name: note }, { name: file, type: path }]\n',
    );
    project.write('tools/sends/cli.sh', SCRIPT, 0o755);
    const file = project.write('of correct horse', '');
    const args = ['--password', 'battery staple', '--note', 'battery staple, correct horse', '--file', file];
    const checked = await project.acor(['policy', 'check', 'sends', ...args], { env });
    const run = await project.acor(['run', 'sends', ...args], { env });
    const asked = readFileSync(log, 'utf8');
    for (const text of [checked.stdout, run.stdout, asked]) {
      assert.match(text, /\[redacted:KEY\]/);
      assert.doesNotMatch(text, /correct horse|battery staple/);
    }
    const data = JSON.parse(checked.stdout).error.details;
    assert.deepEqual([data.allowed, data.masked.sort()], [false, ['KEY', 'password']]);
    const plain = await project.envelope(['policy', 'check', 'sends', '--note', 'nothing of it'], { env });
    assert.deepEqual(plain.error.details.masked, []);
    assert.match(readFileSync(log, 'utf8'), /nothing of it/, 'the control: other arguments are not masked');
  });

  it('exits with 2 when the approval is missing', async () => {
    const { code, error, meta } = await project.envelope(['policy', 'check', 'deploy'], { env });
    const data = error.details;
    assert.deepEqual([code, error.code], [2, 'E_APPROVAL_REQUIRED']);
    assert.deepEqual([data.allowed, data.approval.state], [true, 'missing']);
    assert.deepEqual(meta.next, ['acor approve deploy']);
  });
});

describe('a policy', () => {
  it('of the user applies in every project, with an engine that is asked before each run', async () => {
    const log = join(home, 'asked');
    project.write(
      'engine.sh',
      `#!/bin/sh\ncat >> '${log}'\necho '{"allow":false,"violations":[{"rule":"not today"}]}'\n`,
      0o755,
    );
    const file = join('.config', 'acor', 'policy.yaml');
    const own = new TestProject();
    own.write(file, `engine: command\ncommand: [${project.path('engine.sh')}]\n`);
    const { error } = await project.envelope(['run', 'quick'], { env: { HOME: own.root } });
    assert.equal(error.code, 'E_POLICY_DENIED');
    assert.match(error.message, /not today/);
    assert.deepEqual(project.runIds(), []);
    const elsewhere = await project.run(['quick'], { env });
    assert.equal(elsewhere.end.state, 'completed');
    own[Symbol.dispose]();
  });

  it('of a project can use Cedar, by the program that people install', async () => {
    project.write('.acor/policy.yaml', 'engine: cedar\ncedar: { policies: acor.cedar }\n');
    const permit = 'permit(principal, action == Action::"run", resource)';
    project.write('.acor/acor.cedar', `${permit};\n`);
    assert.equal((await project.run(['quick'], { env })).end.state, 'completed');
    project.write('.acor/acor.cedar', `${permit} when { context.level == "standard" };\n`);
    const { error } = await project.envelope(['run', 'quick'], { env });
    assert.equal(error.code, 'E_POLICY_DENIED');
    assert.match(error.message, /no policy of .*acor\.cedar permits it/);
  });

  it('lowers the deadline of every run to its ceiling, and rejects a longer one', async () => {
    project.write('.acor/policy.yaml', 'limits: { timeout_s: 60 }\n');
    assert.equal((await project.run(['quick'], { env })).events[0]!.timeout_s, 60);
    assert.equal((await project.run(['quick', '--timeout', '5'], { env })).events[0]!.timeout_s, 5);
    const { error } = await project.envelope(['run', 'quick', '--timeout', '61'], { env });
    assert.deepEqual([error.code, error.details.violations[0].path], ['E_POLICY_DENIED', '--timeout']);
    assert.match(error.message, /: timeout 61 is above the ceiling of 60$/);
  });

  it('that is invalid is reported by health, with its place and a fix, and blocks all tools', async () => {
    assert.equal(await policyStatus(), 'ok');
    project.write('.acor/policy.yaml', 'max_level: standard\n');
    assert.equal(await policyStatus(), 'ok');
    project.write('.acor/policy.yaml', 'max_level: strong\n');
    assert.equal(await policyStatus(), 'blocked');
    assert.equal((await project.envelope(['run', 'quick'], { env })).error.code, 'E_CONFIG_INVALID');
  });

  async function policyStatus(): Promise<string> {
    const { data, error } = await project.envelope(['health'], { env });
    const check = (data ?? error.details).checks.find(({ name }: { name: string }) =>
      name.startsWith('policy'),
    );
    if (check.status === 'blocked')
      assert.match(`${check.detail} ${check.fix}`, /policy\.yaml:1:12: .*standard/);
    return check.status;
  }
});

describe('acor describe --permissions', () => {
  it('describes to a person in sentences, and to an agent as data, what a tool may do', async () => {
    project.write('tools/fetch/cli.sh', SCRIPT, 0o755);
    project.write(
      'tools/fetch/tool.yaml',
      `name: fetch
permissions:
  filesystem: { read: ["\${PROJECT}/data/**"], write: ["\${PROJECT}/out/**"] }
  network: { egress_allow: ["api.example.com:443"] }
  commands: [git]
env: { require: [REGION] }
resources: { memory_mb: 512 }
timeout_s: 60
effects: writes
`,
    );
    const { data } = await project.envelope(['describe', 'fetch', '--permissions'], { env });
    assert.deepEqual(
      [data.level, data.policy.allowed, data.approval.state],
      ['standard', true, 'not_needed'],
    );
    assert.deepEqual(data.permissions.commands, ['git']);
    const { text } = await atTerminal(['describe', 'fetch', '--permissions'], { cwd: project.root, env });
    for (const sentence of [
      'It may read its own folder, its workspace and its path arguments, and: ${PROJECT}/data/**.',
      'It may write to its workspace and to its output arguments, and: ${PROJECT}/out/**.',
      'It may connect to: api.example.com:443.',
      'It may start, beside bash and ',
      ': git.',
      'It gets no secrets.',
      'REGION',
      'It is stopped after 60 s',
      '512 MB of memory',
      'It says of itself that it changes things.',
      'There is no policy file; the built-in policy allows it.',
      'It needs no approval.',
    ]) {
      assert.ok(text.includes(sentence), `${sentence}\n${text}`);
      assert.ok(data.words.join('\n').includes(sentence), sentence);
    }
  });
});
