import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as z from 'zod';
import { configDefaults } from './config-defaults.ts';
import { configFile } from './config-file.ts';

describe('the configuration file', () => {
  it('may be empty, and then says what a project without one has', () => {
    assert.deepEqual(configFile.parse({}), configDefaults());
  });

  it('takes the keys of the design (seed 001) with its defaults', () => {
    const config = configFile.parse({ version: 1, acor_version: '0.1.0', project: { name: 'x' } });
    assert.deepEqual(config.project.tools_dirs, ['.acor/tools/', 'tools/']);
    assert.deepEqual(
      [config.project.runs_dir, config.project.registry_dir, config.discovery.cache_ttl],
      ['.runs/', '.acor/registry/', 300],
    );
    const { timeout_s, heartbeat_grace_s, max_output_size } = config.environment;
    assert.deepEqual([timeout_s, heartbeat_grace_s, max_output_size], [1800, 90, 30_000_000]);
    assert.equal(config.security.isolation, 'preferred');
  });

  it('refuses another version and unknown keys', () => {
    assert.ok(!configFile.safeParse({ version: 2 }).success);
    assert.ok(!configFile.safeParse({ projekt: {} }).success);
    assert.ok(!configFile.safeParse({ storage: { keeep: 3 } }).success);
  });

  it('has a JSON Schema for editors', () => {
    const schema = z.toJSONSchema(configFile, { io: 'input', target: 'draft-07' });
    assert.equal(schema.additionalProperties, false);
    assert.ok(schema.properties?.['environment']);
  });
});
