import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { ROOT, until } from '../support/project.ts';

const SCRIPT = '. "$1"; take_lock "$2"; echo taken';
const ARGS = ['-euc', SCRIPT, 'sh', join(ROOT, 'scripts', 'take-lock.sh')];
const isRoot = process.getuid?.() === 0;
const OTHER_USER = isRoot ? { uid: 65534, gid: 65534 } : {};

describe('the lock of the first start of a checkout', () => {
  let folder: string;
  let lock: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'acor-lock-'));
    lock = join(folder, 'lock');
  });
  afterEach(() => {
    chmodSync(folder, 0o755);
    rmSync(folder, { recursive: true });
  });

  it('is taken from an owner that was killed', () => {
    const { pid } = spawnSync('true');
    symlinkSync(String(pid), lock);
    assert.equal(spawnSync('sh', [...ARGS, lock], { encoding: 'utf8' }).stdout, 'taken\n');
  });

  it('is waited for while its owner lives, also that of another user', async () => {
    const owner = spawn('sleep', ['600'], OTHER_USER);
    symlinkSync(String(owner.pid), lock);
    const waiting = spawn('sh', [...ARGS, lock], { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    waiting.stdout.on('data', (part) => (text += part));
    // It has looked at the lock when it sleeps.
    await until(() => spawnSync('pgrep', ['-P', String(waiting.pid), 'sleep']).status === 0);
    assert.equal(text, '');
    owner.kill();
    await new Promise((resolve) => waiting.once('close', resolve));
    assert.equal(text, 'taken\n');
  });

  it('is refused to a user who may not write there, who would wait forever', () => {
    chmodSync(folder, 0o555);
    const { status, stderr } = spawnSync('sh', [...ARGS, lock], { encoding: 'utf8', ...OTHER_USER });
    assert.notEqual(status, 0);
    assert.match(stderr, /may not write to .*acor-lock-/);
    assert.equal(existsSync(lock), false);
  });
});
