import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { describe, it } from 'node:test';
import { generateText, stepCountIs } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { acorSandbox, acorTools } from '../../src/ai-sdk/index.ts';
import { Acor } from '../../src/index.ts';
import { processesOf, TestProject, until, WITHOUT_SANDBOX } from '../support/project.ts';

const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** The number of the system call is that of Linux on x64. */
const canExchange = process.platform === 'linux' && process.arch === 'x64';

/**
 * Does something again and again while another process lets the folder `sub` and the link `link` change places, so that each name is always
 * taken. The process ends by itself.
 */
async function whileExchanged(folder: string, work: () => Promise<void>): Promise<void> {
  // renameat2 with RENAME_EXCHANGE
  const exchange = `
    chdir shift;
    my ($folder, $link) = ('sub', 'link');
    for (1..1000) {
      die $! if syscall(316, -100, $folder, -100, $link, 2) != 0;
      select(undef, undef, undef, 0.0001);
    }`;
  const swaps = spawn('perl', ['-e', exchange, folder]);
  const ended = once(swaps, 'close');
  while (swaps.exitCode === null) {
    await work();
    await new Promise(setImmediate);
  }
  assert.deepEqual(await ended, [0, null]);
}

/** What the model does next, from the results that it has seen. */
type Turn = (results: Result[]) => { call: string; args: object } | { say: string };

// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever the result holds
type Result = any;

/** A model whose words are written beforehand. */
function modelOf(turn: Turn, seen: Result[] = []): MockLanguageModelV4 {
  let calls = 0;
  return new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => {
      seen.length = 0;
      for (const message of prompt)
        if (message.role === 'tool')
          for (const part of message.content) seen.push((part as Result).output.value);
      const next = turn(seen);
      const content =
        'say' in next
          ? [{ type: 'text' as const, text: next.say }]
          : [
              {
                type: 'tool-call' as const,
                toolCallId: `c-${++calls}`,
                toolName: next.call,
                input: JSON.stringify(next.args),
              },
            ];
      const unified = 'say' in next ? ('stop' as const) : ('tool-calls' as const);
      return { content, finishReason: { unified, raw: undefined }, usage: USAGE, warnings: [] };
    },
  });
}

async function converse(project: TestProject, turn: Turn, options: { limitS?: number } = {}) {
  const seen: Result[] = [];
  const acor = new Acor({ cwd: project.root, env: project.environment() });
  const { text } = await generateText({
    model: modelOf(turn, seen),
    tools: await acorTools(acor, options),
    stopWhen: stepCountIs(20),
    prompt: 'Go.',
  });
  return { text, results: seen };
}

describe('acor/ai-sdk with the AI SDK and a scripted model', () => {
  it('runs tools, and gives the model a failure as a result', async () => {
    using project = new TestProject({ tools: ['exits_with', 'prints_json'], config: WITHOUT_SANDBOX });
    const { text, results } = await converse(project, (seen) => {
      if (seen.length === 0) return { call: 'prints_json', args: {} };
      if (seen.length === 1) return { call: 'exits_with', args: { code: 30 } };
      if (seen.length === 2) return { call: 'exits_with', args: { code: 'x' } };
      return { say: 'done' };
    });
    assert.equal(text, 'done');
    assert.deepEqual(
      results.map(({ state, error }) => [state, error?.code]),
      [
        ['completed', undefined],
        ['failed', 'E_TOOL_FAILED'],
        ['refused', 'E_USAGE'],
      ],
    );
  });

  it('asks the model a question of a run, and waits for a run that takes long', async () => {
    using project = new TestProject({ tools: ['asks_in_typescript'], config: WITHOUT_SANDBOX });
    project.write(
      'tools/waits/cli.sh',
      `#!/bin/bash\nuntil [ -e ${project.path('go')} ]; do sleep 0.05; done\necho '{"type":"result","status":"ok","data":7}'\n`,
      0o755,
    );
    const asked = await converse(project, (seen) => {
      const last = seen.at(-1);
      if (last === undefined) return { call: 'asks_in_typescript', args: {} };
      if (last.state !== 'waiting_ai') return { say: last.state };
      const { run_id, question } = last;
      const answer = question.options?.[0].id ?? true;
      return { call: 'acor_answer', args: { run_id, action_id: question.action_id, answer } };
    });
    assert.equal(asked.text, 'completed');
    const waited = await converse(
      project,
      (seen) => {
        const last = seen.at(-1);
        if (last === undefined) return { call: 'waits', args: {} };
        if (last.state !== 'running') return { say: String(last.data) };
        project.write('go', '');
        return { call: 'acor_wait', args: { run_id: last.run_id } };
      },
      { limitS: 0.2 },
    );
    assert.equal(waited.text, '7');
    assert.equal(waited.results[0].state, 'running');
  });

  it('cancels the run of a generation that is aborted', async () => {
    using project = new TestProject({ config: WITHOUT_SANDBOX });
    project.write('tools/hangs/cli.sh', '#!/bin/bash\nsleep 600 & wait\n', 0o755);
    const stop = new AbortController();
    const acor = new Acor({ cwd: project.root, env: project.environment() });
    const generation = generateText({
      model: modelOf(() => ({ call: 'hangs', args: {} })),
      tools: await acorTools(acor),
      prompt: 'Go.',
      abortSignal: stop.signal,
    });
    // It may end with the step in progress, or reject.
    const ended = Promise.resolve(generation).catch(() => {});
    await until(() => project.runIds().some((run) => processesOf(run).length > 0));
    stop.abort();
    await ended;
    const [run] = project.runIds();
    await until(() => project.record(run!)?.state === 'cancelled');
    assert.deepEqual(processesOf(run!), []);
  });
});

