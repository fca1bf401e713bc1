import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { WorkflowProject } from '../support/workflow-project.ts';

const FLAG = { go: { type: 'bool', default: true } };

/** A project with a tool that no person has approved, and one whose secret is not stored. */
function projectWithRefusedTools(): WorkflowProject {
  const project = new WorkflowProject();
  for (const [name, more] of [
    ['priv', 'permissions: { level: privileged }'],
    ['other', 'secrets: [other-tok]'],
  ] as const) {
    project.write(`tools/${name}/cli.sh`, '#!/bin/bash\nexit 0\n', 0o755);
    project.write(`tools/${name}/tool.yaml`, `name: ${name}\nversion: 1.0.0\n${more}\n`);
  }
  return project;
}

describe('a workflow with a step that is certain to be refused', () => {
  it('is refused before anything runs, with every approval and secret that is missing', async () => {
    using project = projectWithRefusedTools();
    const inner = project.workflow({ steps: [{ name: 'in', tool: 'other' }] }, 'inner.json');
    const path = project.workflow({
      steps: [
        { name: 'one', ...project.noting('one') },
        { name: 'two', tool: 'priv' },
        { name: 'three', workflow: inner },
      ],
    });
    for (const more of [['--dry-run'], ['--detach'], ['--no-stream']]) {
      const { code, error, meta } = await project.envelope(['workflow', 'run', path, ...more]);
      assert.deepEqual([code, error.code], [2, 'E_APPROVAL_REQUIRED']);
      assert.match(error.message, /^step 'two': tool 'priv' is privileged.* \(and 1 more\)$/);
      assert.deepEqual(meta.next!.slice(0, 2), ['acor approve priv', 'acor secret set other-tok']);
    }
    assert.deepEqual([project.notes(), project.runIds()], [[], []]);
  });

  it('runs where the step may be skipped, or where the workflow continues after its failure', async () => {
    using project = projectWithRefusedTools();
    const { end } = await project.flow(
      {
        inputs: FLAG,
        steps: [
          { name: 'one', when: '${inputs.go}', ...project.noting('one') },
          { name: 'two', tool: 'priv' },
          { name: 'three', needs: [], tool: 'other', on_error: 'continue' },
          { name: 'both', needs: [], tasks: [{ tool: 'priv', on_error: 'continue' }] },
        ],
      },
      ['--no-go'],
    );
    assert.equal(end.state, 'completed');
  });
});

describe('a step that is refused while the workflow runs', () => {
  it('leads to the missing approval first, at the end and in acor show', async () => {
    using project = projectWithRefusedTools();
    const path = project.workflow({
      inputs: FLAG,
      steps: [
        { name: 'one', ...project.noting('one') },
        { name: 'two', when: '${inputs.go}', tool: 'priv' },
      ],
    });
    const { error, meta } = await project.envelope(['workflow', 'run', path, '--no-stream']);
    const flow = project.flowId();
    assert.equal(error.code, 'E_APPROVAL_REQUIRED');
    assert.match(error.hint!, /^A person must approve it at a terminal\..* Then resume the workflow\.$/);
    const next = ['acor approve priv', `acor workflow resume ${flow}`, `acor logs ${flow}`];
    assert.deepEqual(meta.next, next);
    assert.deepEqual((await project.envelope(['show', flow])).meta.next, next);
  });

  it('leads to the missing secret first, also from within a contained workflow', async () => {
    using project = projectWithRefusedTools();
    const steps = [{ name: 'in', when: '${inputs.go}', tool: 'other' }];
    const inner = project.workflow({ inputs: FLAG, steps }, 'inner.json');
    const path = project.workflow({ steps: [{ name: 'sub', workflow: inner }] });
    const { error, meta } = await project.envelope(['workflow', 'run', path, '--no-stream']);
    assert.equal(error.code, 'E_ENV_MISSING');
    assert.deepEqual(meta.next!.slice(0, 2), [
      'acor secret set other-tok',
      `acor workflow resume ${project.flowId()}`,
    ]);
  });
});
