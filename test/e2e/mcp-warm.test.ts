import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, it } from 'node:test';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { callOf } from '../support/mcp-client.ts';
import { ACOR, TestProject } from '../support/project.ts';

const noStrace =
  spawnSync('strace', ['-f', 'true']).status !== 0 && 'strace is not installed, or may not trace';
const CALLS = 5;
/** A supervisor may not be free again when the next call comes, which then starts another one, with its watchdog. */
const MAX_ROUNDS = 40;

describe('a warm call over MCP', { skip: noStrace }, () => {
  it('starts the tool and its sandbox, and no other program', async () => {
    using project = new TestProject({ tools: ['quick'] });
    const trace = project.path('trace');
    const client = new Client({ name: 'warm', version: '1' }, { capabilities: {} });
    await client.connect(
      new StdioClientTransport({
        command: 'strace',
        args: ['-f', '-qq', '-e', 'trace=execve', '-s', '200', '-o', trace, ACOR, 'mcp'],
        cwd: project.root,
        env: {
          PATH: process.env['PATH'] ?? '',
          HOME: project.root,
          XDG_DATA_HOME: join(project.root, 'data'),
        },
        stderr: 'ignore',
      }),
    );
    try {
      const own = basename(ACOR);
      const mayStart = ['bwrap', 'perl', 'bash'];
      const started = () =>
        [...readFileSync(trace, 'utf8').matchAll(/execve\("([^"]+)".* (?:= 0|<unfinished \.\.\.>)$/gm)].map(
          ([, file]) => basename(file!),
        );
      const calls = async () => {
        for (let call = 0; call < CALLS; call++)
          assert.equal((await callOf(client, 'quick')).state, 'completed');
      };
      await calls();
      // The server, and at least one supervisor.
      assert.ok(started().filter((program) => program === own).length >= 2, `${started()}`);
      for (let round = 1; ; round++) {
        const before = started().length;
        await calls();
        const programs = started().slice(before);
        assert.ok(programs.length >= CALLS, `${programs}`);
        // The watchdog of a supervisor that served its first call is one more of them.
        const shells = programs.filter((program) => program === 'bash');
        if (programs.every((program) => mayStart.includes(program)) && shells.length === CALLS) return;
        assert.ok(round < MAX_ROUNDS, `a warm call starts more than the tool: ${programs}`);
      }
    } finally {
      await client.close();
      await project.supervisorsExited();
    }
  });
});
