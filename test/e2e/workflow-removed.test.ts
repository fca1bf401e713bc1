import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { splitCommand } from '../../src/util/shell-words.ts';
import { ACOR } from '../support/project.ts';
import { WorkflowProject } from '../support/workflow-project.ts';

const SAID_BY_FIRST = "${steps['the first'].data.said}";

/** Each step reads what the one before has said; the last one fails until `repaired` is there. */
function chain(project: WorkflowProject): Record<string, unknown> {
  const flaw = { fails_with: 'E_DISK_FULL', unless: project.path('repaired') };
  return {
    steps: [
      { name: 'the first', ...project.noting('a') },
      {
        name: 'b',
        when: "${steps['the first'].data.said == 'a'}",
        ...project.noting(`b of ${SAID_BY_FIRST}`),
      },
      { name: 'c', ...project.noting('c of ${steps.b.data.said}', flaw) },
    ],
  };
}

async function removeChildren(project: WorkflowProject): Promise<void> {
  await project.supervisorsExited();
  for (const run of project.runIds().filter((id) => project.whole(id)?.kind === 'tool'))
    assert.equal((await project.envelope(['runs', 'rm', run])).code, 0);
  project.write('repaired', '');
}

function follow(project: WorkflowProject, command: string) {
  return project.envelope([...splitCommand(command)!.slice(1), '--no-stream']);
}

describe('a workflow whose step runs were removed', () => {
  it('is resumed from the first step whose result is gone and needed, by the command that it shows', async () => {
    using project = new WorkflowProject();
    await project.flow(chain(project));
    const flow = project.flowId();
    await removeChildren(project);
    const { error, meta } = await project.envelope(['resume', flow, '--no-stream']);
    assert.equal(error.code, 'E_RUN_NOT_FOUND');
    assert.match(
      error.message,
      /^'c' failed: the result of step 'the first' cannot be read: run r-\S+ not found/,
    );
    assert.match(error.hint!, /^Resume the workflow from step 'the first', which runs again/);
    const next = [`acor workflow resume ${flow} --from 'the first'`, `acor logs ${flow}`, 'acor runs'];
    assert.deepEqual(meta.next, next);
    assert.deepEqual((await project.envelope(['show', flow])).meta.next, next);
    assert.equal((await follow(project, next[0]!)).code, 0);
    assert.deepEqual(project.done(), ['a', 'a', 'b of a', 'b of a', 'c of b of a']);
  });

  it('is resumed without --from where the results that it needs are there', async () => {
    using project = new WorkflowProject();
    await project.flow(chain(project));
    const first = await project.child('the first');
    await project.supervisorsExited();
    await project.envelope(['runs', 'rm', first]);
    project.write('repaired', '');
    assert.equal((await project.envelope(['resume', project.flowId(), '--no-stream'])).code, 0);
    assert.deepEqual(project.done(), ['a', 'b of a', 'c of b of a']);
  });

  it('leads first to the workflow within it that has lost the result', async () => {
    using project = new WorkflowProject();
    project.workflow(chain(project), 'inner.json');
    await project.flow({ steps: [{ name: 'sub', workflow: './inner.json' }] });
    const flow = project.flowId();
    const inner = await project.child('sub');
    await removeChildren(project);
    const { error, meta } = await project.envelope(['resume', flow, '--no-stream']);
    assert.equal(error.code, 'E_RUN_NOT_FOUND');
    const [first, second] = meta.next!;
    assert.deepEqual(
      [first, second],
      [`acor workflow resume ${inner} --from 'the first'`, `acor workflow resume ${flow}`],
    );
    assert.equal((await follow(project, first!)).code, 0);
    assert.equal((await follow(project, second!)).code, 0);
  });

  it('is resumed from the step by the call that a client of MCP is given', async () => {
    using project = new WorkflowProject();
    await project.flow(chain(project));
    const flow = project.flowId();
    await removeChildren(project);
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(
      new StdioClientTransport({
        command: ACOR,
        args: ['mcp'],
        cwd: project.root,
        env: project.environment() as Record<string, string>,
      }),
    );
    try {
      const call = async (name: string, args: Record<string, unknown>) =>
        // biome-ignore lint/suspicious/noExplicitAny: the answer of a server
        (await client.callTool({ name, arguments: args })).structuredContent as any;
      const { error, next } = await call('acor_resume', { run: flow });
      assert.equal(error.code, 'E_RUN_NOT_FOUND');
      assert.deepEqual(next[0], { tool: 'acor_resume', arguments: { run: flow, from: 'the first' } });
      assert.equal((await call(next[0].tool, next[0].arguments)).state, 'completed');
    } finally {
      await client.close();
    }
  });
});
