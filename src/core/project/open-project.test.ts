import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TestProject } from '../../../test/support/project.ts';
import { commandOf } from '../../operations/command-forms.ts';
import { ProjectCache } from './open-project.ts';

const CONFIG = 'version: 1\nproject: { name: test }\n';

describe('the project of a process that serves many requests', () => {
  it('is the same for requests between which nothing has changed, also for those at the same time', async () => {
    using project = new TestProject({ config: CONFIG });
    const cache = new ProjectCache();
    const place = { cwd: project.root, env: project.environment(), commandOf };
    const [first, second] = await Promise.all([cache.open(place), cache.open(place)]);
    assert.equal(second, first);
    assert.equal(await cache.open({ ...place, env: { ...place.env, TRACEPARENT: 'another' } }), first);
  });

  it('is another one after a change of the configuration, by file, variable or override', async () => {
    using project = new TestProject({ config: CONFIG });
    const cache = new ProjectCache();
    const place = { cwd: project.root, env: project.environment(), commandOf };
    const timeout = async (given: Parameters<ProjectCache['open']>[0]) =>
      (await cache.open(given)).config.config.environment.timeout_s;
    assert.equal(await timeout(place), 1800);
    project.write('.acor/config.yaml', `${CONFIG}environment: { timeout_s: 7 }\n`);
    assert.equal(await timeout(place), 7);
    assert.equal(await timeout({ ...place, env: { ...place.env, ACOR_ENVIRONMENT_TIMEOUT_S: '8' } }), 8);
    assert.equal(await timeout({ ...place, overrides: { 'environment.timeout_s': 9 } }), 9);
    assert.equal(await timeout(place), 7);
  });

  it('sees tools that have changed, and keeps its registry', async () => {
    using project = new TestProject({ config: CONFIG, tools: ['quick'] });
    const cache = new ProjectCache();
    const place = { cwd: project.root, env: project.environment(), commandOf };
    const { registry } = await cache.open(place);
    assert.deepEqual(
      (await registry.list()).map(({ name }) => name),
      ['quick'],
    );
    project.write('tools/late/cli.sh', '#!/bin/sh\n', 0o755);
    const later = await cache.open(place);
    assert.equal(later.registry, registry);
    assert.deepEqual(
      (await later.registry.list()).map(({ name }) => name),
      ['late', 'quick'],
    );
  });

  it('is opened again after a configuration that is invalid has been corrected', async () => {
    using project = new TestProject({ config: CONFIG });
    const cache = new ProjectCache();
    const place = { cwd: project.root, env: project.environment(), commandOf };
    const first = await cache.open(place);
    project.write('.acor/config.yaml', 'version: 1\nproject: 7\n');
    await assert.rejects(cache.open(place), { code: 'E_CONFIG_INVALID' });
    project.write('.acor/config.yaml', CONFIG);
    assert.deepEqual((await cache.open(place)).config, first.config);
  });
});
