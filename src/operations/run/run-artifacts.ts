import * as z from 'zod';
import { summariseLog } from '../../core/run/read-log.ts';
import { acorOperation } from '../define.ts';
import { artifactShape } from '../shapes.ts';

export const runArtifacts = acorOperation({
  name: 'run.artifacts',
  summary: 'List the artifacts of a run: path, size, hash, media type.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object({ run: z.string().describe('The id of the run.') }),
  output: z.object({ run_id: z.string(), artifacts: z.array(artifactShape) }),
  positionals: ['run'],
  list: 'artifacts',
  example: 'acor artifacts r-0123456789abcdef',
  async run(input, ctx) {
    const { store } = await ctx.app.project();
    await store.read(input.run);
    const { end } = await summariseLog(store, input.run);
    const artifacts = (end?.artifacts as z.output<typeof artifactShape>[] | undefined) ?? [];
    return { kind: 'data', data: { run_id: input.run, artifacts } };
  },
});
