import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { openFiles } from '../../../test/support/open-files.ts';
import { InputPipe } from './input-pipe.ts';
import { loadRuntime } from './load-runtime.ts';
import type { Runtime } from './runtime.ts';

describe('the standard input of a tool', { skip: process.platform !== 'linux' && 'Linux' }, () => {
  let runtime: Runtime;
  let folder: string;
  before(async () => {
    runtime = await loadRuntime();
    folder = mkdtempSync(join(tmpdir(), 'acor-input-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** What a process reads that begins late, when the pipe is full. */
  async function readBy(script: string, write: (pipe: InputPipe) => void): Promise<string> {
    using pipe = new InputPipe(runtime, folder);
    const child = await runtime.spawn({
      argv: ['/bin/sh', '-c', script],
      cwd: folder,
      env: { PATH: process.env.PATH ?? '/usr/bin:/bin' },
      stdin: pipe.target,
      stdout: 'pipe',
      stderr: 'pipe',
    });
    pipe.releaseReadEnd();
    write(pipe);
    let text = '';
    for await (const bytes of child.stdout!) text += Buffer.from(bytes).toString('latin1');
    await child.exited;
    return text;
  }

  it('gets every line whole and in order, also lines that are longer than a pipe holds', async () => {
    const lines = ['a'.repeat(100_000), 'b', 'c'.repeat(300_000), 'd'];
    const text = await readBy('while read -r line; do printf "%s\\n" "$line"; done', (pipe) => {
      for (const line of lines) pipe.write(line);
      pipe.end();
    });
    assert.deepEqual(text.split('\n'), [...lines, '']);
  });

  it('keeps a bounded number of bytes for a tool that does not read, and drops whole lines', async () => {
    const go = join(folder, 'go');
    const text = await readBy(`until [ -e ${go} ]; do sleep 0.01; done; wc -l`, (pipe) => {
      for (let count = 0; count < 40; count++) pipe.write('x'.repeat(1 << 20));
      pipe.end();
      writeFileSync(go, '');
    });
    rmSync(go);
    assert.equal(Number(text), 16);
  });

  it('leaves no descriptor and no file open when it cannot be made', () => {
    const growPipe = () => {
      throw new Error('no');
    };
    assert.throws(() => new InputPipe({ ...runtime, growPipe }, folder, 1 << 20), /no/);
    assert.deepEqual(
      openFiles().filter((path) => path.startsWith(folder)),
      [],
    );
    assert.deepEqual(readdirSync(folder), []);
  });
});
