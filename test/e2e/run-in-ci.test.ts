import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { TestServer } from '../support/http-server.ts';
import { TestProject } from '../support/project.ts';

const FAILS = `#!/bin/bash
echo '${JSON.stringify({ v: 1, type: 'error', code: 'E_HOSTILE', msg: '50% | <b>\n::error::second\nstate=completed' })}'
exit 1
`;

describe('a run in a CI job', () => {
  function jobProject(): { project: TestProject; env: Record<string, string> } {
    const project = new TestProject({ tools: ['quick'] });
    project.write('tools/fails/cli.sh', FAILS, 0o755);
    project.write('.acor/workflows/one.yaml', 'steps: [{ name: only, tool: quick }]\n');
    const env = { GITHUB_OUTPUT: project.path('output'), GITHUB_STEP_SUMMARY: project.path('summary') };
    return { project, env };
  }
  const summaryOf = (project: TestProject) => readFileSync(project.path('summary'), 'utf8');

  for (const words of [
    ['run', '--ci', 'quick'],
    ['run', 'quick', '--ci'],
    ['exec', '--ci', '--', 'true'],
    ['workflow', 'run', 'one', '--ci'],
    ['run', '--ci', '--stream', 'quick'],
  ]) {
    it(`is in the outputs and the summary of the step: ${words.join(' ')}`, async () => {
      const { project, env } = jobProject();
      using _ = project;
      const { code, stderr } = await project.acor(words, { env });
      assert.equal(code, 0, stderr);
      const [runId] = project.runIds();
      const output = readFileSync(project.path('output'), 'utf8');
      assert.equal(output, `run-id=${runId}\nstate=completed\ndir=${project.path('.runs', runId!)}\n`);
      assert.match(summaryOf(project), /^\| state \| completed \|$/m);
      assert.doesNotMatch(stderr, /::error/);
    });
  }

  it('annotates its failure, and gives text of a tool no meaning', async () => {
    const { project, env } = jobProject();
    using _ = project;
    const { code, stderr } = await project.acor(['run', '--ci', '--no-stream', 'fails'], { env });
    assert.equal(code, 1);
    const [annotation, ...more] = stderr.split('\n').filter((line) => line.startsWith('::'));
    assert.match(annotation!, /^::error title=E_HOSTILE::50%25.*%0A::error::second%0Astate=completed/);
    assert.deepEqual(more, []);
    assert.deepEqual(readFileSync(project.path('output'), 'utf8').match(/^state=.*$/gm), ['state=failed']);
    assert.match(summaryOf(project), /^\| message \| 50% &#124; &#60;b&#62; ::error/m);
    const [runId] = project.runIds();
    const again = await project.acor(['retry', runId!, '--ci', '--no-stream'], { env });
    assert.match(again.stderr, /^::error title=E_HOSTILE::/m);
    assert.equal(summaryOf(project).match(/### ACOR/g)?.length, 2);
  });

  it('shows what kept a run from starting', async () => {
    const { project, env } = jobProject();
    using _ = project;
    const { code, stderr } = await project.acor(['run', '--ci', 'nothing'], { env });
    assert.equal(code, 1);
    assert.match(stderr, /^::error title=E_TOOL_NOT_FOUND::/m);
    assert.match(summaryOf(project), /E_TOOL_NOT_FOUND/);
  });

  it('writes nothing without the flag, nor for a client of a server that runs in a job', async () => {
    const { project, env } = jobProject();
    using _ = project;
    await project.acor(['run', 'quick'], { env });
    assert.equal(existsSync(project.path('summary')), false);
    Object.assign(process.env, env);
    const server = await TestServer.start(project, ['--http-allow', 'run']);
    for (const name of Object.keys(env)) delete process.env[name];
    const { json } = await server.call('run.start', { tool: 'quick', ci: true });
    assert.equal(json.data.state, 'completed');
    await server.stop();
    await project.supervisorsExited();
    assert.equal(existsSync(project.path('summary')), false);
  });
});
