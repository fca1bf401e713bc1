import assert from 'node:assert/strict';
import {
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { openFiles } from '../../../test/support/open-files.ts';
import { watchedPaths } from '../../../test/support/watched-paths.ts';
import { loadRuntime } from './load-runtime.ts';
import { OutputPump, type OutputSinks } from './output-pump.ts';
import type { Runtime, SpawnedProcess } from './runtime.ts';

const NO_PIPES = { stdout: null, stderr: null } as SpawnedProcess;

// The test itself writes to the streams, so that it decides when bytes come and when a stream ends.
describe('the output of a tool', { skip: process.platform !== 'linux' && 'Linux' }, () => {
  let runtime: Runtime;
  let folder: string;
  let said: string[];
  let pump: OutputPump | undefined;
  const writers: number[] = [];
  beforeEach(async () => {
    runtime = await loadRuntime();
    folder = mkdtempSync(join(tmpdir(), 'acor-pump-'));
    said = [];
  });
  afterEach(() => {
    pump?.close();
    for (const fd of writers.splice(0)) closeSync(fd);
    rmSync(folder, { recursive: true, force: true });
  });

  const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1');
  function sinks(more: Partial<OutputSinks> = {}): OutputSinks {
    return {
      stdout: (bytes) => said.push(`out ${text(bytes)}`),
      stderr: (bytes) => said.push(`err ${text(bytes)}`),
      onTurn: () => said.push('turn'),
      onStdoutClosed: () => said.push('closed'),
      ...more,
    };
  }

  /** The pump, and what writes to its streams. */
  function begun(more: Partial<OutputSinks> = {}, own = runtime) {
    pump = new OutputPump(own, folder, sinks(more));
    const [stdout, stderr] = ['stdout', 'stderr'].map((name) =>
      openSync(join(folder, name), constants.O_WRONLY | constants.O_NONBLOCK),
    ) as [number, number];
    writers.push(stdout, stderr);
    const end = (fd: number) => {
      writers.splice(writers.indexOf(fd), 1);
      closeSync(fd);
    };
    return { pump, stdout, stderr, end };
  }

  async function until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 2));
  }
  const opened = () => openFiles().filter((path) => path.startsWith(folder));

  it('comes through two FIFOs of a megabyte, which replace what was left there', () => {
    writeFileSync(join(folder, 'stdout'), 'left');
    const sizes: number[] = [];
    const { pump: made } = begun({}, { ...runtime, growPipe: (_, bytes) => sizes.push(bytes) });
    const { stdout, stderr } = made.targets;
    assert.ok(typeof stdout === 'number' && typeof stderr === 'number' && stdout !== stderr);
    for (const name of ['stdout', 'stderr']) assert.ok(statSync(join(folder, name)).isFIFO());
    assert.deepEqual(sizes, [1 << 20, 1 << 20]);
  });

  it('leaves no file and no descriptor when it is closed, also before its start, and twice', () => {
    for (const starts of [false, true]) {
      const made = new OutputPump(runtime, folder, sinks());
      if (starts) made.start(NO_PIPES);
      made.close();
      made.close();
      assert.deepEqual([opened(), readdirSync(folder)], [[], []]);
    }
  });

  it('is no longer watched once it is closed while it sleeps', async () => {
    const before = watchedPaths();
    const { pump: made } = begun();
    made.start(NO_PIPES);
    await until(() => watchedPaths() === before + 2);
    made.close();
    await until(() => watchedPaths() === before);
  });

  it('is looked at no more once its silent end has closed it', async () => {
    const timers: number[] = [];
    const { setTimeout: own } = globalThis;
    const before = watchedPaths();
    const {
      pump: made,
      stdout,
      end,
    } = begun({
      onStdoutClosed() {
        made.close();
        // What this turn of the loop begins from here on.
        globalThis.setTimeout = Object.assign((...[work, ms]: Parameters<typeof own>) => {
          timers.push(ms ?? 0);
          return own(work, ms);
        }, own);
        queueMicrotask(() => {
          globalThis.setTimeout = own;
          said.push('closed');
        });
      },
    });
    made.start(NO_PIPES);
    await until(() => watchedPaths() === before + 2);
    end(stdout);
    await until(() => said.includes('closed'));
    assert.deepEqual(timers, []);
  });

  it('is looked at no more once both streams have ended', async () => {
    let timers: number[] | undefined;
    const { setTimeout: own } = globalThis;
    const {
      pump: made,
      stdout,
      stderr,
      end,
    } = begun({
      onStdoutClosed() {
        // What this turn of the pump begins from here on.
        timers = [];
        globalThis.setTimeout = Object.assign((...[work, ms]: Parameters<typeof own>) => {
          timers!.push(ms ?? 0);
          return own(work, ms);
        }, own);
        queueMicrotask(() => {
          globalThis.setTimeout = own;
          said.push('closed');
        });
      },
    });
    end(stderr);
    made.start(NO_PIPES);
    writeSync(stdout, 'x');
    // The turn that read this has seen the end of stderr.
    await until(() => said.includes('turn'));
    end(stdout);
    await until(() => said.includes('closed'));
    assert.deepEqual(timers, []);
  });

  it('is read from the pipes of the runtime where there are no FIFOs', async () => {
    let made = 0;
    const makeFifo = (path: string) => {
      if (++made > 1) throw new Error('no FIFOs here');
      runtime.makeFifo(path);
    };
    pump = new OutputPump({ ...runtime, makeFifo }, folder, sinks());
    assert.deepEqual(pump.targets, { stdout: 'pipe', stderr: 'pipe' });
    assert.deepEqual([opened(), readdirSync(folder)], [[], []]);
    const child = await runtime.spawn({
      argv: ['/bin/sh', '-c', 'echo one; echo two >&2'],
      cwd: '/',
      env: {},
      stdout: 'pipe',
      stderr: 'pipe',
    });
    pump.start(child);
    await child.exited;
    await pump.drain();
    assert.deepEqual([...said].sort(), ['closed', 'err two\n', 'out one\n', 'turn', 'turn']);
  });

  it('leaves nothing open when the pipe cannot be made larger', () => {
    const growPipe = () => {
      throw new Error('no');
    };
    const made = new OutputPump({ ...runtime, growPipe }, folder, sinks());
    assert.deepEqual([made.targets.stdout, opened(), readdirSync(folder)], ['pipe', [], []]);
  });

  it('is handed on at once, with one turn after each burst', async () => {
    const { pump: made, stdout, stderr } = begun();
    writeSync(stdout, 'a');
    writeSync(stderr, 'b');
    made.start(NO_PIPES);
    await until(() => said.length > 2);
    assert.deepEqual(said, ['out a', 'err b', 'turn']);
    writeSync(stderr, 'c');
    await until(() => said.length > 4);
    assert.deepEqual(said.slice(3), ['err c', 'turn']);
  });

  it('is read on after any silence, and its end is noticed in it', async () => {
    const before = watchedPaths();
    const { pump: made, stdout, stderr, end } = begun();
    made.start(NO_PIPES);
    for (const word of ['first', 'second']) {
      // Meanwhile nothing was read often enough for the pump to wait for the system's word.
      await until(() => watchedPaths() === before + 2);
      writeSync(stdout, word);
      await until(() => said.includes(`out ${word}`));
    }
    await until(() => watchedPaths() === before + 2);
    end(stderr);
    end(stdout);
    await until(() => said.includes('closed'));
    assert.equal(said.filter((each) => each === 'closed').length, 1);
    await made.drain();
    assert.equal(said.filter((each) => each === 'closed').length, 1);
  });

  it('is not read while the tool is held back, and then in small turns', async () => {
    let isPaused = true;
    let since = 0;
    let most = 0;
    let all = 0;
    let asked = 0;
    const { pump: made, stdout } = begun({
      stdout(bytes) {
        since += bytes.length;
        all += bytes.length;
        most = Math.max(most, since);
      },
      isPaused() {
        asked++;
        since = 0;
        return isPaused;
      },
    });
    const block = Buffer.alloc(900_000, 'x');
    let written = writeSync(stdout, block);
    made.start(NO_PIPES);
    await until(() => asked > 20);
    assert.equal(all, 0);
    isPaused = false;
    await until(() => all === written);
    assert.ok(most <= 1 << 17, `${most}`);
    isPaused = true;
    written += writeSync(stdout, 'more');
    const before = asked;
    await until(() => asked > before + 5);
    assert.equal(all, written - 4);
  });

  it('is not read after it was closed', async () => {
    const { pump: made, stdout } = begun({
      stdout(bytes) {
        said.push(`out ${bytes.length}`);
        made.close();
      },
    });
    writeSync(stdout, Buffer.alloc(100_000));
    made.start(NO_PIPES);
    await until(() => said.length > 0);
    await made.drain().catch(() => undefined);
    // The first piece of a tool's output has 4 KiB.
    assert.deepEqual(
      said.filter((each) => each.startsWith('out')),
      ['out 4096'],
    );
  });

  it('is read to its ends when the tool has exited', async () => {
    const { pump: made, stdout, stderr, end } = begun();
    made.start(NO_PIPES);
    const bytes = writeSync(stdout, Buffer.alloc(900_000, 'x'));
    writeSync(stderr, 'last');
    end(stdout);
    end(stderr);
    await made.drain();
    assert.equal(
      said.reduce((sum, each) => sum + (each.startsWith('out ') ? each.length - 4 : 0), 0),
      bytes,
    );
    assert.ok(said.includes('err last') && said.includes('closed'));
  });

  it('is read for a while only when another process holds it, silent or not', async () => {
    for (const script of ['sleep 600', 'exec cat /dev/zero']) {
      let all = 0;
      const made = new OutputPump(runtime, folder, sinks({ stdout: (bytes) => (all += bytes.length) }));
      const child = await runtime.spawn({
        argv: ['/bin/sh', '-c', `${script} & echo $!`],
        cwd: '/',
        env: { PATH: '/usr/bin:/bin' },
        ...made.targets,
      });
      made.start(child);
      await child.exited;
      await made.drain();
      made.close();
      process.kill(-child.pid, 'SIGKILL');
      assert.ok(all >= 2, `${all}`);
      assert.equal(said.includes('closed'), false);
    }
  });

  it('over a pipe of the runtime is read for a while only when another process holds it', async () => {
    const made = new OutputPump(runtime, null, sinks());
    const child = await runtime.spawn({
      argv: ['/bin/sh', '-c', 'echo one; exec sleep 600 & echo two'],
      cwd: '/',
      env: { PATH: '/usr/bin:/bin' },
      stdout: 'pipe',
      stderr: 'pipe',
    });
    made.start(child);
    await until(() => said.join('').includes('two'));
    await made.drain();
    made.close();
    process.kill(-child.pid, 'SIGKILL');
    assert.equal(said.includes('closed'), false);
  });

  it('over a pipe of the runtime waits while the tool is held back', async () => {
    let isPaused = true;
    let asked = 0;
    const made = new OutputPump(
      runtime,
      null,
      sinks({
        isPaused() {
          asked++;
          return isPaused;
        },
      }),
    );
    const child = await runtime.spawn({
      argv: ['/bin/sh', '-c', 'echo one'],
      cwd: '/',
      env: {},
      stdout: 'pipe',
      stderr: 'pipe',
    });
    made.start(child);
    await until(() => asked > 5);
    assert.deepEqual(said, []);
    isPaused = false;
    await until(() => said.length > 2);
    assert.deepEqual(said, ['out one\n', 'turn', 'closed']);
    made.close();
  });
});
