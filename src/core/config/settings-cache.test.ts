import assert from 'node:assert/strict';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { loadConfig } from './load.ts';

describe('the cache of configuration files', () => {
  let root: string;
  let env: Record<string, string>;
  const file = () => join(root, '.acor', 'config.yaml');
  const cacheFiles = () => {
    try {
      return readdirSync(join(root, 'cache', 'acor', 'config'));
    } catch {
      return [];
    }
  };
  const timeout = async () => (await loadConfig({ cwd: root, env })).config.environment.timeout_s;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'acor-config-'));
    mkdirSync(join(root, '.acor'));
    env = { XDG_CACHE_HOME: join(root, 'cache') };
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  /** Writes the file, and waits until its time lies behind the clock's tick. */
  async function write(text: string): Promise<void> {
    writeFileSync(file(), text);
    const written = Date.now();
    while (Date.now() < written + 25) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  it('is used while the file looks the same, with the place of each value', async () => {
    await write('environment: { timeout_s: 7 }\n');
    assert.equal(await timeout(), 7);
    const [name] = cacheFiles();
    const path = join(root, 'cache', 'acor', 'config', name!);
    const cached = JSON.parse(readFileSync(path, 'utf8'));
    cached.settings[0].value = 8;
    writeFileSync(path, JSON.stringify(cached));
    const { config, origins } = await loadConfig({ cwd: root, env });
    assert.equal(config.environment.timeout_s, 8);
    assert.deepEqual(origins['environment.timeout_s'], { source: 'project', where: `${file()}:1:27` });
  });

  it('is not used once the file has changed, even to one of the same size and time', async () => {
    await write('environment: { timeout_s: 7 }\n');
    assert.equal(await timeout(), 7);
    await write('environment: { timeout_s: 9 }\n');
    utimesSync(file(), 1, 1);
    assert.equal(await timeout(), 9);
  });

  it('keeps nothing that hangs on a variable', async () => {
    await write('project: { name: "${LANG:-unnamed}" }\n');
    assert.equal((await loadConfig({ cwd: root, env })).config.project.name, 'unnamed');
    assert.deepEqual(cacheFiles(), []);
    assert.equal(
      (await loadConfig({ cwd: root, env: { ...env, LANG: 'named' } })).config.project.name,
      'named',
    );
  });

  it('keeps nothing of a file with mistakes', async () => {
    await write('environment: { timeout_s: soon }\n');
    await assert.rejects(timeout(), { code: 'E_CONFIG_INVALID' });
    assert.deepEqual(cacheFiles(), []);
  });

  it('is done without where there is no place for it', async () => {
    await write('environment: { timeout_s: 7 }\n');
    env = {};
    assert.equal(await timeout(), 7);
  });
});
