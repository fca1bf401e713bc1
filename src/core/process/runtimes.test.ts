import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { errorCode } from '../../util/error-code.ts';
import { isAlive, readProcess } from '../../util/process-table.ts';
import { loadRuntime } from './load-runtime.ts';
import type { Runtime, SpawnedProcess } from './runtime.ts';
import { nodeRuntime } from './runtime-node.ts';

const PATH = process.env.PATH ?? '/usr/bin:/bin';
const own = await loadRuntime();
const RUNTIMES: Record<string, Runtime> =
  own === nodeRuntime ? { node: own } : { bun: own, node: nodeRuntime };

async function textOf(stream: SpawnedProcess['stdout']): Promise<string> {
  let text = '';
  for await (const bytes of stream!) text += Buffer.from(bytes).toString();
  return text;
}

function isThere(pid: number): boolean {
  const info = readProcess(pid);
  return info !== undefined && isAlive(info);
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
}

for (const [name, runtime] of Object.entries(RUNTIMES))
  describe(`processes of the runtime '${name}'`, () => {
    let folder: string;
    before(() => {
      folder = realpathSync(mkdtempSync(join(tmpdir(), 'acor-runtime-')));
    });
    after(() => rmSync(folder, { recursive: true, force: true }));

    const spawn = (script: string, more: Partial<Parameters<Runtime['spawn']>[0]> = {}) =>
      runtime.spawn({
        argv: ['/bin/sh', '-c', script],
        cwd: folder,
        env: { PATH, GIVEN: 'yes' },
        stdout: 'pipe',
        stderr: 'pipe',
        ...more,
      });

    it('get their folder, their environment and nothing of this one, and a group of their own', async () => {
      process.env['OF_THE_TEST'] = 'no';
      const child = await spawn(
        'pwd; echo "$GIVEN,$OF_THE_TEST"; ps -o pgid= -p $$; cat; echo problem >&2; exit 3',
      );
      delete process.env['OF_THE_TEST'];
      // At once: Node drops what no one has begun to read when the process ends.
      const [stdout, stderr, exit] = await Promise.all([
        textOf(child.stdout),
        textOf(child.stderr),
        child.exited,
      ]);
      assert.deepEqual(
        stdout.split('\n').map((line) => line.trim()),
        [folder, 'yes,', `${child.pid}`, ''],
      );
      assert.deepEqual([stderr, exit.rc, exit.signal], ['problem\n', 3, null]);
    });

    it('get the descriptors that they are given, in this order', async () => {
      const [stdin, stdout, third, fourth] = ['in', 'out', 'third', 'fourth'].map((each) =>
        join(folder, each),
      ) as [string, string, string, string];
      closeSync(openSync(stdin, 'w'));
      const input = openSync(stdin, 'r+');
      writeSync(input, 'a line\n', 0);
      const files = [openSync(stdin, 'r'), ...[stdout, third, fourth].map((path) => openSync(path, 'w'))];
      const child = await spawn('cat; echo 3 >&3; echo 4 >&4', {
        stdin: files[0]!,
        stdout: files[1]!,
        fds: [files[2]!, files[3]!],
      });
      for (const fd of [input, ...files]) closeSync(fd);
      assert.equal((await child.exited).rc, 0);
      assert.equal(child.stdout, null);
      assert.deepEqual(
        [stdout, third, fourth].map((path) => readFileSync(path, 'utf8')),
        ['a line\n', '3\n', '4\n'],
      );
    });

    it('report the signal that ended them', async () => {
      for (const [number, signal] of [
        [9, 'SIGKILL'],
        [15, 'SIGTERM'],
        [31, 'SIGSYS'],
        // Node takes the end by a signal without a name for the exit code 0.
        ...(name === 'bun' && process.platform === 'linux' ? ([[34, 'SIG34']] as const) : []),
      ] as const) {
        const { rc, signal: by } = await (await spawn(`kill -${number} $$`)).exited;
        assert.deepEqual([rc, by], [null, signal]);
      }
    });

    it('that are companions read lines until they are released, and nothing of this environment', async () => {
      const path = join(folder, 'said');
      const script =
        'pwd >"$1"; echo "$GIVEN,$OF_THE_TEST" >>"$1"; ps -o pgid= -p $$ >>"$1"; while read -r line; do echo "$line" >>"$1"; done; echo end >>"$1"';
      process.env['OF_THE_TEST'] = 'no';
      const companion = runtime.startCompanion(
        ['/bin/sh', '-c', script, 'sh', path],
        { PATH, GIVEN: 'yes' },
        '/',
      );
      delete process.env['OF_THE_TEST'];
      companion.write('one');
      await until(
        () =>
          statSync(path, { throwIfNoEntry: false }) !== undefined &&
          readFileSync(path, 'utf8').endsWith('one\n'),
      );
      companion.write('two');
      companion.close();
      await until(() => readFileSync(path, 'utf8').endsWith('end\n'));
      assert.deepEqual(
        readFileSync(path, 'utf8')
          .split('\n')
          .map((line) => line.trim()),
        ['/', 'yes,', `${companion.pid}`, 'one', 'two', 'end', ''],
      );
      await until(() => !isThere(companion.pid));
      // It has gone already.
      companion.write('three');
      companion.close();
    });

    it('do not keep this program alive when they are companions, and end with it', async () => {
      const module = join(import.meta.dirname, `runtime-${name}.ts`);
      // `cat` ends at the end of its input, which is the end of the program.
      const program = `const { ${name}Runtime } = await import(${JSON.stringify(module)});
        const { pid } = ${name}Runtime.startCompanion(['cat'], { PATH: process.env.PATH }, '/');
        process.stdout.write(String(pid));`;
      const script = join(folder, 'starts-companion.mjs');
      writeFileSync(script, program);
      const child = await runtime.spawn({
        argv: [process.execPath, script],
        cwd: folder,
        env: { PATH },
        stdout: 'pipe',
        stderr: 'pipe',
      });
      const [pid, { rc }] = await Promise.all([textOf(child.stdout), child.exited]);
      assert.equal(rc, 0);
      await until(() => !isThere(Number(pid)));
    });

    it('find FIFOs that only their user may open', () => {
      const path = join(folder, 'fifo');
      runtime.makeFifo(path);
      const { mode } = statSync(path);
      assert.deepEqual([(mode & constants.S_IFMT) === constants.S_IFIFO, mode & 0o777], [true, 0o600]);
      assert.throws(() => runtime.makeFifo(path));
      assert.throws(() => runtime.makeFifo(join(folder, 'no', 'fifo')));
    });

    it('talk to this one where it listens', async () => {
      const program = `
        process.on('message', (message) => { console.log(JSON.stringify(message)); process.exit(5); });
        process.send({ said: 'first' });
        process.send({ said: 'second' });
      `;
      const heard: unknown[] = [];
      const child = await runtime.spawn({
        argv: [process.execPath, '-e', program],
        cwd: folder,
        env: { PATH },
        stdout: 'pipe',
        stderr: 'pipe',
        hear(message) {
          heard.push(message);
          return heard.length === 2 ? 'to both' : undefined;
        },
      });
      assert.equal(await textOf(child.stdout), '"to both"\n');
      assert.equal((await child.exited).rc, 5);
      assert.deepEqual(heard, [{ said: 'first' }, { said: 'second' }]);
    });
  });

