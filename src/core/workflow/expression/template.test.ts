import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AcorError } from '../../../protocol/acor-error.ts';
import type { Problem } from '../../config/problem.ts';
import { parseYaml } from '../../config/yaml-file.ts';
import { evaluate, type Scope } from './expression.ts';
import { parseTemplate } from './parse-template.ts';

const SCOPE: Scope = {
  inputs: { n: 5, text: 'x', none: null, map: { a: 1 } },
  steps: {},
  workflow: { run_id: 'r-1', ok: true },
};

async function templateOf(value: unknown) {
  const problems: Problem[] = [];
  const yaml = await parseYaml('flow.yaml', `x:\n  y: ${JSON.stringify(value)}\n`);
  return { template: parseTemplate(yaml, ['x', 'y'], value, problems), problems };
}

const valueFrom = async (value: unknown) => evaluate((await templateOf(value)).template, SCOPE);

describe('a value of a workflow file', () => {
  it('that is one expression keeps the type of what it gives', async () => {
    assert.equal(await valueFrom('${inputs.n}'), 5);
    assert.deepEqual(await valueFrom('${inputs.map}'), { a: 1 });
    assert.equal(await valueFrom('${inputs.none}'), null);
  });

  it('becomes a text within other text', async () => {
    assert.equal(
      await valueFrom('n=${inputs.n} ${inputs.map} ${inputs.text}${inputs.none}'),
      'n=5 {"a":1} xnull',
    );
  });

  it('is looked through to its depth', async () => {
    assert.deepEqual(await valueFrom({ a: ['${inputs.n}', 'b', 1], c: { d: '$${e}' } }), {
      a: [5, 'b', 1],
      c: { d: '${e}' },
    });
  });

  it('has a ${ as it is behind another $, whatever stands around it', async () => {
    assert.equal(await valueFrom('$${HOME} $$ $5 ${inputs.n}'), '${HOME} $$ $5 5');
    assert.deepEqual((await templateOf(['$${HOME}'])).template, { kind: 'constant', value: ['${HOME}'] });
  });

  it('may have braces and quotes within its expressions', async () => {
    assert.deepEqual(await valueFrom('${{"a": {"b": "}"}}}'), { a: { b: '}' } });
    assert.equal(await valueFrom(`\${'it\\'s }'}`), "it's }");
    assert.equal(await valueFrom('${r"\\}"}!'), '\\}!');
    assert.equal(await valueFrom('${"""a"}"""}'), 'a"}');
  });

  it('does not take the keys of a map for anything else', async () => {
    const value = JSON.parse('{"__proto__": "${inputs.n}", "constructor": 1}');
    assert.deepEqual(Object.entries((await valueFrom(value)) as object), [
      ['__proto__', 5],
      ['constructor', 1],
    ]);
  });

  it('is a mistake with its place when an expression does not hold', async () => {
    const { problems } = await templateOf('a ${inputs.} b');
    assert.deepEqual([problems[0]?.line, problems[0]?.column, problems[0]?.rule], [2, 6, 'expression']);
    assert.match(String(problems[0]?.message), /at character 8/);
    const double = await templateOf('a ${{ steps.x }} b');
    assert.equal(double.problems[0]?.fix, 'Write one brace: ${steps.x}');
    const open = await templateOf('a ${inputs.n');
    assert.match(String(open.problems[0]?.message), /at character 3 is never closed/);
  });

  it('without a value is E_WORKFLOW_INVALID with its place, when it is evaluated', async () => {
    const { template } = await templateOf('${inputs.map.b}');
    assert.throws(
      () => evaluate(template, SCOPE),
      (error: AcorError) =>
        error.code === 'E_WORKFLOW_INVALID' &&
        /flow\.yaml:2:6: .*inputs\.map\.b.*No such key: b/.test(error.message),
    );
  });
});
