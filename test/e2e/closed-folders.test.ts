import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TestProject } from '../support/project.ts';

describe('a tool that closes its own folders', () => {
  it('fails by itself in each attempt: the next one finds them open', async () => {
    using project = new TestProject();
    project.write(
      'tools/closes/tool.yaml',
      'name: closes\nversion: 1.0.0\nidempotent: true\nretry: { max_attempts: 2, backoff_s: 0.01 }\n',
    );
    project.write(
      'tools/closes/cli.py',
      `import os, sys
for name in ('ARTIFACTS_DIR', 'WORKSPACE'): os.chmod(os.environ[name], 0)
sys.exit(20)
`,
    );
    const { end } = await project.run(['closes']);
    assert.deepEqual([end.state, end.code, end.rc], ['failed', 'E_TOOL_FAILED', 20], JSON.stringify(end));
    const again = await project.envelope(['retry', String(end.run_id), '--no-stream']);
    assert.equal(again.error.code, 'E_TOOL_FAILED');
  });
});
