import * as z from 'zod';
import { tableOf } from '../../cli/present/views.ts';
import { sizeWords } from '../../compose/time-words.ts';
import { summariseLog } from '../../core/run/log-summary.ts';
import { acorOperation } from '../define.ts';
import { artifactShape } from '../shapes.ts';

export const runArtifacts = acorOperation({
  name: 'run.artifacts',
  summary: 'List what a run made: path, size, hash, media type.',
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
  render({ artifacts }, screen) {
    const rows = artifacts.map(({ path, size, media_type, sha256 }) => ({
      path,
      size: sizeWords(size),
      type: media_type,
      sha256: sha256.slice(0, 12),
    }));
    const none =
      'The run made no artifacts: its tool put nothing into ARTIFACTS_DIR and named none in its result.';
    return tableOf(rows, screen, ['path', 'sha256'], none);
  },
});
