import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { TestProject } from '../support/project.ts';

const TOOLS = {
  'cli.py': `from acor import ToolError, emit_start
emit_start("work")
raise ToolError("E_DISK_FULL", "no room for it", "Free some.", retryable=True)
`,
  'cli.ts': `import { emitStart, ToolError } from 'acor/tool';
emitStart('work');
throw new ToolError('E_DISK_FULL', 'no room for it', 'Free some.', { retryable: true });
`,
} as const;

const noPython = spawnSync('sh', ['-c', 'command -v python3']).status !== 0 && 'python3 is not here';

describe('a tool that does not catch its ToolError', () => {
  for (const [file, text] of Object.entries(TOOLS))
    it(`ends the run with its code, message, hint and whether to retry: ${file}`, {
      skip: file === 'cli.py' && noPython,
    }, async () => {
      using project = new TestProject();
      project.write(`tools/raises/${file}`, text, 0o755);
      project.write(
        'tools/raises/tool.yaml',
        'version: 1.0.0\nstrict: true\nidempotent: true\nretry: { max_attempts: 1 }\n',
      );
      const { end, of } = await project.run(['raises']);
      assert.deepEqual([end.state, end.code, end.rc], ['failed', 'E_DISK_FULL', 20]);
      assert.partialDeepStrictEqual(of('error')[0], {
        msg: 'no room for it',
        hint: 'Free some.',
        retryable: true,
      });
      const waited = await project.envelope(['wait', 'last']);
      assert.partialDeepStrictEqual(waited.error, {
        code: 'E_DISK_FULL',
        message: 'no room for it',
        hint: 'Free some.',
        retryable: true,
      });
      assert.match(waited.error.details.stderr.join(), /no room for it/);
    });
});
