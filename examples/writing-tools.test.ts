import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { missing, RunFolders, ToolProcess } from '../sdk/contract/tool-process.ts';
import { manifestFile } from '../src/protocol/manifest.ts';

const repository = join(import.meta.dirname, '..');
const text = readFileSync(join(repository, 'docs', 'writing-tools.md'), 'utf8');
const snippets = [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = '', code = '']) => ({
  language,
  code,
}));

const programs: Record<string, { program: string; file: string }> = {
  ts: { program: process.execPath, file: 'cli.ts' },
  python: { program: 'python3', file: 'cli.py' },
  bash: { program: 'bash', file: 'cli.sh' },
};

describe('the snippets of docs/writing-tools.md', () => {
  it('are there in every language', () => {
    assert.deepEqual(
      snippets.map(({ language }) => language),
      ['bash', 'sh', 'ts', 'python', 'bash', 'ts', 'bash', 'yaml', 'python', 'bash', 'yaml'],
    );
  });

  for (const [index, { language, code }] of snippets.entries()) {
    const runnable = programs[language];
    if (!runnable) continue;
    const skip = language === 'ts' ? false : missing(runnable.program);
    it(`run as tools, and end with a result: ${index + 1}, ${language}`, { skip }, async () => {
      using run = new RunFolders();
      const file = join(run.workspace, runnable.file);
      // A file outside the package cannot name it.
      writeFileSync(file, code.replace("'acor/tool'", `'${join(repository, 'src/tool/index.ts')}'`));
      writeFileSync(
        join(run.answers, 'a-1.json'),
        '{"v":1,"type":"action_answer","action_id":"a-1","answer":"replace"}',
      );
      const tool = new ToolProcess([runnable.program, file], { cwd: run.workspace, env: run.env() });
      const { code: exitCode, events, stderr } = await tool.ended;
      assert.deepEqual([exitCode, stderr, events.at(-1)?.type], [0, '', 'result']);
    });
  }

  for (const [index, { language, code }] of snippets.entries()) {
    if (!/load_?checkpoint/i.test(code)) continue;
    const { program, file } = programs[language]!;
    it(`continue where a checkpoint says: ${index + 1}, ${language}`, {
      skip: missing(program),
    }, async () => {
      using run = new RunFolders();
      writeFileSync(
        join(run.workspace, file),
        code.replace("'acor/tool'", `'${join(repository, 'src/tool/index.ts')}'`),
      );
      const start = () =>
        new ToolProcess([program, join(run.workspace, file)], { cwd: run.workspace, env: run.env() });
      const killed = start();
      await killed.until('progress', 2);
      killed.kill('SIGKILL');
      await killed.ended;
      const path = join(run.checkpoints, 'sum.json');
      const stored = JSON.parse(readFileSync(path, 'utf8'));
      assert.ok(stored.data.done >= 50);
      writeFileSync(path, JSON.stringify({ ...stored, data: { done: 50, total: 1275 } }));
      const { events } = await start().ended;
      assert.deepEqual(
        events.filter(({ type }) => type === 'progress').map(({ pct }) => pct),
        [75, 100],
      );
      assert.deepEqual(events.at(-1)?.['data'], { total: 5050 });
    });
  }

  it('hold a valid manifest', async () => {
    const { parse } = await import('yaml');
    const yaml = snippets.findLast(({ language }) => language === 'yaml')?.code ?? '';
    assert.equal(manifestFile.parse(parse(yaml)).name, 'squares_to_file');
  });
});
