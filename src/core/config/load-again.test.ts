import assert from 'node:assert/strict';
import { existsSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { until } from '../../../test/support/project.ts';
import { type ProjectFolder, projectFolder } from '../../../test/support/project-folder.ts';
import { trustProject } from '../../../test/support/trust-project.ts';
import { type LoadedConfig, loadConfig } from './load.ts';
import { loadConfigAgain } from './load-again.ts';
import { signatureOf } from './settings-cache.ts';

let project: ProjectFolder;
beforeEach(() => {
  project = projectFolder();
});
afterEach(() => project.remove());

function env(more: Record<string, string> = {}): Record<string, string> {
  return { HOME: project.at('home'), ...more };
}

async function load(last: LoadedConfig | undefined, given = env()): Promise<LoadedConfig> {
  const options = { cwd: project.root, env: given };
  return last === undefined ? loadConfig(options) : loadConfigAgain(options, last);
}

/** Waits until the clock of the file system has passed the last change of a file: until then it is read each time. */
async function isSettled(path: string): Promise<void> {
  await until(() => !existsSync(path) || signatureOf(path) !== undefined);
}

/** A configuration that two calls have read, so that a third one need not. */
async function known(given = env()): Promise<LoadedConfig> {
  const first = await load(undefined, given);
  for (const path of ['.acor/config.yaml', 'home/.config/acor/config.yaml'])
    await isSettled(project.at(path));
  const second = await load(first, given);
  assert.equal(second, first);
  return second;
}

describe('a configuration that is loaded again', () => {
  it('is the same object while nothing changes that it was made of', async () => {
    project.write('.acor/config.yaml', 'environment: {timeout_s: 7}\n');
    const last = await known();
    assert.equal(await load(last), last);
    assert.equal(await load(last, env()), last);
  });

  it('is not read again for a caller that lists the same variables in another order', async () => {
    project.write('.acor/config.yaml', 'environment: {timeout_s: 7}\n');
    const given = env({ LANG: 'C', TZ: 'UTC' });
    const last = await known(given);
    // Each call that reads the file writes its settings there.
    const cache = project.at('home/.cache');
    rmSync(cache, { recursive: true });
    assert.equal(await load(last, Object.fromEntries(Object.entries(given).reverse())), last);
    assert.ok(!existsSync(cache));
    await load(last, { ...given, TZ: 'CET' });
    assert.ok(existsSync(cache), 'with another variable it is read');
  });

  it('is another object when its settings have moved in the file', async () => {
    const file = project.write('.acor/config.yaml', 'environment: {timeout_s: 7}\n');
    const last = await known();
    writeFileSync(file, 'environment:\n  timeout_s: 7\n');
    const again = await load(last);
    assert.notEqual(again, last);
    await isSettled(file);
    assert.equal(await load(again), again);
    assert.equal(await load(again), again);
  });

  it('is read again after a change of its file, of the file of the user, or of a variable', async () => {
    const file = project.write('.acor/config.yaml', 'environment: {timeout_s: 7}\n');
    const last = await known();
    // The same size.
    writeFileSync(file, 'environment: {timeout_s: 8}\n');
    assert.equal((await load(last)).config.environment.timeout_s, 8);

    const before = await known();
    project.write('home/.config/acor/config.yaml', 'environment: {heartbeat_grace_s: 5}\n');
    assert.equal((await load(before)).config.environment.heartbeat_grace_s, 5);

    const variables = await known();
    const given = env({ ACOR_ENVIRONMENT_TIMEOUT_S: '9' });
    assert.equal((await load(variables, given)).config.environment.timeout_s, 9);
    assert.equal((await load(variables)).config.environment.timeout_s, 8);

    const own: Record<string, string> = env();
    const owned = await known(own);
    own['ACOR_ENVIRONMENT_TIMEOUT_S'] = '6';
    assert.equal((await load(owned, own)).config.environment.timeout_s, 6);
  });

  it('is read again when its file appears or goes', async () => {
    project.folder('.acor');
    const last = await known();
    const file = project.write('.acor/config.yaml', 'environment: {timeout_s: 7}\n');
    const found = await load(last);
    assert.equal(found.config.environment.timeout_s, 7);
    rmSync(file);
    assert.equal((await load(found)).config.environment.timeout_s, 1800);
  });

  it('is read again when a folder of the project becomes a link that leads out of it', async () => {
    project.write('.acor/config.yaml', 'environment: {timeout_s: 7}\n');
    const last = await known();
    symlinkSync('/tmp', project.at('tools'));
    await assert.rejects(load(last), /tools/);
  });

  it('is read again when a person gives or takes back trust', async () => {
    project.write('.acor/config.yaml', "security: {isolation: 'off'}\n");
    const given = env();
    const last = await known(given);
    assert.equal(last.config.security.isolation, 'preferred');
    trustProject(project.root, given);
    const trusted = await load(last, given);
    assert.equal(trusted.config.security.isolation, 'off');
    const folder = project.at('home/.local/share/acor/trust');
    for (const name of readdirSync(folder)) await isSettled(join(folder, name));
    assert.equal(await load(trusted, given), trusted);
    assert.equal(await load(trusted, given), trusted);
    rmSync(folder, { recursive: true });
    assert.equal((await load(trusted, given)).config.security.isolation, 'preferred');
  });
});
