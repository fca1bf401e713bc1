import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { detectAudience } from './audience.ts';

describe('audience', () => {
  const env = {};
  it('is an agent without a terminal, with --json, or with an agent’s variable', () => {
    assert.equal(detectAudience({ stdoutIsTTY: true, asksForEnvelope: false, env }), 'person');
    assert.equal(detectAudience({ stdoutIsTTY: false, asksForEnvelope: false, env }), 'agent');
    assert.equal(detectAudience({ stdoutIsTTY: true, asksForEnvelope: true, env }), 'agent');
    const names = ['AI_AGENT', 'AGENT', 'CLAUDECODE', 'CLAUDE_CODE_SESSION_ID', 'CODEX_THREAD_ID'];
    for (const name of [...names, 'CODEX_CI', 'CODEX_SANDBOX', 'GEMINI_CLI', 'CURSOR_AGENT', 'OPENCODE']) {
      assert.equal(
        detectAudience({ stdoutIsTTY: true, asksForEnvelope: false, env: { [name]: '1' } }),
        'agent',
        name,
      );
    }
  });

  it('is a person where such a variable is empty, 0 or false, and in CI alone', () => {
    for (const set of [{ AGENT: '' }, { AGENT: '0' }, { CLAUDECODE: 'false' }, { CI: 'true' }]) {
      assert.equal(detectAudience({ stdoutIsTTY: true, asksForEnvelope: false, env: set }), 'person');
    }
  });
});
