import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { filesWith } from '../support/files-with.ts';
import { readRun, TestProject, until } from '../support/project.ts';
import { TaskProject } from '../support/task-project.ts';

const THREAD = '0199a213-81c0-7800-8aa1-bbab2a035a53';

/** A turn of `codex exec --json` that writes a message. */
function codexTurn(text: string, items: readonly object[] = [], inputTokens = 100): object[] {
  return [
    { type: 'thread.started', thread_id: THREAD },
    { type: 'turn.started' },
    ...items.map((item, index) => ({ type: 'item.completed', item: { id: `item_${index}`, ...item } })),
    { type: 'item.completed', item: { id: 'said', type: 'agent_message', text } },
    { type: 'turn.completed', usage: { input_tokens: inputTokens } },
  ];
}

const QUESTION = `[QUESTION] Where is it kept?
Options:
1. localStorage - stays
2. sessionStorage - goes

It decides what logging out means.`;

describe('acor task', () => {
  it('stops at a question with exit code 2, and continues with the answer in the same conversation and the same run', async () => {
    const changes = [
      { path: 'src/form.txt', kind: 'update' },
      { path: 'src/never.txt', kind: 'add' },
    ];
    using project = new TaskProject('codex', [
      { prints: codexTurn(QUESTION) },
      {
        does: 'echo changed >>src/form.txt; echo new >src/new.txt',
        prints: codexTurn(
          '[CODEX_COMPLETE] Task completed in 2 iterations',
          [{ type: 'file_change', changes, status: 'completed' }],
          250,
        ),
      },
    ]);
    const { env } = project;
    project.write('plan.md', 'First the form.');
    const asked = await project.acor(['task', 'login', 'Remember the user', 'plan.md'], { env });
    assert.equal(asked.code, 2, asked.stderr);
    const [runId] = project.runIds();
    assert.match(asked.stderr, new RegExp(`acor answer ${runId} q-1 --choice 1`));
    const first = project.call(1);
    assert.deepEqual(first.slice(0, 3), ['exec', '--json', '--skip-git-repo-check']);
    assert.match(first.at(-1)!, /\[BLOCKED\][\s\S]*Task login: Remember the user[\s\S]*First the form\./);

    const answered = await project.envelope(['answer', runId!, 'q-1', '--choice', '1'], { env });
    assert.equal(answered.ok, true, JSON.stringify(answered));
    const ended = await project.envelope(['wait', runId!], { env });
    assert.equal(ended.data.state, 'completed', JSON.stringify(ended));
    assert.deepEqual(project.runIds(), [runId], 'a second run was started');
    const second = project.call(2);
    assert.deepEqual(second.slice(0, 3), ['exec', 'resume', THREAD]);
    assert.match(second.at(-1)!, /^Where is it kept\?\nAnswer: option 1 \(localStorage\)/);

    const events = project.events(runId!);
    const summary = events.find(({ msg }) => msg === "task 'login': 2 turns")!;
    const { input_tokens } = summary.metrics as Record<string, number>;
    assert.equal(input_tokens, 250, 'Codex reports the usage of the whole conversation');
    assert.deepEqual(summary.files, [
      { path: 'src/form.txt', change: 'modified' },
      { path: 'src/new.txt', change: 'created' },
    ]);
    const lies = events.filter(({ type, path }) => type === 'runner_warning' && path !== undefined);
    assert.deepEqual(
      lies.map(({ path }) => path),
      ['src/never.txt'],
    );
    const [artifact] = events.filter(({ type }) => type === 'artifact');
    assert.equal(artifact?.path, project.path('src/form.txt'));
  });

  it('continues the conversation for the same id, and begins another one for another id', async () => {
    const done = { prints: codexTurn('Done.') };
    using project = new TaskProject('codex', [done, done, done]);
    for (const id of ['one', 'one', 'two']) {
      const { code, stderr } = await project.acor(['task', id, 'Go on'], { env: project.env });
      assert.equal(code, 0, stderr);
    }
    const begins = [1, 2, 3].map((n) => project.call(n).slice(0, 3).join(' '));
    assert.deepEqual(begins, [
      'exec --json --skip-git-repo-check',
      `exec resume ${THREAD}`,
      'exec --json --skip-git-repo-check',
    ]);
    assert.equal(project.call(2).at(-1), 'Task one: Go on');
  });

  it('waits when the agent is blocked, rejects a second run of the task meanwhile, and ends when it is cancelled', async () => {
    using project = new TaskProject('codex', [{ prints: codexTurn('[BLOCKED] No API address\nWhich one?') }]);
    const { env } = project;
    const asked = await project.envelope(['task', 'api', 'Call it', '--no-stream'], { env });
    assert.equal(asked.error.code, 'E_ACTION_REQUIRED');
    const [runId] = project.runIds();
    assert.equal(project.record(runId!)?.state, 'waiting_ai');
    const again = await project.envelope(['task', 'api', 'Call it now'], { env });
    assert.equal(again.error.code, 'E_USAGE');
    assert.deepEqual(again.meta.next, [`acor attach ${runId}`, `acor cancel ${runId}`]);
    await project.acor(['cancel', runId!], { env });
    const ended = await project.envelope(['wait', runId!], { env });
    assert.equal(ended.error.details.state, 'cancelled');
    assert.equal(existsSync(join(project.agentHome, 'call-2')), false);
  });

  it('continues without an answer after its timeout, and fails when it needs the answer', async () => {
    const config = 'task: { executor: codex }';
    const ends: (string | null)[] = [];
    for (const said of [QUESTION, '[BLOCKED] No API address']) {
      using project = new TaskProject('codex', [{ prints: codexTurn(said) }], config);
      const env = { ...project.env, ACOR_ENVIRONMENT_ANSWER_TIMEOUT_S: '0.2' };
      await project.acor(['task', 't', 'Go'], { env });
      const [runId] = project.runIds();
      const ended = await project.envelope(['wait', runId!, '--until', 'ending'], { env });
      ends.push(ended.error?.code ?? ended.data.state);
    }
    assert.deepEqual(ends, ['completed', 'E_ACTION_TIMEOUT']);
  });

  it('takes answers in advance without stopping', async () => {
    using project = new TaskProject('codex', [
      { prints: codexTurn(QUESTION) },
      { prints: codexTurn('Done.') },
    ]);
    const args = ['task', 'login', 'Remember', '--answer', 'question=in a cookie'];
    const run = readRun(await project.acor(args, { env: project.env }));
    assert.equal(run.end.state, 'completed');
    assert.match(project.call(2).at(-1)!, /Answer: in a cookie/);
  });

  it('continues with the answers that were given after its supervisor was killed', async () => {
    using project = new TaskProject('codex', [
      { prints: codexTurn(QUESTION) },
      { does: 'echo begun >src/begun.txt; sleep 60' },
      { prints: codexTurn('Done.') },
    ]);
    const { env } = project;
    await project.acor(['task', 'login', 'Remember'], { env });
    const [runId] = project.runIds();
    await project.acor(['answer', runId!, 'q-1', '--choice', '2'], { env });
    await until(() => existsSync(project.path('src/begun.txt')));
    await project.killSupervisor(runId!);
    const resumed = readRun(await project.acor(['resume', runId!, '--force'], { env }));
    assert.equal(resumed.end.state, 'completed', JSON.stringify(resumed.end));
    const third = project.call(3);
    assert.deepEqual(third.slice(0, 3), ['exec', 'resume', THREAD]);
    assert.match(third.at(-1)!, /interrupted[\s\S]*Remember[\s\S]*Answer: option 2 \(sessionStorage\)/);
  });

  it('confines the agent: it reaches neither ACOR’s own files, nor the top of the project, nor hooks, nor a key at home', async () => {
    const tried = async (more: string) => {
      using project = new TaskProject('codex', [], `task: { executor: codex }\n${more}`);
      const key = writeIn(project.home, '.ssh/key', 'private');
      writeIn(project.root, '.git/hooks/pre-commit', 'true');
      const tries = {
        config: 'cat .acor/config.yaml',
        store: 'cat .runs/*/events.jsonl',
        key: `cat ${key}`,
        top: 'echo x >top.txt',
        hook: 'echo x >.git/hooks/pre-commit',
        source: 'echo x >src/inside.txt',
      };
      const lines = Object.entries(tries).map(
        ([name, line]) => `(${line}) >/dev/null 2>&1 && echo "did ${name}" >&2`,
      );
      project.write('turns/1.sh', `${lines.join('\n')}\ntrue\n`);
      project.write(
        'turns/1.out',
        codexTurn('Done.')
          .map((each) => `${JSON.stringify(each)}\n`)
          .join(''),
      );
      const run = readRun(await project.acor(['task', 'held', 'Try'], { env: project.env }));
      const did = run.of('diagnostic').flatMap(({ line }) => /^did (\w+)$/.exec(String(line))?.[1] ?? []);
      return { did, mode: project.call(1).find((word) => word.startsWith('sandbox_mode=')), run };
    };
    const held = await tried('');
    assert.deepEqual(held.did, ['source']);
    assert.equal(held.mode, 'sandbox_mode="danger-full-access"');
    const { isolation } = held.run.of('runner_start')[0] as unknown as { isolation: { egress: string[] } };
    assert.deepEqual(isolation.egress, ['api.openai.com:443', 'chatgpt.com:443', 'auth.openai.com:443']);
    const control = await tried("security: { isolation: 'off' }");
    assert.deepEqual(control.did, ['config', 'store', 'key', 'top', 'hook', 'source']);
    assert.equal(control.mode, 'sandbox_mode="workspace-write"', 'without ACOR’s sandbox, its own holds it');
  });

  it('passes the key to the agent only: no argument, event, log or remaining file has it', async () => {
    const does =
      '[ "$CODEX_API_KEY" = sk-0123456789abcdef ] && echo has-key >src/has-key.txt; echo "$CODEX_API_KEY" >&2';
    using project = new TaskProject('codex', [{ does, prints: codexTurn('Done.') }]);
    const { env } = project;
    const stored = await project.acor(['secret', 'set', 'OPENAI_API_KEY'], {
      env,
      stdin: 'sk-0123456789abcdef',
    });
    assert.equal(stored.code, 0, stored.stdout);
    const run = readRun(await project.acor(['task', 'key', 'Go'], { env }));
    assert.equal(run.end.state, 'completed', run.stdout);
    assert.equal(existsSync(project.path('src/has-key.txt')), true);
    assert.doesNotMatch(run.stdout, /sk-0123/);
    await project.supervisorsExited();
    for (const folder of [project.runsDir, project.agentHome])
      assert.deepEqual(filesWith(['sk-0123456789abcdef'], folder), []);
  });

  it('runs claude and gemini with their own flags, sessions and logins', async () => {
    const claude = {
      prints: [
        { type: 'system', subtype: 'init', session_id: 's-1', tools: [], model: 'm' },
        { type: 'assistant', message: { content: [{ type: 'text', text: 'Done.' }] }, session_id: 's-1' },
        {
          ...{ type: 'result', subtype: 'success', is_error: false, result: 'Done.', session_id: 's-1' },
          ...{
            num_turns: 1,
            duration_ms: 5,
            total_cost_usd: 0.25,
            usage: { input_tokens: 3, output_tokens: 4 },
          },
        },
      ],
      does: 'cat "$CLAUDE_CONFIG_DIR/.credentials.json" >src/login.txt',
    };
    using project = new TaskProject(
      'claude',
      [claude, claude],
      'task: { executor: claude, model: sonnet, max_cost_usd: 2 }',
    );
    writeIn(project.home, '.claude/.credentials.json', '{"login":1}');
    const { env } = project;
    for (const words of ['First', 'Then']) {
      const run = readRun(await project.acor(['task', 't', words], { env }));
      assert.equal(run.end.state, 'completed', JSON.stringify(run.end));
    }
    assert.equal(readFileSync(project.path('src/login.txt'), 'utf8'), '{"login":1}');
    const [, prompt, ...flags] = project.call(2);
    assert.equal(prompt, 'Task t: Then');
    assert.match(
      flags.join(' '),
      /^--output-format stream-json --verbose --append-system-prompt You carry out/,
    );
    assert.match(
      flags.join(' '),
      /--permission-mode bypassPermissions --resume s-1 --model sonnet --max-budget-usd 2$/,
    );
    const [runId] = project.runIds();
    const log = project.events(runId!).find(({ msg }) => msg === "task 't': 1 turn");
    assert.equal((log!.metrics as Record<string, number>)['cost_usd'], 0.25);

    const gemini = {
      prints: [
        { type: 'init', session_id: 'g-1', model: 'm' },
        { type: 'message', role: 'assistant', content: 'Done.' },
        { type: 'result', status: 'success', stats: { total_tokens: 7 } },
      ],
    };
    using other = new TaskProject('gemini', [gemini, gemini]);
    for (const words of ['First', 'Then']) await other.acor(['task', 't', words], { env: other.env });
    const [flag, again, ...more] = other.call(2);
    assert.deepEqual([flag, again], ['-p', 'Task t: Then']);
    assert.equal(more.join(' '), '-o stream-json --skip-trust --approval-mode yolo --resume g-1');
  });

  it('accepts any program as executor, called as the seed calls its own, and reads its markers', async () => {
    const does = 'echo made >src/made.txt';
    const prints =
      '[PROGRESS] Looked\n[FILES_MODIFIED]\n- src/made.txt (created)\n\n[CODEX_COMPLETE] Task completed in 3 iterations\n';
    using project = new TaskProject(
      'command',
      [{ does, prints }],
      "task: { executor: { command: ['./bin/agent', '--fast'] } }",
    );
    project.write('plan.md', 'a plan');
    const run = readRun(await project.acor(['task', 'own', 'Make it', 'plan.md'], { env: project.env }));
    assert.equal(run.end.state, 'completed', run.stdout + run.stderr);
    const [fast, id, prompt, plan] = project.call(1);
    assert.deepEqual([fast, id, plan], ['--fast', 'own', project.path('plan.md')]);
    assert.match(prompt!, /^You carry out the task own [\s\S]*\[BLOCKED\][\s\S]*\n\nTask own: Make it/);
    assert.equal(run.of('progress')[0]?.msg, 'Looked');
    assert.deepEqual(
      run.of('artifact').map(({ path }) => path),
      [project.path('src/made.txt')],
    );
  });

  it('accepts new files that the executor reports before they are put in place, and names them by their places', async () => {
    const does =
      'mkdir -p "$WORKSPACE/top/lib"; echo a >"$WORKSPACE/top/a.md"; echo b >"$WORKSPACE/top/lib/b.md"; echo c >"$WORKSPACE/top/c.md"';
    const named = (paths: readonly string[]) =>
      `${paths.map((path) => `[FILES_MODIFIED]\n- ${path} (created)\n`).join('\n')}\n[CODEX_COMPLETE] done\n`;
    using project = new TaskProject(
      'command',
      [
        {
          does: `${does}; sed -i "s|TOP|$WORKSPACE/top|; s|ROOT|$PWD|" turns/1.out`,
          prints: named(['a.md', 'TOP/lib/b.md', 'ROOT/c.md', 'missing.md']),
        },
      ],
      "task: { executor: { command: ['./bin/agent'] }, commands: [sed] }",
    );
    const run = readRun(await project.acor(['task', 'own', 'Make it'], { env: project.env }));
    assert.equal(run.end.state, 'completed', run.stdout + run.stderr);
    const warned = run.of('runner_warning').map(({ path, msg }) => path ?? msg);
    assert.deepEqual(warned, ['missing.md']);
    const artifacts = run.of('artifact').map(({ path }) => path);
    assert.deepEqual(
      artifacts.sort(),
      ['a.md', 'c.md', 'lib/b.md'].map((path) => project.path(path)),
    );
    assert.equal((await project.envelope(['verify', 'last'], { env: project.env })).ok, true);
  });

  it('starts a program without a conversation again with the description and all answers, and warns of nothing', async () => {
    const asks = (what: string) => `[QUESTION] ${what}?\nOptions:\n1. Yes\n2. No\n\n`;
    using project = new TaskProject(
      'command',
      [{ prints: asks('First') }, { prints: asks('Second') }, { prints: '[CODEX_COMPLETE] done\n' }],
      "task: { executor: { command: ['./bin/agent'] } }",
    );
    const { env } = project;
    await project.acor(['task', 'own', 'Make it'], { env });
    const [runId] = project.runIds();
    await project.envelope(['answer', runId!, 'q-1', '--value', '1'], { env });
    await until(() => project.events(runId!).some(({ action_id }) => action_id === 'q-1.2'));
    await until(() => project.record(runId!)!.state === 'waiting_ai');
    await project.envelope(['answer', runId!, 'q-1.2', '--value', '"no"'], { env });
    const ended = await project.envelope(['wait', runId!], { env });
    assert.equal(ended.data.state, 'completed', JSON.stringify(ended));
    const third = project.call(3)[1]!;
    assert.match(
      third,
      /Task own: Make it\n\nFirst\?\nAnswer: option 1 \(Yes\)\n\nSecond\?\nAnswer: option 2 \(No\)/,
    );
    const warnings = project.events(runId!).filter(({ type }) => type === 'runner_warning');
    assert.deepEqual(
      warnings.map(({ msg }) => msg),
      [],
    );
  });

  it('puts new files at the top of the project in place, and none that other programs execute or obey', async () => {
    const does = `mkdir -p "$WORKSPACE/top/lib"; cd "$WORKSPACE/top"
echo made >made.txt; echo x >lib/x.ts; echo evil >AGENTS.md; echo other >README.md; ln -s /etc/passwd link; cd "$OLDPWD"`;
    using project = new TaskProject('codex', [{ does, prints: codexTurn('Done.') }]);
    project.write('README.md', 'mine');
    const run = readRun(await project.acor(['task', 'top', 'Go', '--stream'], { env: project.env }));
    assert.equal(run.end.state, 'completed', run.stdout);
    assert.equal(readFileSync(project.path('made.txt'), 'utf8'), 'made\n');
    assert.equal(readFileSync(project.path('lib/x.ts'), 'utf8'), 'x\n');
    assert.equal(readFileSync(project.path('README.md'), 'utf8'), 'mine');
    assert.deepEqual(
      ['AGENTS.md', 'link'].map((name) => existsSync(project.path(name))),
      [false, false],
    );
    const refused = run.of('runner_warning').filter(({ msg }) => /not put in place/.test(String(msg)));
    assert.deepEqual(refused.map(({ path }) => String(path).split('/').at(-1)).sort(), [
      'AGENTS.md',
      'README.md',
      'link',
    ]);
    const [left] = run.of('runner_warning').filter(({ leftovers }) => leftovers !== undefined);
    assert.deepEqual(left!.leftovers, ['top/AGENTS.md', 'top/README.md', 'top/link']);
    const { files } = run.of('runner_log').at(-1)! as unknown as { files: { path: string }[] };
    assert.deepEqual(
      files.map(({ path }) => path),
      ['lib/x.ts', 'made.txt'],
    );
    assert.match(project.call(1).at(-1)!, /Make a new file or folder for its top in \S+\/work\/top/);
  });

  it('offers no step that names its executor, which is not a tool, after a refusal', async () => {
    using project = new TaskProject('codex', []);
    project.write('.acor/policy.yaml', 'version: 1\nmax_level: minimal\n');
    const denied = await project.envelope(['task', 'one', 'Go'], { env: project.env });
    assert.deepEqual([denied.error.code, denied.meta.next], ['E_POLICY_DENIED', undefined]);
    rmSync(project.path('.acor/policy.yaml'));
    const unread = await project.envelope(['task', 'one', 'Go', 'missing.md'], { env: project.env });
    assert.deepEqual([unread.error.code, unread.meta.next], ['E_INPUT_NOT_FOUND', undefined]);
  });

  it('makes nothing in a dry run', async () => {
    using project = new TaskProject('codex', []);
    const { data } = await project.envelope(['task', 't', 'Go', '--dry-run'], { env: project.env });
    assert.equal(data.tool, 'task:codex');
    assert.equal(existsSync(join(project.home, 'state')), false);
    assert.equal(existsSync(project.runsDir) && project.runIds().length > 0, false);
  });

  it('names task.hosts when the sandbox refuses a host', async () => {
    const does =
      'python3 -c "import urllib.request; urllib.request.urlopen(\'https://other.example\')" 2>&1 >&2 | tail -1 >&2';
    using project = new TaskProject('codex', [{ does, prints: codexTurn('Done.') }]);
    const run = readRun(await project.acor(['task', 'net', 'Go', '--stream'], { env: project.env }));
    const said = JSON.stringify(run.of('runner_warning')) + JSON.stringify(run.of('runner_log'));
    assert.match(said, /In .acor\/config.yaml, under task.hosts, write: - other.example:443/);
    assert.doesNotMatch(said, /tool.yaml/);
  });

  it('reports what is missing: an executor, its program, a command', async () => {
    using project = new TaskProject('codex', [], 'task: {}');
    const env = { ...project.env, PATH: '/usr/bin:/bin' };
    const none = await project.envelope(['task', 't', 'Go'], { env });
    assert.equal(none.error.code, 'E_CONFIG_INVALID');
    const absent = await project.envelope(['task', 't', 'Go', '--executor', 'gemini'], { env });
    assert.equal(absent.error.code, 'E_RUNTIME_MISSING');
    const command = await project.envelope(['task', 't', 'Go', '--executor', 'command'], { env });
    assert.equal(command.error.code, 'E_CONFIG_INVALID');
    const openai = await project.envelope(['task', 't', 'Go', '--executor', 'responses'], { env });
    assert.match(openai.error.hint, /npm install openai/);
  });

  it('says that the executor of the project has no effect until a person trusts it', async () => {
    using project = new TestProject({
      config: 'version: 1\ntask: { executor: { command: [/bin/true], adapter: markers } }\n',
      isTrusted: false,
    });
    for (const more of [[], ['--executor', 'command']]) {
      const { error, meta } = await project.envelope(['task', 't', 'Go', ...more]);
      assert.equal(error.code, 'E_APPROVAL_REQUIRED', more.join(' '));
      assert.match(error.message, /config\.yaml:2:\d+ has no effect, because you have not trusted it$/);
      assert.deepEqual(meta.next, ['acor trust']);
    }
  });
});

function writeIn(folder: string, path: string, text: string): string {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}
