import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { agentOf, detectAudience } from './audience.ts';

describe('audience', () => {
  const env = {};
  it('is an agent without a terminal, with --json, or with an agent’s variable', () => {
    assert.equal(detectAudience({ stdoutIsTTY: true, asksForEnvelope: false, env }), 'person');
    assert.equal(detectAudience({ stdoutIsTTY: false, asksForEnvelope: false, env }), 'agent');
    assert.equal(detectAudience({ stdoutIsTTY: true, asksForEnvelope: true, env }), 'agent');
    const names = [
      'AI_AGENT',
      'AGENT',
      'CLAUDECODE',
      'CLAUDE_CODE_SESSION_ID',
      'CODEX_THREAD_ID',
      'CODEX_SESSION_ID',
    ];
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

  it('knows whose environment it is', () => {
    assert.equal(agentOf({ AI_AGENT: 'claude-code_2_agent', CLAUDECODE: '1' }), 'claude-code_2_agent');
    assert.equal(agentOf({ AI_AGENT: '', CODEX_CI: '1', AGENT: 'x' }), 'codex');
    assert.equal(agentOf({ AGENT: 'amp' }), 'amp');
    assert.equal(agentOf({ CLAUDECODE: '0' }), undefined);
  });
});
