import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { splitCommand } from '../../src/util/shell-words.ts';
import { TestServer } from '../support/http-server.ts';
import { type Answer, callOf, connectTo, ERAS } from '../support/mcp-client.ts';
import { TestProject, until } from '../support/project.ts';

const AGENT = { AI_AGENT: 'planner' };
const ACTIONS = ['run', 'answer', 'cancel', 'approve', 'change'];
/** The owner of the HTTP server is a token too; the user at the terminal is not. */
const RESTRICTED = `${JSON.stringify({ who_may: Object.fromEntries(ACTIONS.map((each) => [each, ['user']])) })}\n`;
const OPEN = '{}\n';

const CONFIG = 'version: 1\nenvironment: { cancel_grace_s: 0.1 }\nsecurity: { isolation: off }\n';
const TOOLS: Readonly<Record<string, { manifest?: object; script: string }>> = {
  fails: {
    manifest: { idempotent: true, retry: { max_attempts: 1 } },
    script: `echo '{"type":"error","code":"E_TRANSIENT_NET","msg":"no line","retryable":true}'; exit 20`,
  },
  breaks: { script: 'exit 3' },
  waits: { manifest: { idempotent: true }, script: 'exec sleep 600' },
  needs: { manifest: { inputs: [{ name: 'title', required: true }] }, script: 'exit 0' },
  privileged: { manifest: { permissions: { level: 'privileged' } }, script: 'exit 0' },
};

/** What a caller does, over the command line, MCP and HTTP, in a project with runs of every kind. */
interface Moves {
  commands: string[][];
  calls: (readonly [tool: string, input: object])[];
  requests: (readonly [operation: string, input: object])[];
}

