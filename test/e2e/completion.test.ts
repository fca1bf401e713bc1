import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, symlinkSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { ACOR, dataFolder, parseLines, TestProject, until } from '../support/project.ts';
import { noTerminal, Terminal } from '../support/terminal.ts';

const MANIFEST = {
  name: 'paints',
  description: 'Paints a file.',
  inputs: [
    { name: 'file', type: 'path', positional: true },
    { name: 'colour', enum: ['red', 'green', '$(touch pwned)', 'two words'] },
    { name: 'limit', type: 'int' },
  ],
};

let project: TestProject;
let runId: string;
let env: Record<string, string>;
before(async () => {
  project = new TestProject({ tools: ['asks', 'quick'] });
  project.write('tools/paints/tool.yaml', JSON.stringify(MANIFEST));
  project.write('tools/paints/cli.sh', '#!/bin/bash\n', 0o755);
  project.write('bin/here', '');
  symlinkSync(ACOR, project.path('bin/acor'));
  env = { PATH: `${project.path('bin')}:${process.env.PATH}`, ...dataFolder(project.root) };
  const { stdout } = await project.acor(['run', 'asks']);
  runId = String(parseLines(stdout)[0]!.run_id);
});
after(async () => {
  await project.acor(['cancel', runId]);
  project[Symbol.dispose]();
});

describe('a Tab', () => {
  async function complete(...words: string[]): Promise<{ kind: string; values: string[]; lines: string[] }> {
    const { stdout, code } = await project.acor(['complete-words', '--', ...words]);
    assert.equal(code, 0, stdout);
    const [kind, ...lines] = stdout.trimEnd().split('\n');
    return { kind: kind!, values: lines.map((line) => line.split('\t')[0]!), lines };
  }

  it('offers the words of commands, and help', async () => {
    const { values } = await complete('');
    for (const word of ['run', 'config', 'explain', 'help']) assert.ok(values.includes(word), word);
    assert.ok(!values.includes('supervise') && !values.includes('complete-words'));
    assert.deepEqual((await complete('config', '')).values, ['set', 'show', 'unset']);
    assert.deepEqual((await complete('help', 'wai')).values, ['wait']);
    assert.deepEqual((await complete('--json', 'expl')).values, ['explain']);
  });

  it('offers tools with their descriptions, and after a tool its own inputs before the flags of ACOR', async () => {
    assert.deepEqual((await complete('run', 'p')).lines, ['paints\tPaints a file.']);
    const { values } = await complete('run', 'paints', '--');
    assert.deepEqual(values.slice(0, 2), ['--colour', '--limit']);
    assert.equal(values.filter((value) => value === '--limit').length, 1);
    assert.ok(values.includes('--timeout') && values.includes('--fields') && !values.includes('--version'));
    assert.deepEqual((await complete('run', 'paints', '--', '--')).values, ['--colour', '--limit']);
    assert.equal((await complete('run', 'paints', '')).kind, 'files');
  });

  it('offers the values of an enum, but none that a shell would interpret', async () => {
    assert.deepEqual((await complete('run', 'paints', '--colour', '')).values, ['red', 'green']);
    assert.deepEqual((await complete('run', 'paints', '--colour=g')).values, ['--colour=green']);
    assert.deepEqual((await complete('runs', '--state', 'wai')).values, ['waiting_ai']);
    assert.deepEqual((await complete('run', 'paints', '--exit-code', '')).values, ['acor', 'tool']);
    assert.deepEqual((await complete('run', 'paints', '--exit-code=t')).values, ['--exit-code=tool']);
    assert.deepEqual(await complete('runs', '--limit', ''), { kind: 'words', values: [], lines: [] });
    assert.deepEqual((await complete('complete', '')).values, ['bash', 'zsh', 'fish', 'powershell']);
  });

  it('offers runs with their state, the questions of a run, and its choices', async () => {
    const [first] = (await complete('show', 'r-')).lines;
    assert.match(first!, new RegExp(`^${runId}\twaiting_ai asks`));
    await project.acor(['run', 'steps']);
    for (const command of ['attach', 'wait', 'cancel'])
      assert.deepEqual((await complete(command, '')).values, [runId], command);
    assert.deepEqual((await complete('workflow', 'resume', '')).values, []);
    assert.deepEqual((await complete('answer', runId, '')).lines, ['a-1\tchoose_speed']);
    assert.deepEqual((await complete('answer', runId, 'a-1', '--choice', '')).values, ['slow', 'fast']);
  });

  it('offers the questions of a workflow by the names of their steps as well, and their choices by each name', async () => {
    const asking = { type: 'ai_decision', decision_type: 'pick' };
    const steps = [
      { name: 'size.now', options: [{ id: 'big' }, { id: 'small' }], ...asking },
      { name: 'sub', needs: [], workflow: './inner.json' },
    ];
    const inner = [{ name: 'color.tone', options: [{ id: 'red' }], ...asking, decision_type: 'paint' }];
    project.write('workflows/inner.json', JSON.stringify({ steps: inner }));
    project.write('workflows/asking.json', JSON.stringify({ steps }));
    const { stdout } = await project.acor(['workflow', 'run', 'asking']);
    const flow = String(parseLines(stdout)[0]!.run_id);
    await until(async () => (await complete('answer', flow, '')).values.length === 4);
    for (const run of [flow, 'last']) {
      const { lines } = await complete('answer', run, '');
      const named = ['size.now\tpick', 'sub:color.tone\tpaint'];
      assert.deepEqual(
        lines.filter((line) => named.includes(line)),
        named,
      );
      for (const name of lines.map((line) => line.split('\t')[0]!).concat('pick')) {
        const choices = /size|pick/.test(name) ? ['big', 'small'] : ['red'];
        assert.deepEqual((await complete('answer', run, name, '--choice', '')).values, choices, name);
      }
    }
    assert.deepEqual((await complete('answer', flow, 'no_such', '--choice', '')).values, []);
    assert.equal((await project.envelope(['answer', flow, 'size.now', '--choice', 'small'])).code, 0);
    assert.deepEqual((await complete('answer', flow, 'size.now', '--choice', '')).values, []);
    await project.acor(['cancel', flow]);
  });

  it('offers paths where a path is expected, and nothing in an invalid project', async () => {
    assert.equal((await complete('answer', runId, '--file', '')).kind, 'files');
    assert.equal((await complete('--cwd', '')).kind, 'files');
    using broken = new TestProject({ config: 'version: [' });
    const { stdout, code } = await broken.acor(['complete-words', '--', 'run', '']);
    assert.deepEqual([code, stdout], [0, 'words\n']);
  });
});

