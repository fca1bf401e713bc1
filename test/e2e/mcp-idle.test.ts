import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { callOf } from '../support/mcp-client.ts';
import { ACOR, TestProject, until } from '../support/project.ts';

const noStrace =
  spawnSync('strace', ['-f', 'true']).status !== 0 && 'strace is not installed, or may not trace';
const TOOLS = 200;
/** Longer than the interval at which a server would look that cannot watch the folders. */
const QUIET_S = 6;

/** The lines of a growing file, each once. */
class LinesOf {
  readonly #file: number;
  #partial = '';

  constructor(path: string) {
    this.#file = openSync(path, 'r');
  }

  more(): string[] {
    const lines = (this.#partial + readFileSync(this.#file, 'utf8')).split('\n');
    this.#partial = lines.pop()!;
    return lines;
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }
}

describe('an idle server', { skip: noStrace }, () => {
  it('looks at no file of its project of two hundred tools while another program writes beside them', async () => {
    using project = new TestProject({ tools: ['quick'] });
    for (let number = 0; number < TOOLS; number++)
      project.write(`tools/t${number}/tool.yaml`, `name: t${number}\nversion: 1.0.0\nentry: cli.sh\n`);
    // Each line of the trace is also a change in the project's folder, by another program.
    const trace = project.path('trace');
    const client = new Client({ name: 'idle', version: '1' }, { capabilities: {} });
    await client.connect(
      new StdioClientTransport({
        command: 'strace',
        args: [...['-f', '-qq', '-ttt', '-e', 'trace=%file,epoll_pwait2', '-o', trace], ...[ACOR, 'mcp']],
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
      assert.equal((await callOf(client, 'acor_run', { tool: 'quick' })).state, 'completed');
      // The event loop wakes for the runtime's own memory collector, so the trace goes on while the server is idle.
      using file = new LinesOf(trace);
      let [last, lastLook] = [0, 0];
      await until(() => {
        for (const line of file.more()) {
          last = Number(line.split(/ +/)[1]);
          if (line.includes(project.root)) lastLook = last;
        }
        return lastLook > 0 && last - lastLook > QUIET_S;
      });
    } finally {
      await client.close();
      await project.supervisorsExited();
    }
  });
});