describe('acorSandbox', () => {
  it('runs commands in the sandbox, whose files the model reads and writes, and nothing beyond', async () => {
    using project = new TestProject();
    const root = project.path('work');
    mkdirSync(root);
    const sandbox = acorSandbox({ root });
    await sandbox.writeTextFile({ path: 'in/a.txt', content: 'one\ntwo\nthree\n' });
    const { exitCode, stdout, stderr } = await sandbox.run({
      command: 'wc -l < a.txt; echo made > b.txt; echo no >&2; exit 3',
      workingDirectory: 'in',
    });
    assert.deepEqual([exitCode, stdout.trim(), stderr], [3, '3', 'no\n']);
    assert.equal(readFileSync(project.path('work/in/b.txt'), 'utf8'), 'made\n');
    assert.equal(await sandbox.readTextFile({ path: 'in/a.txt', startLine: 2, endLine: 2 }), 'two');
    assert.equal(await sandbox.readTextFile({ path: 'none' }), null);
    assert.deepEqual(await sandbox.stat({ path: 'in/b.txt' }), { type: 'file', size: 5 });
    assert.deepEqual(
      (await sandbox.listDirectory({ path: 'in' }))?.map(({ name, type }) => `${name} ${type}`).sort(),
      ['a.txt file', 'b.txt file'],
    );
    assert.deepEqual(
      [await sandbox.deleteFile({ path: 'in/b.txt' }), await sandbox.deleteFile({ path: 'in/b.txt' })],
      [true, false],
    );
    const outside = project.path('outside.txt');
    const denied = await sandbox.run({ command: `echo x > ${outside}` });
    assert.ok(denied.exitCode !== 0 && !existsSync(outside), denied.stderr);
    await assert.rejects(async () => sandbox.run({ command: 'true', env: { KEY: 'secret' } }), /secret/);
  });

  it('does nothing in a call that was aborted before', async () => {
    using project = new TestProject();
    const root = project.path('work');
    project.write('work/victim', '');
    const sandbox = acorSandbox({ root });
    const abortSignal = AbortSignal.abort();
    const command = { command: 'touch made', abortSignal };
    await assert.rejects(async () => sandbox.run(command), { name: 'AbortError' });
    await assert.rejects(async () => sandbox.spawn(command), { name: 'AbortError' });
    await assert.rejects(async () => sandbox.writeTextFile({ path: 'made', content: '', abortSignal }));
    await assert.rejects(async () => sandbox.deleteFile({ path: 'victim', abortSignal }));
    assert.deepEqual([readdirSync(root), project.runIds()], [['victim'], []]);
    await sandbox.run({ command: 'touch made' });
    assert.deepEqual(readdirSync(root).sort(), ['made', 'victim']);
  });

  it('follows no link out of its folder', async () => {
    using project = new TestProject();
    const root = project.path('work');
    mkdirSync(root);
    project.write('mine.txt', 'mine\n');
    symlinkSync(project.path('mine.txt'), project.path('work/link'));
    symlinkSync(project.root, project.path('work/up'));
    const sandbox = acorSandbox({ root });
    for (const path of ['link', 'up/mine.txt', '../mine.txt', project.path('mine.txt')]) {
      await assert.rejects(async () => sandbox.readTextFile({ path }), /outside of the sandbox/);
      await assert.rejects(
        async () => sandbox.writeTextFile({ path, content: 'x' }),
        /outside of the sandbox/,
      );
    }
    assert.equal(await sandbox.deleteFile({ path: 'link' }), true);
    assert.equal(readFileSync(project.path('mine.txt'), 'utf8'), 'mine\n');
  });

  it('makes nothing behind a link that takes the place of a folder while a file is written', {
    skip: !canExchange,
  }, async () => {
    using project = new TestProject();
    mkdirSync(project.path('work/sub'), { recursive: true });
    mkdirSync(project.path('victim'));
    symlinkSync('../victim', project.path('work/link'));
    const behind = () => readdirSync(project.path('victim')).length;
    const sandbox = acorSandbox({ root: project.path('work') });
    let tried = 0;
    for (let written = 0; written < 20; )
      await whileExchanged(project.path('work'), async () => {
        const write = sandbox.writeTextFile({ path: `sub/${tried++}/a.txt`, content: 'x' });
        await Promise.resolve(write).then(
          () => written++,
          () => {},
        );
      });
    assert.equal(behind(), 0);
    // The control: without the guard, a folder that is looked at first and made then lands behind the link.
    while (behind() === 0)
      await whileExchanged(project.path('work'), async () => {
        if (lstatSync(project.path('work/sub')).isDirectory())
          mkdirSync(project.path(`work/sub/${tried++}`), { recursive: true });
      });
  });

  it('streams the lines of a spawned command, and kills it', async () => {
    using project = new TestProject();
    const root = project.path('work');
    mkdirSync(root);
    const sandbox = acorSandbox({ root });
    const spawned = await sandbox.spawn({ command: 'echo one; sleep 600' });
    const reader = spawned.stdout.getReader();
    assert.equal(new TextDecoder().decode((await reader.read()).value), 'one\n');
    await spawned.kill();
    assert.ok((await spawned.wait()).exitCode !== 0);
    assert.equal((await reader.read()).done, true);
    assert.deepEqual(project.runIds().flatMap(processesOf), []);
    await assert.rejects(async () => sandbox.spawn({ command: 'cat', stdin: true }), /standard input/);
  });
});
