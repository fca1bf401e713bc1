import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { Bench } from '../support/bench.ts';
import { interleavedMedians, timeMs } from '../support/measure.ts';
import { runProcess } from '../support/process.ts';
import { Project } from '../support/project.ts';

const ROUNDS = 40;

/** A call over MCP whose supervisor is there already, beside the bare tool and `acor run`. */
export const mcp: Bench = {
  name: 'mcp',
  summary: 'warm calls over MCP',
  async run({ program, workplace }) {
    const project = new Project(workplace.makeFolder('mcp'));
    project.write('.acor/config.yaml', 'version: 1\n');
    const entry = project.addTool('hello', 'hello.sh', 'name: hello\nversion: 1.0.0\n');
    const client = new Client(
      { name: 'bench', version: '1' },
      { capabilities: {}, versionNegotiation: { mode: { pin: '2026-07-28' } } },
    );
    await client.connect(
      new StdioClientTransport({
        command: program.acor,
        args: ['mcp'],
        cwd: project.dir,
        env: workplace.env,
        stderr: 'ignore',
      }),
    );
    const processOf = (argv: string[]) => async () => {
      const command = { argv, cwd: project.dir, env: workplace.env };
      return (await runProcess(command, join(workplace.folder, 'out'))).wallMs;
    };
    const call = () =>
      timeMs(async () => {
        const { isError, content } = await client.callTool({ name: 'hello', arguments: {} });
        if (isError) throw new Error(JSON.stringify(content));
      });
    try {
      const { warm, bare, run } = await interleavedMedians(
        {
          warm: call,
          bare: processOf(['/bin/bash', entry]),
          run: processOf([program.acor, 'run', 'hello', '--no-stream']),
        },
        { rounds: ROUNDS, warmUps: 5 },
      );
      const what = 'a warm call of a bash tool over MCP';
      return [
        { what, unit: 'ms', acor: warm, baseline: { what: 'the bare tool', value: bare }, target: null },
        { what, unit: 'ms', acor: warm, baseline: { what: 'acor run', value: run }, target: null },
      ];
    } finally {
      await client.close();
    }
  },
};
