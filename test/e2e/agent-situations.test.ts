import { describe, it } from 'node:test';
import type { Client } from '@modelcontextprotocol/client';
import {
  CALL_LIMIT_S,
  SITUATIONS,
  type SituationAgent,
  type Step,
  writeSituationTools,
} from '../agents/situations.ts';
import { connectTo, ERAS } from '../support/mcp-client.ts';
import { TestProject } from '../support/project.ts';

const FLAGS = ['--call-limit', String(CALL_LIMIT_S)];

/** The smallest agent: the official client, in a loop. `npm run test:agents` drives the real ones. */
function agentOf(project: TestProject, era: (typeof ERAS)[number]): SituationAgent {
  const loop = async (client: Client, next: (results: string[]) => Step) => {
    const results: string[] = [];
    for (;;) {
      const step = next(results);
      if ('say' in step) return results;
      const { content } = await client.callTool({ name: step.tool, arguments: { ...step.args } });
      results.push((content as { text?: string }[]).map(({ text }) => text).join('\n'));
    }
  };
  return {
    project,
    async converse(next) {
      const client = await connectTo(project, { era, flags: FLAGS });
      const text = client.getInstructions() ?? '';
      const results = await loop(client, next);
      await client.close();
      return { results, text };
    },
    async killedDuring(next, isTime) {
      const client = await connectTo(project, { era, flags: FLAGS });
      const lost = loop(client, next).catch(() => {});
      await isTime();
      await client.close();
      await lost;
    },
  };
}

for (const era of ERAS)
  describe(`an agent of the official client (${era === 'legacy' ? 'before' : 'since'} 2026-07-28)`, () => {
    for (const [situation, live] of Object.entries(SITUATIONS))
      it(situation, async () => {
        using project = new TestProject({ tools: ['asks_any'] });
        writeSituationTools(project);
        await live(agentOf(project, era));
      });
  });
