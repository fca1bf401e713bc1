import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as z from 'zod';
import { configFile } from '../../protocol/config-file.ts';
import { CONFIG_KEYS, readText, variablesOf } from './variables.ts';

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
        else if (each.type !== 'object') kinds[key.join('.')] = KINDS[each.type ?? 'string'] ?? 'text';
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

const KINDS: Readonly<Record<string, string>> = {
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  array: 'list',
};
