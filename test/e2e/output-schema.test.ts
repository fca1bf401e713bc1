import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { TestProject } from '../support/project.ts';

const SCHEMA = '{ type: object, required: [rows], properties: { rows: { type: integer } } }';

describe('the output_schema of a manifest', () => {
  let project: TestProject;
  before(() => {
    project = new TestProject();
    for (const strict of [false, true])
      project.write(
        `tools/counts_${strict}/tool.yaml`,
        `version: 1.0.0\nstrict: ${strict}\noutput_schema: ${SCHEMA}\ninputs: [{ name: data }, { name: out, type: path, access: write }]\n`,
      );
    for (const strict of [false, true])
      project.write(
        `tools/counts_${strict}/cli.sh`,
        '#!/bin/bash\n[ -n "$4" ] && echo made > "$4"\necho "{\\"type\\":\\"result\\",\\"status\\":\\"ok\\"$2}"\n',
        0o755,
      );
  });
  after(() => project[Symbol.dispose]());

  const run = async (strict: boolean, data: string, out = 'out.txt') => {
    const args = ['--data', data, '--out', out];
    const { events, end, of } = await project.run([`counts_${strict}`, ...args]);
    return { events, end, warnings: of('runner_warning').filter(({ code }) => code === 'E_RESULT_INVALID') };
  };

  it('accepts data that fits it', async () => {
    for (const strict of [false, true]) {
      const { end, warnings } = await run(strict, ',"data":{"rows":3}', `fits-${strict}.txt`);
      assert.deepEqual([end.state, warnings], ['completed', []]);
    }
  });

  it('warns of other data, and of none, and the run completes', async () => {
    for (const [data, problem] of [
      [',"data":{"rows":"three"}', /does not match output_schema: data\/rows must be integer/],
      ['', /does not match output_schema: data must be object/],
    ] as const) {
      const { end, warnings } = await run(false, data, `warned-${data.length}.txt`);
      assert.equal(end.state, 'completed');
      assert.match(String(warnings[0]?.msg), problem);
    }
  });

  it('fails a strict tool with other data, which puts no output in place', async () => {
    const { end, events, warnings } = await run(true, ',"data":{"rows":"three"}', 'never.txt');
    assert.deepEqual([end.state, end.code, warnings], ['failed', 'E_RESULT_INVALID', []]);
    const error = events.find(({ type }) => type === 'runner_error');
    assert.match(String(error?.msg), /data\/rows must be integer/);
    assert.equal(existsSync(project.path('never.txt')), false);
  });

  it('says at most a thousand characters of what does not fit', async () => {
    project.write(
      'tools/lists/tool.yaml',
      'version: 1.0.0\noutput_schema: { type: array, items: { type: integer } }\n',
    );
    const items = Array.from({ length: 1000 }, () => '"x"').join(',');
    project.write(
      'tools/lists/cli.sh',
      `#!/bin/bash\necho '{"type":"result","status":"ok","data":[${items}]}'\n`,
      0o755,
    );
    const { of } = await project.run(['lists']);
    const [warning] = of('runner_warning').filter(({ code }) => code === 'E_RESULT_INVALID');
    assert.ok(String(warning?.msg).length < 1200, String(warning?.msg).slice(0, 300));
  });

  it('is checked before any work, and a cached tool is not forgotten', async () => {
    const write = (schema: string) => {
      project.write('tools/broken/tool.yaml', `version: 1.0.0\noutput_schema: ${schema}\n`);
      project.write('tools/broken/cli.sh', '#!/bin/bash\necho \'{"type":"result","data":{"n":1}}\'\n', 0o755);
    };
    for (const [schema, why] of [
      ['{ type: thing }', /type/],
      ['{ type: object, properties: { n: { type: integer, maximum: no } } }', /maximum/],
      ['{ $ref: "#/$defs/missing" }', /missing/],
      ['{ $ref: "https://example.com/schema.json" }', /example\.com/],
    ] as const) {
      write(schema);
      const before = (await project.envelope(['runs'])).data.runs.length;
      // The second look is that of the cache.
      for (const _ of ['fresh', 'cached']) {
        const { code, error } = await project.envelope(['run', 'broken']);
        assert.deepEqual([code, error.code], [2, 'E_MANIFEST_INVALID']);
        assert.match(error.message, why);
        assert.match(JSON.stringify(error.details.problems), /"line":2.*output-schema/);
      }
      assert.equal((await project.envelope(['runs'])).data.runs.length, before);
      const { error } = await project.envelope(['validate', 'broken']);
      assert.deepEqual(
        error.details.findings.filter(({ rule }: { rule: string }) => rule === 'output-schema').length,
        1,
      );
    }
    write('{ type: object, required: [n] }');
    assert.equal((await project.run(['broken'])).end.state, 'completed');
  });

  it('may be a schema of draft 7', async () => {
    for (const [type, count] of [
      ['integer', 0],
      ['string', 1],
    ] as const) {
      const schema = `{ $schema: "http://json-schema.org/draft-07/schema#", type: object, properties: { n: { type: ${type} } } }`;
      project.write('tools/older/tool.yaml', `version: 1.0.0\noutput_schema: ${schema}\n`);
      project.write('tools/older/cli.sh', '#!/bin/bash\necho \'{"type":"result","data":{"n":1}}\'\n', 0o755);
      const { end, of } = await project.run(['older']);
      assert.equal(end.state, 'completed');
      assert.equal(of('runner_warning').filter(({ code }) => code === 'E_RESULT_INVALID').length, count);
    }
  });
});
