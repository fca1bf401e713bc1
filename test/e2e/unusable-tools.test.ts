import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { TestProject } from '../support/project.ts';

const project = new TestProject({ tools: ['quick'] });
after(() => project[Symbol.dispose]());
project.write('tools/no_bit/main', '#!/bin/sh\necho\n', 0o644);
project.write('tools/in_ruby/cli.rb', 'puts 1\n', 0o644);
project.write('tools/no_interpreter/main', '#!/no/such/interpreter\n', 0o755);
project.write('tools/folder_name/tool.yaml', 'name: other_name\nversion: 1.0.0\nentry: cli.sh\n');
project.write('tools/folder_name/cli.sh', 'echo\n');
project.write('tools/too_new/tool.yaml', 'version: 1.0.0\nentry: cli.sh\nmin_acor_version: 99.0.0\n');
project.write('tools/too_new/cli.sh', 'echo\n');
project.write('tools/single.py', 'print(1)\n', 0o644);
project.write('tools/only_data/main.json', '{}\n');

describe('a tool that cannot be used', () => {
  for (const [name, code, fix] of [
    ['no_bit', 'E_MANIFEST_INVALID', /chmod \+x '.*tools\/no_bit\/main'/],
    ['in_ruby', 'E_MANIFEST_INVALID', /chmod \+x '.*tools\/in_ruby\/cli\.rb'/],
    ['no_interpreter', 'E_RUNTIME_MISSING', /Install \S*interpreter, or fix the first line/],
    ['too_new', 'E_INCOMPATIBLE', /Update ACOR to 99\.0\.0/],
  ] as const)
    it(`is listed with the reason and the fix, and a run says the same: ${name}`, async () => {
      const { data } = await project.envelope(['list']);
      const listed = data.tools.find((tool: { name: string }) => tool.name === name);
      assert.equal(listed?.status, 'broken', JSON.stringify(data));
      assert.match(listed.problems.join(), fix);
      const { error } = await project.envelope(['run', name]);
      assert.equal(error.code, code);
      assert.match(error.hint, fix);
    });

  it('is named where its manifest has another name, or its file no mode bit', async () => {
    const renamed = await project.envelope(['run', 'folder_name']);
    assert.match(renamed.error.hint, /has the name 'other_name' in its manifest/);
    assert.equal(renamed.meta.next[0], 'acor describe other_name');
    const single = await project.envelope(['run', 'single']);
    assert.match(single.error.hint, /is not executable, so it is not a tool: chmod \+x '.*single\.py'/);
    const data = await project.envelope(['run', 'only_data']);
    assert.equal(data.error.code, 'E_TOOL_NOT_FOUND', 'a file of data is not a tool');
  });

  it('is seen by health, as are foreign versions, broken error codes and failing self-tests', async () => {
    using other = new TestProject();
    other.write(
      'tools/sick/tool.yaml',
      'version: 1.0.0\nentry: cli.sh\nhealth: { selftest: [--selftest] }\n',
    );
    other.write('tools/sick/cli.sh', 'exit 3\n');
    const statusOf = async (name: string, ...flags: string[]) => {
      const { data } = await other.envelope(['health', ...flags]);
      return data.checks.find((check: { name: string }) => check.name === name)?.status;
    };
    assert.equal(await statusOf('versions'), 'ok');
    assert.equal(await statusOf('error_codes'), 'ok');
    assert.equal(await statusOf('selftests'), undefined);
    assert.equal(await statusOf('selftests', '--deep'), 'degraded');
    other.write('tools/sick/tool.yaml', 'version: 1.0.0\nentry: cli.sh\nmin_acor_version: 99.0.0\n');
    assert.equal(await statusOf('tool.sick'), 'degraded');
    other.write('.acor/error_codes.yaml', 'E_QUOTA: 3\n');
    assert.equal(await statusOf('error_codes'), 'degraded');
    other.write(
      '.acor/version.json',
      JSON.stringify({ created_by: '99.0.0', schema_versions: { config: 1, protocol: 1 } }),
    );
    assert.equal(await statusOf('versions'), 'degraded');
  });
});

it('clean without a rule follows storage.keep', async () => {
  using other = new TestProject({ tools: ['quick'], config: 'version: 1\nstorage: { keep: 1 }\n' });
  for (let run = 0; run < 3; run++) await other.acor(['run', 'quick', '--no-stream']);
  const { data } = await other.envelope(['clean']);
  assert.deepEqual([data.removed.length, data.kept, other.runIds().length], [2, 1, 1]);
});