describe('next offers a caller only what the policy lets this caller do', () => {
  let project: TestProject;
  let moves: Moves;
  const policy = (text: string) => project.write('.acor/policy.yaml', text);

  before(async () => {
    project = new TestProject({ tools: ['asks'], config: CONFIG });
    for (const [name, { manifest, script }] of Object.entries(TOOLS)) {
      project.write(
        `tools/${name}/tool.yaml`,
        JSON.stringify({ name, version: '1.0.0', entry: 'cli.sh', ...manifest }),
      );
      project.write(`tools/${name}/cli.sh`, `#!/bin/bash\n${script}\n`, 0o755);
    }
    policy(RESTRICTED);
    // The user has started them.
    const start = async (tool: string) =>
      (await project.envelope(['run', tool, '--detach'])).data.run_id as string;
    const ended = async (tool: string) => {
      const run = await start(tool);
      await project.envelope(['wait', run, '--until', 'ending']);
      return run;
    };
    const asking = await start('asks');
    const cancelled = await start('waits');
    const live = await start('waits');
    const failed = await ended('fails');
    const broken = await ended('breaks');
    await until(() => project.record(asking)?.state === 'waiting_ai');
    await until(() => project.record(cancelled)?.state === 'running');
    await project.envelope(['cancel', cancelled]);
    const runs = [asking, cancelled, live, failed, broken, 'r-0000000000000000'];
    const started = ['fails', 'breaks', 'needs', 'privileged', 'asks', 'nothing'];
    moves = {
      commands: [
        ...runs.flatMap((run) => [
          ['show', run],
          ['wait', run, '--timeout', '0.1'],
          ['logs', run],
        ]),
        ...started.map((tool) => ['run', tool, '--no-stream']),
        ...['runs', 'list', 'health', 'validate', 'decisions'].map((word) => [word]),
        ['describe', 'privileged'],
        ['approve', 'privileged'],
        ['answer', asking, '--choice', 'never'],
        ['cancel', live],
        ['resume', failed],
      ],
      calls: [
        ...runs.flatMap((run) => [
          ['acor_show', { run }] as const,
          ['acor_wait', { run, timeout: 0.1 }] as const,
        ]),
        ...started.map((tool) => ['acor_run', { tool }] as const),
        ...['acor_runs', 'acor_explain', 'acor_health'].map((tool) => [tool, {}] as const),
        ['acor_answer', { run: asking, choice: 'never' }],
        ['acor_cancel', { run: live }],
        ['acor_resume', { run: failed }],
      ],
      requests: [
        ...runs.flatMap((run) => [
          ['run.show', { run }] as const,
          ['run.wait', { run, timeout: 0.1 }] as const,
        ]),
        ...started.map((tool) => ['run.start', { tool }] as const),
        ['run.list', {}],
        ['run.answer', { run: asking, choice: 'never' }],
        ['run.resume', { run: failed }],
      ],
    };
  });
  after(async () => {
    policy(OPEN);
    for (const run of project.runIds()) await project.envelope(['cancel', run]);
    await project.supervisorsExited();
    project[Symbol.dispose]();
  });

  /** The steps that a restricted caller is offered, and, as the control, those that it is offered without the policy and refused with it. */
  async function check<S>(
    offered: (isOpen: boolean) => Promise<S[]>,
    codeOf: (step: S) => Promise<string | undefined>,
  ): Promise<void> {
    policy(RESTRICTED);
    const steps = await offered(false);
    assert.ok(steps.length > 0, 'nothing is offered at all');
    for (const step of steps) assert.notEqual(await codeOf(step), 'E_POLICY_DENIED', JSON.stringify(step));
    policy(OPEN);
    const more = await offered(true);
    policy(RESTRICTED);
    const known = new Set(steps.map((step) => JSON.stringify(step)));
    const left = more.filter((step) => !known.has(JSON.stringify(step)));
    let refused = 0;
    for (const step of left) if ((await codeOf(step)) === 'E_POLICY_DENIED') refused++;
    assert.ok(refused > 0, `without the policy nothing else is offered: ${JSON.stringify(more)}`);
  }

  it('on the command line', async () => {
    // A move that starts or ends something would change what the others see.
    const asks = /^(?:show|wait|logs|runs|list|health|validate|decisions|describe)$/;
    await check(
      async (isOpen) => {
        const found: string[] = [];
        for (const args of moves.commands) {
          if (isOpen && !asks.test(args[0]!)) continue;
          const { meta } = await project.envelope(args, { env: AGENT });
          found.push(...(meta.next ?? []));
        }
        return [...new Set(found)];
      },
      async (command) => {
        const [program, ...args] = splitCommand(command)!;
        // Those only read, and follow a live run to its end.
        if (program !== 'acor' || /^(?:attach|logs)$/.test(args[0]!)) return undefined;
        const limit = args[0] === 'wait' ? ['--timeout', '0.1'] : [];
        const { stdout } = await project.acor([...args, ...limit], { env: AGENT });
        return /"code":"(E_POLICY_DENIED)"/.exec(stdout)?.[1];
      },
    );
  });

  for (const era of ERAS)
    it(`over MCP (${era === 'legacy' ? 'before' : 'since'} 2026-07-28)`, async () => {
      const client = await connectTo(project, { name: 'planner', era });
      try {
        await check(
          async (isOpen) => {
            const found: Answer[] = [];
            for (const [tool, input] of moves.calls) {
              if (isOpen && !/^acor_(?:show|wait|runs)$/.test(tool)) continue;
              const answer = await callOf(client, tool, input);
              found.push(...(answer.next ?? []));
              // A question that this caller may not answer is for the user.
              if (!isOpen && answer.state === 'waiting_ai')
                assert.match(answer.note, /leaves the answer to others/);
            }
            return found;
          },
          async ({ tool, arguments: input, missing }) => {
            if (tool === undefined || missing !== undefined) return undefined;
            return (await callOf(client, tool, { ...input, ...(tool === 'acor_wait' && { timeout: 0.1 }) }))
              .error?.code;
          },
        );
      } finally {
        await client.close();
      }
    });

  it('over HTTP', async () => {
    const server = await TestServer.start(project, ['--http-allow', 'writes']);
    try {
      await check(
        async (isOpen) => {
          const found: Answer[] = [];
          for (const [operation, input] of moves.requests) {
            if (isOpen && !/^run\.(?:show|wait|list)$/.test(operation)) continue;
            found.push(...((await server.call(operation, input)).json.meta.next ?? []));
          }
          return found;
        },
        async ({ method, path, body }) => {
          if (method === undefined || /run\.(?:attach|logs)$/.test(path)) return undefined;
          const input = path.endsWith('run.wait') ? { ...body, timeout: 0.1 } : body;
          return (await server.call(path.replace('/api/v1/', ''), input)).json.error?.code;
        },
      );
    } finally {
      await server.stop();
    }
  });
});
