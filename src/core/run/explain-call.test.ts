import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { explainCall } from './explain-call.ts';
import type { Outcome } from './outcome.ts';
import type { ToolPlan } from './plan/tool-plan.ts';

const GIT = "fatal: detected dubious ownership in repository at '/srv/a b'\nTo add an exception …";

function hintOf(
  words: string,
  more: {
    name?: string;
    args?: string[];
    hosts?: string[];
    hint?: string;
    isKilled?: boolean;
    backend?: string;
    opened?: string[];
  } = {},
) {
  const {
    name = 'exec:git',
    args = [],
    hosts = [],
    hint = null,
    isKilled = false,
    backend = 'bubblewrap',
    opened = [],
  } = more;
  const manifest = { permissions: { network: { egress_allow: hosts } } };
  const sandboxed = { opensHosts: true, isolation: { backend } };
  const plan = {
    tool: { name, manifest },
    sandboxed,
    grants: [],
    staged: [],
    args,
    callerEnv: { HOME: '/home/a' },
  } as unknown as ToolPlan;
  const outcome = { code: 'E_TOOL_FAILED', hint, ...(!isKilled && { isBareExit: true }) } as Outcome;
  explainCall(plan, outcome, words, { allow_private_egress: opened, egress_hosts: {} });
  return outcome.hint;
}

describe('the hint that a call has when the tool has none', () => {
  it('is how git accepts the repository of another user', () => {
    for (const name of ['exec:git', 'log'])
      assert.match(hintOf(GIT, { name }) ?? '', /Call git with: git -c 'safe\.directory=\/srv\/a b' …/);
    assert.equal(hintOf("dubious ownership in repository at '\u001b[2J'", { name: 'log' }), null);
  });

  it('is what Landlock closes to every tool, when the program was denied something that is not named', () => {
    for (const words of [
      "ls: cannot open directory '.': Permission denied",
      "KeyError: 'getpwuid(): uid not found: 1000'",
      'whoami: cannot find name for user ID 1000',
      'A system error occurred: uv_os_get_passwd returned ENOENT',
    ]) {
      for (const name of ['exec:ls', 'log'])
        assert.match(hintOf(words, { name, backend: 'landlock' }) ?? '', /^Landlock.*health check/, words);
      assert.doesNotMatch(hintOf(words) ?? '', /Landlock/);
    }
    assert.match(hintOf('no such file', { backend: 'landlock' }) ?? '', /--read \.$/);
  });

  it('is the host of an address, when the program has no network', () => {
    const args = ['-s', 'http://example.com:81/x', 'https://other.org'];
    assert.match(hintOf('', { args }) ?? '', /--net example\.com:81$/);
    assert.match(hintOf('', { args: ['https://example.com'] }) ?? '', /--net example\.com:443$/);
    assert.doesNotMatch(hintOf('', { args, hosts: ['example.com:81'] }) ?? '', /--net/);
  });

  it('has the setting, too, that opens an address that is not public', () => {
    for (const [url, at] of [
      ['http://127.0.0.1:81/', '127.0.0.1:81'],
      ['https://[fd00::1]/', '[fd00::1]:443'],
    ] as const) {
      const both = `in /home/a/.config/acor/config.yaml, under security.allow_private_egress, write: - "${at}", because the address is not public; then pass the flag --net ${at}`;
      const hint = hintOf('', { args: [url] }) ?? '';
      assert.ok(hint.toLowerCase().endsWith(both), hint);
      assert.doesNotMatch(hintOf('', { args: [url], opened: [at] }) ?? '', /allow_private_egress/);
    }
  });

  it('is the flag for the current folder, when a program began without anything', () => {
    assert.match(hintOf('') ?? '', /--read \.$/);
    assert.equal(hintOf('', { name: 'log' }), null);
    assert.equal(hintOf('', { isKilled: true }), null);
    assert.equal(hintOf('', { hosts: ['localhost:9'] }), null);
  });

  it('is never put in place of a more specific one', () => {
    assert.equal(hintOf(GIT, { hint: 'Its own.' }), 'Its own.');
  });
});
