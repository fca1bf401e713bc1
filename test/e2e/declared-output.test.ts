import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TestProject } from '../support/project.ts';

describe('a plain tool with a declared output', () => {
  let project: TestProject;
  before(() => {
    project = new TestProject();
    const tool = (name: string, manifest: string, script: string) => {
      project.write(`tools/${name}/tool.yaml`, `version: 1.0.0\nadapter: plain\n${manifest}`);
      project.write(`tools/${name}/cli.sh`, `#!/bin/bash\n${script}\n`, 0o755);
    };
    tool(
      'sizes',
      'output: { format: csv, types: { size: int } }\n',
      String.raw`printf 'name,size\n"a, b",12\nc,-\n'`,
    );
    tool('wrong', 'output: pairs\n', "printf 'a: 1\\nHello\\n'");
    tool(
      'fails',
      `exit_codes: { ok: 0, ok_none: 1 }
errors:
  - { exit: 9, match: '^fatal: no (?:repo|access)', code: E_ENV_MISSING, hint: Go to a repository. }
  - { exit: 8, code: E_RATE_LIMIT }
  - { match: locked, code: E_BUSY }
output: lines
inputs: [{ name: rc, positional: true }, { name: line, positional: true }]
`,
      'echo "warning: x" >&2; echo "$2" >&2; exit $1',
    );
    tool('lines', 'inputs: []\noutput: jsonl\n', String.raw`printf '{"a":1}\n{"a":2}\n'`);
    project.write(
      '.acor/error_codes.yaml',
      'version: 1\ncodes:\n  E_BUSY: { class: retryable, retryable: true, hint: Wait for the lock. }\n',
    );
  });
  after(() => project[Symbol.dispose]());

  it('has the parsed values as its data, with a warning for a value of another type', async () => {
    const { data, meta } = await project.envelope(['run', 'sizes', '--no-stream']);
    assert.deepEqual(data.result.data, [
      { name: 'a, b', size: 12 },
      { name: 'c', size: null },
    ]);
    assert.match(JSON.stringify(meta.warnings), /'size' is not of type int/);
    const lines = await project.envelope(['run', 'lines', '--no-stream']);
    assert.deepEqual(lines.data.result.data, [{ a: 1 }, { a: 2 }]);
  });

  it('has a warning for bytes that are not UTF-8, whatever takes its lines', async () => {
    for (const [name, manifest] of [
      ['with_lines', 'adapter: plain\noutput: lines\n'],
      [
        'with_rules',
        'adapter: text-map\nmap: [{ match: "^say (?<msg>.*)$", to: log, fields: { level: info, msg: $.msg } }]\n',
      ],
      ['with_markers', 'adapter: markers\n'],
      ['with_messages', 'adapter: jsonl\n'],
    ] as const) {
      project.write(`tools/${name}/tool.yaml`, `version: 1.0.0\n${manifest}`);
      project.write(`tools/${name}/cli.sh`, `#!/bin/bash\nprintf 'say %b\\n' "$1"\n`, 0o755);
      const warned = async (text: string) =>
        (await project.run([name, text]))
          .of('runner_warning')
          .filter(({ msg }) => /not UTF-8; they were replaced/.test(String(msg)));
      assert.equal((await warned('\\xff')).length, 1, name);
      assert.equal((await warned('\\xef\\xbf\\xbd')).length, 0, `${name}: the control`);
    }
  });

  it('fails when its output has another form, and names the line', async () => {
    const { error } = await project.envelope(['run', 'wrong', '--no-stream']);
    assert.equal(error!.code, 'E_PROTOCOL');
    assert.match(error!.message, /output: pairs.*line 2: no ':'/);
  });

  it('has the error code of the rule that its exit code and its stderr match', async () => {
    const of = async (rc: number, line: string) => {
      const { code, error, data } = await project.envelope([
        'run',
        'fails',
        String(rc),
        line,
        '--no-stream',
        '--retries',
        '0',
      ]);
      return { code, error, data };
    };
    const blocked = await of(9, 'fatal: no repo here');
    assert.deepEqual(
      [blocked.code, blocked.error!.code, blocked.error!.message, blocked.error!.hint],
      [2, 'E_ENV_MISSING', 'fatal: no repo here', 'Go to a repository.'],
    );
    assert.equal((await of(9, 'fatal: other')).error!.code, 'E_TOOL_FAILED');
    assert.deepEqual(
      [(await of(8, 'x')).error!.code, (await of(7, 'db is locked')).error!.code],
      ['E_RATE_LIMIT', 'E_BUSY'],
    );
    assert.deepEqual((await of(1, 'nothing')).data.result.data, []);
  });
});
