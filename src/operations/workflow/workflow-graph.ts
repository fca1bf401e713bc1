import * as z from 'zod';
import { acorOperation } from '../define.ts';

const state = z.enum(['queued', 'running', 'waiting', 'completed', 'failed', 'cancelled', 'skipped']);

const output = z.object({
  workflow: z.string(),
  run_id: z.string().nullable(),
  nodes: z.array(
    z.object({
      id: z.string(),
      step: z.string(),
      kind: z.enum(['tool', 'decision', 'parallel', 'workflow', 'pipe']),
      does: z.string().describe('The tool, or what the step does, in a few words.'),
      when: z.string().nullable(),
      foreach: z.boolean(),
      finally: z.boolean(),
      state: state.nullable().describe('With --run; null when the run has not reached the step.'),
    }),
  ),
  edges: z
    .array(z.object({ from: z.string(), to: z.string() }))
    .describe('From a step to one that needs it.'),
});

export const workflowGraph = acorOperation({
  name: 'workflow.graph',
  summary: 'Draw a workflow as Mermaid, DOT or JSON, optionally with the states of a run.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    workflow: z.string().describe('A workflow by name or path.'),
    format: z
      .enum(['mermaid', 'dot', 'text', 'json'])
      .optional()
      .describe('mermaid, dot: the document itself. text: for people. json: the envelope.'),
    run: z.string().optional().describe('A run of this workflow: colours its steps by their state.'),
  }),
  output,
  positionals: ['workflow'],
  list: 'nodes',
  example: 'acor workflow graph nightly --format mermaid',
  moreExamples: ['acor workflow graph nightly --format dot --run r-0123456789abcdef | dot -Tsvg'],
  async run(input, ctx) {
    const { config, store } = await ctx.app.project();
    const [{ drawWorkflow }, { grantRoots }] = await Promise.all([
      import('../../core/workflow/graph/draw-workflow.ts'),
      import('../../core/registry/path-grants.ts'),
    ]);
    const { cwd } = ctx;
    const { graph, documentAs } = await drawWorkflow(input.workflow, {
      config,
      cwd,
      roots: grantRoots(config, cwd),
      ...(input.run !== undefined && { run: { id: input.run, store } }),
    });
    const data = {
      workflow: graph.name,
      run_id: input.run ?? null,
      nodes: graph.nodes.map(({ isForeach, isFinally, ...node }) => ({
        ...node,
        foreach: isForeach,
        finally: isFinally,
      })),
      edges: graph.edges,
    };
    const { format } = input;
    return format === 'mermaid' || format === 'dot'
      ? { kind: 'document', data, document: documentAs(format) }
      : { kind: 'data', data };
  },
});
