import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';

const MODULE = join(import.meta.dirname, 'write-async.ts');
const LINES = 3000;

/** Writes short lines one after the other, more than a pipe holds, and makes a file once it turns while none is taken. */
const WRITER = `
const [module, marker, lines] = process.argv.slice(-3);
const { writeFileSync } = await import('node:fs');
const { writeAsync } = await import(module);
let written = 0, seen = -1, turns = 0;
const timer = setInterval(() => {
  turns = written === seen ? turns + 1 : 0;
  seen = written;
  if (turns === 5) writeFileSync(marker, '');
}, 10);
let last = 'written';
for (; written < Number(lines) && last === 'written'; written++)
  last = await writeAsync(1, Buffer.from('line ' + String(written).padStart(60, '.') + '\\n'));
clearInterval(timer);
process.stderr.write(last);
`;

describe('short writes to standard output', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'acor-write-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** Runs the writer in a shell, with what follows it there. Returns what it says at its end. */
  function write(rest: string): string {
    const marker = join(folder, 'marker');
    const shell = `"$1" --input-type=module -e "$2" "$3" "$4" "$5" 2>"$6/said" ${rest}`;
    const words = [process.execPath, WRITER, MODULE, marker, String(LINES), folder];
    execFileSync('/bin/sh', ['-c', shell, 'sh', ...words]);
    return readFileSync(join(folder, 'said'), 'utf8');
  }

  function lines(name: string): string[] {
    return readFileSync(join(folder, name), 'utf8').trimEnd().split('\n');
  }

  it('wait for a slow reader of a pipe without stopping the process, and lose nothing', () => {
    const reader = '| { until [ -e "$4" ]; do sleep 0.05; done; cat; } >"$6/out"';
    assert.equal(write(reader), 'written');
    assert.deepEqual(
      lines('out').map((line) => Number(line.slice(5).replace(/^\.*/, ''))),
      Array.from({ length: LINES }, (_, index) => index),
    );
  });

  it('end when the reader of a pipe leaves', () => {
    assert.equal(write('| head -n 1 >"$6/out"'), 'closed');
    assert.equal(lines('out').length, 1);
  });

  it('go on where a file ends that others write as well', () => {
    assert.equal(write('>>"$6/out"; echo last >>"$6/out"'), 'written');
    assert.deepEqual([lines('out').length, lines('out').at(-1)], [LINES + 1, 'last']);
  });
});
