import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Ajv, type ValidateFunction } from 'ajv';
import { configDefaults } from '../../protocol/config-defaults.ts';
import { configFile } from '../../protocol/config-file.ts';
import { errorCodesFile } from '../../protocol/error-codes-file.ts';
import { manifestFile } from '../../protocol/manifest.ts';
import { inputSpec } from '../../protocol/manifest-inputs.ts';
import { policyFile } from '../../protocol/policy-file.ts';
import { checkFile } from './check-file.ts';
import { leavesOf } from './layers.ts';
import { CONFIG_KEYS, expandVariables } from './variables.ts';
import { parseYaml } from './yaml-file.ts';

const DOCS = join(import.meta.dirname, '..', '..', '..', 'docs');
const SCHEMAS = {
  'tool.yaml': manifestFile,
  'config.yaml': configFile,
  'error_codes.yaml': errorCodesFile,
  'policy.yaml': policyFile,
};

/** The schemas of editors, which read a file as it is written. */
const PUBLISHED = {
  'tool.yaml': published('manifest'),
  'config.yaml': published('config'),
  'error_codes.yaml': published('error-codes'),
  'policy.yaml': published('policy'),
};

describe('the documents on manifests and configuration', () => {
  it('show files that hold', async () => {
    const shown: string[] = [];
    for (const page of ['manifests.md', 'configuration.md', 'policy.md', 'network.md']) {
      for (const [, text] of read(page).matchAll(/```yaml\n(.*?)```/gs)) {
        const name = /^# (\S+)/.exec(text!)?.[1] as keyof typeof SCHEMAS;
        const yaml = await parseYaml(name, text!);
        const { value } = expandVariables(yaml, {});
        assert.deepEqual(checkFile<unknown>(SCHEMAS[name], yaml, value).problems, [], page);
        const validate = PUBLISHED[name];
        assert.ok(validate(yaml.value), `${page}: ${JSON.stringify(validate.errors)}`);
        shown.push(name);
      }
    }
    assert.deepEqual(shown, [
      'tool.yaml',
      'config.yaml',
      'error_codes.yaml',
      'policy.yaml',
      'policy.yaml',
      'policy.yaml',
      'policy.yaml',
      ...['tool.yaml', 'tool.yaml', 'config.yaml', 'config.yaml'],
    ]);
  });

  it('name every key, and no other', () => {
    const [keys, inputs] = read('manifests.md').split('\n## Inputs\n');
    assert.deepEqual(
      firstColumn(keys!.split('\n## Keys\n')[1]!).sort(),
      Object.keys(manifestFile.shape).sort(),
    );
    assert.deepEqual(
      firstColumn(inputs!.split('\n## A path')[0]!).sort(),
      Object.keys(inputSpec.shape).sort(),
    );
    const documented = firstColumn(read('configuration.md'));
    const settings = Object.keys(CONFIG_KEYS).map((key) =>
      key.replace(/^(security\.(?:resource_limits|container)|budget\.resources)\..*/, '$1'),
    );
    assert.deepEqual(
      documented.sort(),
      [
        ...new Set([
          ...settings,
          'version',
          'acor_version',
          'discovery.patterns',
          'security.egress_hosts',
          'answers',
          'notify',
          'resources',
          'prices',
        ]),
      ].sort(),
    );
  });

  it('name every key of a policy', () => {
    const page = read('policy.md');
    for (const key of Object.keys(policyFile.shape)) assert.ok(page.includes(`\`${key}`), key);
  });

  it('give the defaults as they are', () => {
    const rows = read('configuration.md').split('\n');
    for (const { path, value } of leavesOf(configDefaults())) {
      const row = rows.find((each) => each.startsWith(`| \`${path.join('.')}\` |`));
      const cell = row?.split('|')[2]?.replaceAll('`', '').trim();
      const expected = Array.isArray(value) ? value.join(' ') : String(value);
      assert.equal(cell?.replaceAll(',', ''), expected, path.join('.'));
    }
  });
});

function published(name: string): ValidateFunction {
  const path = join(DOCS, '..', 'schemas', `${name}.schema.json`);
  return new Ajv({ strict: false }).compile(JSON.parse(readFileSync(path, 'utf8')));
}

function read(page: string): string {
  return readFileSync(join(DOCS, page), 'utf8');
}

/** The names in the first column of the tables of a text. */
function firstColumn(text: string): string[] {
  const cells = text.split('\n').flatMap((line) => (line.startsWith('| `') ? line.split('|')[1]! : []));
  return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name!));
}