describe('in Bun', {
  skip: !('bun' in RUNTIMES && process.platform === 'linux') && 'needs Bun on Linux',
}, () => {
  /** How many bytes it holds for a reader that does not read. */
  function capacityOf(path: string): number {
    const [reader, writer] = [
      openSync(path, constants.O_RDONLY | constants.O_NONBLOCK),
      openSync(path, constants.O_WRONLY | constants.O_NONBLOCK),
    ];
    let bytes = 0;
    try {
      RUNTIMES['bun']!.growPipe(reader, 1 << 18);
      for (const block = Buffer.alloc(4096); ; ) bytes += writeSync(writer, block);
    } catch (error) {
      assert.equal(errorCode(error), 'EAGAIN');
    } finally {
      closeSync(reader);
      closeSync(writer);
    }
    return bytes;
  }

  it('a pipe grows to the size that is asked for', () => {
    const folder = mkdtempSync(join(tmpdir(), 'acor-runtime-'));
    RUNTIMES['bun']!.makeFifo(join(folder, 'fifo'));
    assert.equal(capacityOf(join(folder, 'fifo')), 1 << 18);
    rmSync(folder, { recursive: true });
  });

  /** In a process of its own: that of a test file may have had more memory than what it starts. */
  const MEASURED = `
const { bunRuntime } = await import(process.argv.at(-1));
const usageOf = async (...argv) => {
  const env = { PATH: process.env.PATH };
  const child = await bunRuntime.spawn({ argv, cwd: '/', env, stdout: 'pipe', stderr: 'pipe' });
  return (await child.exited).usage;
};
const large = await usageOf('python3', '-c', 'block = bytearray(1 << 29)\\nfor at in range(0, 1 << 29, 4096): block[at] = 1');
let had = Buffer.alloc(1 << 29, 1);
had = undefined;
Bun.gc(true);
console.log(JSON.stringify({ large, small: await usageOf('true') }));
`;

  it('a process is reported with what it used of the processor and of memory, unless that may be the peak of this one', () => {
    const argv = ['-e', MEASURED, join(import.meta.dirname, 'runtime-bun.ts')];
    // The peak of what starts the process does not count.
    assert.equal(Buffer.alloc(1 << 29, 1).at(-1), 1);
    const { large, small } = JSON.parse(execFileSync(process.execPath, argv, { encoding: 'utf8' }));
    assert.ok(large.max_rss_bytes >= 1 << 29 && large.max_rss_bytes < 2 ** 30, `${large.max_rss_bytes}`);
    assert.ok(large.cpu_s > 0.01 && large.cpu_s < 100, `${large.cpu_s}`);
    assert.equal(small.max_rss_bytes, null);
  });
});

it('Bun collects all garbage when it is asked to', { skip: own === nodeRuntime && 'needs Bun' }, async () => {
  const made = Array.from({ length: 100 }, () => new WeakRef({ text: 'x'.repeat(100) }));
  // What was looked at in this turn of the event loop stays.
  await new Promise((resolve) => setTimeout(resolve));
  own.collectGarbage();
  const left = made.filter((each) => each.deref() !== undefined).length;
  assert.ok(left < 10, `${left} left`);
});