describe('the script for a shell', () => {
  it('is printed as a document, and in an envelope on request', async () => {
    const { stdout } = await project.acor(['complete', 'bash']);
    assert.match(stdout, /^# Completion of acor for bash/);
    const { data } = await project.envelope(['complete', 'bash', '--json']);
    assert.deepEqual(data, { shell: 'bash', script: stdout });
  });

  /** What bash would offer for words cut as bash cuts them. */
  function inBash(...words: string[]): string[] {
    const script =
      'eval "$(acor complete bash)"; COMP_WORDS=(acor "$@"); COMP_CWORD=$#; _acor acor; printf "%s\\n" "${COMPREPLY[@]}"';
    const { stdout } = spawnSync('bash', ['-c', script, 'bash', ...words], {
      cwd: project.root,
      env: { ...process.env, ...env },
      encoding: 'utf8',
    });
    return stdout.trimEnd().split('\n');
  }

  it('completes in bash after the characters at which bash splits words', () => {
    assert.deepEqual(inBash('run', 'paints', '--colour', '=', 'gr'), ['green']);
    assert.deepEqual(inBash('run', 'paints', '--colour', '='), ['red', 'green']);
    assert.deepEqual(inBash('explain', '--topic', 'tool', ':', 'pai'), ['paints']);
    assert.deepEqual(inBash('run', 'paints', 'bi'), ['bin']);
  });

  for (const [shell, start, load] of [
    ['bash', ['bash', '--norc', '--noprofile', '-i'], 'eval "$(acor complete bash)"'],
    ['zsh', ['zsh', '-f', '-i'], 'autoload -Uz compinit; compinit -D; source <(acor complete zsh)'],
    ['fish', ['fish', '--no-config', '-i'], 'acor complete fish | source'],
  ] as const) {
    const isHere = spawnSync('sh', ['-c', `command -v ${shell}`]).status === 0;
    const skip = noTerminal !== false ? noTerminal : isHere ? false : `${shell} is not here`;
    it(`completes a command, a tool and a value at a Tab in ${shell}`, { skip }, async () => {
      const home = { HOME: project.path('home'), XDG_DATA_HOME: project.path('data') };
      project.write('home/.keep', '');
      const terminal = new Terminal(project, [], { command: start, env: { ...env, ...home, TERM: 'vt100' } });
      terminal.type(`${load}; printf 'lo%s\\n' aded\r`);
      await terminal.shows('loaded');
      terminal.type(`acor expl\t--topic tool:pai\t--fields topic >one\r`);
      terminal.type(`printf 'do%s\\n' ne\r`);
      await terminal.shows('done');
      terminal.type(`exit\r`);
      await terminal.ended;
      assert.ok(existsSync(project.path('one')), terminal.text);
      const { data } = JSON.parse(spawnSync('cat', [project.path('one')], { encoding: 'utf8' }).stdout);
      assert.deepEqual(data, { topic: 'tool:paints' }, terminal.text);
      spawnSync('rm', [project.path('one')]);
    });
  }
});
