import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { callLimitMs } from './call-limit.ts';

describe('the limit of a call', () => {
  const limitS = (name: string | undefined, callLimitS?: number) =>
    callLimitMs({ callLimitS, client: { name } }) / 1000;

  it('is below the usual timeout of 60 s, but for clients that are known to wait longer', () => {
    const names = [undefined, 'codex-mcp-client', 'sdk-client', 'claude-code', 'gemini-cli-mcp-client'];
    assert.deepEqual(
      names.map((name) => limitS(name)),
      [50, 50, 50, 300, 300],
    );
  });

  it('is as declared for every client', () => {
    assert.deepEqual([limitS('claude-code', 570), limitS(undefined, 570)], [570, 570]);
  });
});
