import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { saveCheckpoint } from '../../src/tool/index.ts';
import type { Bench, Row } from '../support/bench.ts';
import { interleavedMedians, timeMs } from '../support/measure.ts';
import { finish, startServer } from '../support/process.ts';
import { CHECKOUT } from '../support/program.ts';
import { programPath } from '../support/project.ts';

const TARGET_MS = 10;
const STATE = { offset: 123_456, done: Array.from({ length: 50 }, (_, index) => `customer-${index}`) };

/** Saves of a state of about a kilobyte, on the disk when the call returns. */
export const checkpoint: Bench = {
  name: 'checkpoint',
  summary: 'saving a checkpoint',
  async run({ workplace }) {
    const folder = workplace.makeFolder('checkpoints');
    process.env['CHECKPOINT_DIR'] = folder;
    const env = { ...workplace.env, CHECKPOINT_DIR: folder, PYTHONPATH: join(CHECKOUT, 'sdk/python') };
    const argv = [workplace.python, programPath('checkpoint-server.py'), JSON.stringify(STATE)];
    const server = startServer({ argv, cwd: folder, env });
    const answers = linesOf(server.stdout);
    const inPython = (how: 'sdk' | 'bare') => async () => {
      server.stdin.write(`${how}\n`);
      server.stdin.flush();
      return Number((await answers.next()).value);
    };
    const figures = await interleavedMedians(
      {
        typescript: () => timeMs(() => saveCheckpoint('bench-ts', STATE)),
        bareTypescript: () => timeMs(() => saveBare(folder)),
        python: inPython('sdk'),
        barePython: inPython('bare'),
      },
      { rounds: 60, warmUps: 5 },
    );
    server.stdin.end();
    await finish(server, { argv });
    const row = (what: string, acor: number, bare: number): Row => ({
      what,
      unit: 'ms',
      acor,
      baseline: { what: 'write, fsync, rename', value: bare },
      target: { text: 'at most 10 ms', met: acor <= TARGET_MS },
    });
    return [
      row('checkpoint saved: TypeScript SDK', figures.typescript, figures.bareTypescript),
      row('checkpoint saved: Python SDK', figures.python, figures.barePython),
    ];
  },
};

function saveBare(folder: string): void {
  const draft = join(folder, 'bare-ts.tmp');
  const fd = openSync(draft, 'w');
  writeSync(fd, JSON.stringify(STATE));
  fsyncSync(fd);
  closeSync(fd);
  renameSync(draft, join(folder, 'bare-ts.json'));
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop()!;
    yield* lines;
  }
}
