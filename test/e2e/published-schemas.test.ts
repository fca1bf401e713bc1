import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Ajv } from 'ajv';
import { doubles } from '../../examples/compose/doubles.ts';
import { captureCli } from '../../src/compose/capture-cli.ts';
import { ROOT, TestProject } from '../support/project.ts';

const ajv = new Ajv({ strict: false });
const schema = (name: string) =>
  ajv.compile(JSON.parse(readFileSync(join(ROOT, 'schemas', `${name}.schema.json`), 'utf8')));
const [envelope, catalog, health, errors, audit] = ['envelope', 'catalog', 'health', 'errors', 'audit'].map(
  schema,
);

describe('the published schemas', () => {
  it('accept what ACOR answers, and refuse what it does not', async () => {
    using project = new TestProject();
    const answers = {
      tools: await project.envelope(['tools', '--full']),
      tool: await project.envelope(['tools', 'run.start']),
      health: await project.envelope(['health']),
      errors: await project.envelope(['errors']),
      audit: await project.envelope(['compose', 'audit', 'sort']),
      failure: await project.envelope(['no-such-command']),
    };
    for (const [name, answer] of Object.entries(answers))
      assert.ok(envelope!(answer), `${name}: ${JSON.stringify(envelope!.errors)}`);
    assert.ok(catalog!(answers.tools.data), JSON.stringify(catalog!.errors?.slice(0, 3)));
    assert.ok(catalog!(answers.tool.data));
    assert.ok(health!(answers.health.data ?? answers.health.error.details));
    assert.ok(errors!(answers.errors.data), JSON.stringify(errors!.errors?.slice(0, 3)));
    assert.ok(audit!(answers.audit.data), JSON.stringify(audit!.errors?.slice(0, 3)));
    const { meta: _, ...withoutMeta } = answers.tool;
    assert.ok(!envelope!(withoutMeta));
    assert.ok(!health!({ status: 'fine', checks: [] }));
    assert.ok(!catalog!({ tools: [{ name: 'x' }], globalFlags: [] }));
  });

  it('accept what a program of the kit answers', async () => {
    const answer = async (...argv: string[]): Promise<{ data: unknown }> =>
      JSON.parse((await captureCli(doubles, argv)).stdout);
    for (const [words, check] of [
      ['tools', catalog],
      ['health', health],
      ['errors', errors],
    ] as const) {
      const whole = await answer(words);
      assert.ok(envelope!(whole), `${words}: ${JSON.stringify(envelope!.errors)}`);
      assert.ok(check!(whole.data), `${words}: ${JSON.stringify(check!.errors?.slice(0, 3))}`);
    }
  });
});
