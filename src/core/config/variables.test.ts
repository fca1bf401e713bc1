import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Ajv } from 'ajv';
import * as z from 'zod';
import { configFile } from '../../protocol/config-file.ts';
import { checkFile } from './check-file.ts';
import { CONFIG_KEYS, expandVariables, readText, variablesOf } from './variables.ts';
import { parseYaml } from './yaml-file.ts';

interface Schema {
  type?: string;
  enum?: unknown[];
  properties?: Record<string, Schema>;
}

describe('the keys that a variable can set', () => {
  it('are those of the schema, with the right kinds', () => {
    const kinds: Record<string, string> = {};
    const walk = (schema: Schema, path: string[]): void => {
      for (const [name, each] of Object.entries(schema.properties ?? {})) {
        const key = [...path, name];
        if (each.properties) walk(each, key);
        else if (each.type !== 'object')
          kinds[key.join('.')] = each.enum ? 'choice' : (KINDS[each.type ?? 'string'] ?? 'text');
      }
    };
    walk(z.toJSONSchema(configFile, { io: 'input' }) as Schema, []);
    // What describes the file itself is no setting.
    delete kinds['version'];
    delete kinds['acor_version'];
    // What is outdated gets no new ways of being written.
    delete kinds['project.tools_dir'];
    delete kinds['security.workspace_isolation'];
    delete kinds['security.drop_privileges'];
    // Rules do not fit into a variable.
    delete kinds['answers'];
    delete kinds['notify'];
    delete kinds['resources'];
    assert.deepEqual({ ...CONFIG_KEYS }, kinds);
  });

  it('have the names that people expect', () => {
    assert.deepEqual(variablesOf('environment.timeout_s'), ['ACOR_ENVIRONMENT_TIMEOUT_S', 'TOOL_TIMEOUT_S']);
    assert.deepEqual(variablesOf('security.grant_roots'), ['ACOR_SECURITY_GRANT_ROOTS']);
  });
});

describe('the text of a variable', () => {
  it('is read as its kind', () => {
    assert.equal(readText('number', '1.5'), 1.5);
    assert.equal(readText('boolean', 'false'), false);
    assert.deepEqual(readText('list', 'a, b,,c '), ['a', 'b', 'c']);
    assert.equal(readText('text', '1'), '1');
  });

  it('stays text where it does not fit, so that the check can show it', () => {
    assert.equal(readText('number', '5x'), '5x');
    assert.equal(readText('number', ' '), ' ');
    assert.equal(readText('boolean', 'yes'), 'yes');
  });
});

describe('variables in a configuration', () => {
  it('are accepted by the schema for editors in each setting where ACOR reads one, and the same texts without them are not', async () => {
    const path = join(import.meta.dirname, '../../../schemas/config.schema.json');
    const validate = new Ajv({ strict: false }).compile(JSON.parse(readFileSync(path, 'utf8')));
    const agrees = async (path: string, written: unknown, isValid: boolean) => {
      const file = path
        .split('.')
        .reduceRight<unknown>((value, key) => ({ [key]: value }), written) as object;
      const yaml = await parseYaml('config.yaml', JSON.stringify(file));
      const { value } = expandVariables(yaml, {});
      const about = `${path}: ${JSON.stringify(written)}`;
      assert.equal(checkFile(configFile, yaml, value).problems.length === 0, isValid, about);
      assert.equal(validate(file), isValid, about);
    };
    const numbers = Object.keys(CONFIG_KEYS).filter((key) => CONFIG_KEYS[key] === 'number');
    const booleans = Object.keys(CONFIG_KEYS).filter((key) => CONFIG_KEYS[key] === 'boolean');
    assert.ok(numbers.length > 20 && booleans.length > 2);
    // A price has two keys: see below.
    for (const key of numbers.filter((each) => !each.startsWith('task.price.'))) {
      await agrees(key, '${X:-1}', true);
      await agrees(key, '1', false);
    }
    for (const key of booleans) {
      await agrees(key, '${X:-true}', true);
      await agrees(key, 'true', false);
    }
    for (const [key, written, without] of [
      ['security.isolation', '${X:-off}', 'of'],
      ['task.price', { input: '${X:-1}', output: '${X:-1}' }, { input: '1', output: 1 }],
      ['task.executor', '${X:-codex}', 'Codex'],
      ['acor_version', '${X:-1.0.0}', '1.0'],
      ['environment.base_allowlist', ['PATH', '${X:-HOME}'], ['PA TH']],
    ] as const) {
      await agrees(key, written, true);
      await agrees(key, without, false);
    }
    // What is no setting of its own stays a text.
    await agrees('prices', { fast: { input: '${X:-1}', output: 1 } }, false);
  });
});

const KINDS: Readonly<Record<string, string>> = {
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  array: 'list',
};
