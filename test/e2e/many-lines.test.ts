import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Event, type RunOfTool, TestProject } from '../support/project.ts';

const LINES = 40_000;
const RESULT = `echo '{"type":"result","status":"ok"}'`;

describe('a flood of lines that are not messages', () => {
  const kinds = [
    { kind: 'a JSONL tool', script: `seq ${LINES}\n${RESULT}`, type: 'runner_log', field: 'line' },
    { kind: 'standard error', script: `seq ${LINES} >&2\n${RESULT}`, type: 'diagnostic', field: 'line' },
    { kind: 'a plain program', script: `seq ${LINES}`, type: 'log', field: 'msg', adapter: 'plain' },
  ];
  for (const { kind, script, type, field, adapter = 'jsonl' } of kinds)
    it(`is stored whole and in order in few events: ${kind}`, async () => {
      using project = new TestProject();
      const run = await runScript(project, script, adapter);
      assert.equal(run.end.state, 'completed');
      const events = run.of(type);
      assert.deepEqual(linesOf(events, field), wantedLines());
      // The first 10,000 lines have an event each; `seq` writes about a thousand lines at once.
      assert.ok(events.length < 15_000, `${events.length} events`);
    });

  it('keeps its place among the messages of the tool', async () => {
    using project = new TestProject();
    const round = `seq 12000\necho '{"type":"progress","pct":1,"msg":"between"}'\n`;
    const run = await runScript(project, `${round.repeat(3)}${RESULT}`, 'jsonl');
    const between = run.events.flatMap((event, at) => (event.type === 'progress' ? [at] : []));
    assert.equal(between.length, 3);
    for (const [round, at] of between.entries()) {
      const before = run.events.slice(round === 0 ? 0 : between[round - 1]! + 1, at);
      assert.equal(
        linesOf(
          before.filter(({ type }) => type === 'runner_log'),
          'line',
        ).length,
        12_000,
      );
    }
  });
});

function runScript(project: TestProject, script: string, adapter: string): Promise<RunOfTool> {
  project.write(
    'tools/floods/tool.yaml',
    `name: floods\nversion: 1.0.0\ndescription: Floods.\nadapter: ${adapter}\n`,
  );
  project.write('tools/floods/cli.sh', `#!/bin/sh\n${script}\n`, 0o755);
  return project.run(['floods']);
}

function linesOf(events: readonly Event[], field: string): string[] {
  return events.flatMap((event) => String(event[field]).split('\n'));
}

function wantedLines(): string[] {
  return Array.from({ length: LINES }, (_, at) => String(at + 1));
}
