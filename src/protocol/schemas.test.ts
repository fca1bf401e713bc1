import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Ajv, type ValidateFunction } from 'ajv';
import { acceptedLines, rejectedLines } from '../../test/support/corpus.ts';
import { RUNNER_EVENTS } from './v1/runner-events.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const BUN = join(ROOT, 'node_modules/.bin/bun');
const NAMES = ['message-v1', 'event-v1', 'manifest', 'policy', 'config', 'error-codes', 'version'];

describe('the published JSON Schemas', () => {
  it('are those that the code describes', () => {
    const check = checkIn(ROOT);
    assert.equal(check.stderr, '');
    assert.equal(check.status, 0);
  });

  it('are called stale, missing or unknown by name when they are, and the printed command fixes them', () => {
    const copy = mkdtempSync(join(tmpdir(), 'acor-schemas-'));
    try {
      for (const part of ['src', 'scripts', 'schemas', 'package.json']) {
        cpSync(join(ROOT, part), join(copy, part), { recursive: true });
      }
      symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
      writeFileSync(join(copy, 'schemas/event-v1.schema.json'), '{}\n');
      rmSync(join(copy, 'schemas/config.schema.json'));
      writeFileSync(join(copy, 'schemas/old.schema.json'), '{}\n');
      const check = checkIn(copy);
      assert.equal(check.status, 1);
      assert.deepEqual(check.stderr.trim().split('\n'), [
        'schemas/event-v1.schema.json is stale',
        'schemas/config.schema.json is missing',
        'schemas/old.schema.json is not written by this script',
        'Write them again: node_modules/.bin/bun scripts/write-schemas.ts',
      ]);
      rmSync(join(copy, 'schemas/old.schema.json'));
      spawnSync(BUN, ['scripts/write-schemas.ts'], { cwd: copy });
      assert.equal(checkIn(copy).status, 0);
    } finally {
      rmSync(copy, { recursive: true });
    }
  });

  it('are draft-07 with a name, a title and a description, and the name is no address', () => {
    for (const name of NAMES) {
      const schema = readSchema(name);
      assert.equal(schema['$schema'], 'http://json-schema.org/draft-07/schema#', name);
      assert.ok(schema['title'] && schema['description'], name);
      assert.equal(schema['$id'], `urn:acor:schema:${name}`, name);
    }
  });
});

describe('the schemas of the files that people write', () => {
  it('say of every key what it is for, since editors show it', () => {
    const silent: string[] = [];
    const walk = (schema: Node, path: string): void => {
      for (const [key, each] of Object.entries(schema.properties ?? {})) {
        if (!each.description) silent.push(`${path} ${key}`);
        walk(each, `${path} ${key}`);
      }
      for (const inner of [schema.items, schema.additionalProperties])
        if (typeof inner === 'object') walk(inner, path);
    };
    for (const name of ['manifest', 'policy', 'config', 'error-codes', 'version'])
      walk(readSchema(name), name);
    assert.deepEqual(silent, []);
  });
});

describe('the schema of a message, in the hands of another validator', () => {
  const validate = compile('message-v1');

  it('accepts what tools write and refuses what does not hold, as the check does', () => {
    for (const { subject, message, at } of acceptedLines()) {
      const known = subject !== 'unknown' && !Object.hasOwn(RUNNER_EVENTS, subject);
      assert.equal(validate(message), known, `${at}: ${JSON.stringify(validate.errors?.[0])}`);
    }
    for (const { message, at, why } of rejectedLines())
      assert.equal(validate(message), false, `${at}: ${why}`);
  });
});

describe('the schema of a stored event, in the hands of another validator', () => {
  const validate = compile('event-v1');

  it('accepts every message, event and unknown type once it is numbered', () => {
    for (const { message, at } of acceptedLines()) {
      assert.equal(validate({ ...message, seq: 3 }), true, `${at}: ${JSON.stringify(validate.errors?.[0])}`);
    }
  });

  it('refuses what has no number or does not hold', () => {
    for (const { message, at } of acceptedLines()) {
      const { seq: _, ...unnumbered } = message;
      assert.equal(validate(unnumbered), false, at);
    }
    for (const { message, at, why } of rejectedLines()) {
      assert.equal(validate({ seq: 3, ...message }), false, `${at}: ${why}`);
    }
  });
});

describe('the schemas of the files, in the hands of another validator', () => {
  it('accept a manifest as a person writes it, and refuse an unknown key and a wrong type', () => {
    const validate = compile('manifest');
    const manifest = {
      name: 'data_migrator',
      version: '1.2.0',
      entry: 'cli.py',
      protocol_version: 1,
      inputs: [{ name: 'source', type: 'path', required: true }],
      permissions: {
        filesystem: { read: ['${WORKSPACE}/source/**'] },
        network: { egress_allow: ['api.example.com:443'] },
      },
      resources: { cpu_seconds: 600, memory_mb: 2048 },
      env: { require: ['AWS_REGION'] },
      exit_codes: { ok: 0, retryable_error: 20, fatal_error: 30 },
      health: { selftest: ['--selftest'], describe: ['--describe'] },
    };
    assert.equal(validate(manifest), true, JSON.stringify(validate.errors));
    assert.equal(validate({ ...manifest, timeout: 5 }), false);
    assert.equal(validate({ ...manifest, timeout_s: '5' }), false);
  });

  it('accept a policy, and refuse an unknown key and a wrong level', () => {
    const validate = compile('policy');
    const policy = {
      max_level: 'standard',
      filesystem: { read: ['${PROJECT}/data/**', '/srv'] },
      network: { egress_allow: ['*.example.com:443'] },
      tools: { deploy: { limits: { timeout_s: 60 } } },
    };
    assert.equal(validate(policy), true, JSON.stringify(validate.errors));
    assert.equal(validate({ ...policy, max_levl: 'standard' }), false);
    assert.equal(validate({ max_level: 'all' }), false);
  });

  it('accept an empty configuration and one of a few keys, and refuse an unknown key', () => {
    const validate = compile('config');
    assert.equal(validate({}), true, JSON.stringify(validate.errors));
    assert.equal(validate({ version: 1, environment: { timeout_s: 60 } }), true);
    assert.equal(validate({ enviroment: {} }), false);
  });
});

interface Node {
  description?: string;
  properties?: Record<string, Node>;
  items?: Node | boolean;
  additionalProperties?: Node | boolean;
}

function checkIn(folder: string): { status: number | null; stderr: string } {
  return spawnSync(BUN, ['scripts/write-schemas.ts', '--check'], { cwd: folder, encoding: 'utf8' });
}

function readSchema(name: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(ROOT, `schemas/${name}.schema.json`), 'utf8'));
}

function compile(name: string): ValidateFunction {
  return new Ajv({ strict: true, allowUnionTypes: true }).compile(readSchema(name));
}
