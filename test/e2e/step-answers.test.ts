import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TestProject } from '../support/project.ts';

describe('the answer of a workflow or a pipe', () => {
  let project: TestProject;
  before(() => {
    project = new TestProject();
    const tool = (name: string, script: string) => {
      project.write(`tools/${name}/tool.yaml`, `name: ${name}\nversion: 1.0.0\nstdin: records\n`);
      project.write(`tools/${name}/cli.sh`, `#!/bin/bash\n${script}\n`, 0o755);
    };
    tool('makes', 'echo made > "$ARTIFACTS_DIR/made.txt"; echo done');
    tool('passes', 'cat > /dev/null');
    tool('fails', 'cat > /dev/null; echo "no such table" >&2; exit 4');
    const steps = (...tools: string[]) =>
      JSON.stringify({ steps: tools.map((name) => ({ name, tool: name })) });
    project.write('good.json', steps('makes'));
    project.write('bad.json', steps('makes', 'fails'));
  });
  after(() => project[Symbol.dispose]());

  it('lists the artifacts of the steps, with the runs that made them', async () => {
    for (const call of [
      ['workflow', 'run', 'good.json'],
      ['pipe', 'makes', 'passes'],
    ]) {
      const { data } = await project.envelope([...call, '--no-stream']);
      const [artifact, ...others] = data.artifacts;
      assert.deepEqual(others, []);
      assert.match(artifact.path, new RegExp(`/${artifact.run_id}/artifacts/made\\.txt$`));
      assert.notEqual(artifact.run_id, data.run_id);
      for (const again of ['wait', 'show'])
        assert.deepEqual((await project.envelope([again, data.run_id])).data.artifacts, data.artifacts);
    }
  });

  it('has the stderr of the step that failed, and leads to the logs of its run', async () => {
    for (const call of [
      ['workflow', 'run', 'bad.json'],
      ['pipe', 'makes', 'fails'],
    ]) {
      const { error, meta } = await project.envelope([...call, '--no-stream']);
      const { failed_run, stderr, artifacts, run_id } = error.details;
      assert.deepEqual([stderr, artifacts.length], [['no such table'], 1], call.join(' '));
      const { data } = await project.envelope(['show', failed_run]);
      assert.deepEqual([data.tool, data.parent.run_id, data.rc], ['fails', run_id, 4]);
      assert.deepEqual(
        meta.next!.filter((step: string) => step.startsWith('acor logs')),
        [`acor logs ${failed_run}`],
      );
      const waited = await project.envelope(['wait', run_id]);
      assert.deepEqual([waited.error.details.failed_run, waited.error.details.stderr], [failed_run, stderr]);
    }
  });
});
