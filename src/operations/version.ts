import * as z from 'zod';
import { PROTOCOL_VERSION } from '../protocol/v1/wire.ts';
import { ACOR_VERSION } from '../util/version.ts';
import { acorOperation } from './define.ts';

/** The version of the configuration file that this ACOR reads. */
const CONFIG_VERSION = 1;

export const version = acorOperation({
  name: 'system.version',
  summary: 'Show the version of ACOR; with --detailed, of all that it depends on.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    detailed: z
      .boolean()
      .default(false)
      .describe('Also the protocol, the configuration, the runtime and the project.'),
  }),
  output: z.object({
    version: z.string(),
    config_schema: z.int().optional(),
    protocols: z.array(z.int()).optional(),
    runtime: z.string().optional(),
    platform: z.string().optional(),
    project: z
      .object({ root: z.string(), config_version: z.int(), created_by: z.string().nullable() })
      .optional(),
  }),
  example: 'acor version --detailed',
  async run(input, ctx) {
    if (!input.detailed) return { kind: 'data', data: { version: ACOR_VERSION } };
    const { config } = await ctx.app.project();
    const { bun, node } = process.versions;
    return {
      kind: 'data',
      data: {
        version: ACOR_VERSION,
        config_schema: CONFIG_VERSION,
        protocols: [PROTOCOL_VERSION],
        runtime: bun === undefined ? `node ${node}` : `bun ${bun}`,
        platform: `${process.platform}-${process.arch}`,
        project: {
          root: config.root,
          config_version: config.config.version,
          created_by: config.config.acor_version ?? null,
        },
      },
    };
  },
});
