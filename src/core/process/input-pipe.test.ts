import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
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
    const text = await readBy(`until [ -e ${go} ]; do sleep 0.05; done; wc -l`, (pipe) => {
      for (let count = 0; count < 40; count++) pipe.write('x'.repeat(1 << 20));
      pipe.end();
      writeFileSync(go, '');
    });
    rmSync(go);
    assert.equal(Number(text), 16);
  });

  it('keeps exactly so many bytes', async () => {
    const most = 1 << 24;
    for (const [bytes, kept] of [
      [most, most],
      [most + 1, 0],
    ] as const) {
      const go = join(folder, 'go');
      let full = 0;
      const text = await readBy(`until [ -e ${go} ]; do sleep 0.05; done; wc -c`, (pipe) => {
        for (let count = 1; count > 0; full += count) count = pipe.offer(Buffer.alloc(4096), 0);
        pipe.write('x'.repeat(bytes - 1));
        pipe.end();
        writeFileSync(go, '');
      });
      rmSync(go);
      assert.equal(Number(text) - full, kept);
    }
  });

  it('ends with what was written before its end', async () => {
    const text = await readBy('cat', (pipe) => {
      pipe.write('before');
      pipe.end();
      pipe.write('after');
      pipe.end();
    });
    assert.equal(text, 'before\n');
  });

  it('takes as much as fits, and says how much that is', () => {
    using pipe = new InputPipe(runtime, folder, 1 << 16);
    const bytes = Buffer.alloc(1 << 18, 'x');
    assert.equal(pipe.offer(bytes, (1 << 18) - 10), 10);
    let offered = 10;
    for (let count = 1; count > 0; ) {
      count = pipe.offer(bytes, 0);
      offered += count;
    }
    assert.ok(offered > 1 << 15 && offered <= 1 << 16, `${offered}`);
  });

  it('has the size that it is asked for, and the usual one otherwise', () => {
    const sizes: number[] = [];
    const growPipe = (_: number, bytes: number) => sizes.push(bytes);
    for (const size of [undefined, 1 << 17])
      new InputPipe({ ...runtime, growPipe }, folder, size)[Symbol.dispose]();
    assert.deepEqual(sizes, [1 << 17]);
  });

  it('replaces what a killed supervisor left, and is gone when it is released, also twice', () => {
    const path = join(folder, 'stdin');
    writeFileSync(path, 'left');
    const opened = () => openFiles().filter((each) => each.startsWith(folder));
    const pipe = new InputPipe(runtime, folder);
    assert.ok(statSync(path).isFIFO());
    assert.deepEqual(opened(), [path, path]);
    pipe.releaseReadEnd();
    assert.deepEqual(opened(), [path]);
    pipe[Symbol.dispose]();
    assert.deepEqual([opened(), readdirSync(folder)], [[], []]);
    // Another file may have its descriptor now.
    using other = new InputPipe(runtime, folder);
    pipe[Symbol.dispose]();
    pipe.write('late');
    assert.equal(opened().length, 2);
    assert.equal(other.offer(Buffer.from('x'), 0), 1);
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
