import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('./fixtures/notes-main.ts', import.meta.url));
const waits = fileURLToPath(new URL('./fixtures/waits-main.ts', import.meta.url));
const env = {
  PATH: process.env['PATH'],
  HOME: process.env['HOME'],
  NO_COLOR: '1',
  TERM: 'xterm',
  LANG: 'C.UTF-8',
};

describe('a real process', () => {
  it('writes one envelope to a pipe and exits with its code', () => {
    const done = spawnSync(process.execPath, [main, 'remove', 'n-1'], { encoding: 'utf8', env });
    assert.equal(done.status, 2);
    assert.equal(done.stderr, '');
    assert.equal(JSON.parse(done.stdout).data.id, 'n-1');
  });

  it('reads stdin only for --input-json -', () => {
    const done = spawnSync(process.execPath, [main, 'add', '--input-json', '-'], {
      encoding: 'utf8',
      env,
      input: '{"title":"Milk"}',
    });
    assert.equal(JSON.parse(done.stdout).data.title, 'Milk');
  });

  it('refuses an argument that is not UTF-8, of which it would get another one', {
    skip: process.platform !== 'linux' && 'Linux',
  }, () => {
    const add = (title: string) => {
      const command = `exec "$0" "$1" add --title ${title}`;
      const done = spawnSync('bash', ['-c', command, process.execPath, main], { encoding: 'utf8', env });
      return JSON.parse(done.stdout);
    };
    const { error } = add(`$'a\\xff'`);
    assert.equal(error.code, 'E_USAGE');
    assert.match(error.message, /'a\ufffd' is not UTF-8/);
    assert.equal(add(`$'a\\xef\\xbf\\xbd'`).data.title, 'a\ufffd', 'the control');
  });

  it('loses nothing of a large answer, though the reader is slow and the process exits at once', async () => {
    const size = 3_000_000;
    const child = spawn(process.execPath, [main, 'bytes', String(size)], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const chunks: Buffer[] = [];
    for await (const chunk of child.stdout) {
      chunks.push(chunk);
      await new Promise(setImmediate);
    }
    assert.equal(JSON.parse(Buffer.concat(chunks).toString('utf8')).data.text.length, size);
  });

  it('loses nothing in a pipe that is non-blocking', { skip: !has('python3') }, () => {
    const script = [
      'import os, subprocess, sys, time',
      'r, w = os.pipe()',
      'os.set_blocking(w, False)',
      'child = subprocess.Popen(sys.argv[1:], stdout=w)',
      'os.close(w)',
      'n = 0',
      'while chunk := os.read(r, 4096): n += len(chunk)',
      'print(n, child.wait())',
    ].join('\n');
    const out = execFileSync('python3', ['-c', script, process.execPath, main, 'bytes', '2000000'], {
      encoding: 'utf8',
      env,
    });
    const [bytes, code] = out.trim().split(' ').map(Number);
    assert.equal(code, 0);
    assert.ok(bytes! > 2_000_000, out);
  });

  it('that a signal stops is cancelled, for its hooks as well', async () => {
    for (const [signal, code] of [
      ['SIGINT', 130],
      ['SIGTERM', 143],
    ] as const) {
      const child = spawn(process.execPath, [waits, 'wait'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
      let [out, err] = ['', ''];
      child.stdout.on('data', (chunk) => (out += chunk));
      child.stderr.on('data', (chunk) => {
        const waited = err.includes('waits');
        err += chunk;
        if (!waited && err.includes('waits')) child.kill(signal);
      });
      const [exit] = await once(child, 'close');
      assert.deepEqual([exit, err], [code, 'waits\nafter E_CANCELLED\n']);
      const { error } = JSON.parse(out);
      assert.equal(error.code, 'E_CANCELLED');
      assert.doesNotMatch(JSON.stringify(error), /[Rr]eport it/);
    }
  });

  it('is silent when its reader has gone', { skip: process.platform === 'win32' }, () => {
    const command = `"$0" "$1" bytes 2000000 | head -c 1; echo`;
    const done = spawnSync('sh', ['-c', command, process.execPath, main], { encoding: 'utf8', env });
    assert.equal(done.stdout, '{\n');
    assert.equal(done.stderr, '');
  });

  it('draws a table at a real terminal, and an envelope there for an agent', { skip: !has('script') }, () => {
    const atTerminal = (args: string, more: Record<string, string> = {}) =>
      execFileSync('script', ['-qec', `stty cols 90; "${process.execPath}" "${main}" ${args}`, '/dev/null'], {
        encoding: 'utf8',
        env: { ...env, ...more },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
    assert.match(atTerminal('list --tag even'), /folder {2}inbox\r\nnotes\r\n {2}id +title/);
    assert.equal(JSON.parse(atTerminal('list', { CLAUDECODE: '1' })).ok, true);
    assert.equal(JSON.parse(atTerminal('list --json')).ok, true);
  });
});

function has(program: string): boolean {
  return spawnSync(program, ['--version']).status === 0;
}
