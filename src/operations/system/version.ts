import * as z from 'zod';
import { ACOR_VERSION } from '../../util/version.ts';
import { acorOperation } from '../define.ts';

const found = z.object({ name: z.string(), available: z.boolean(), detail: z.string() });

const details = z.object({
  config_schema: z.int().describe('The version of the configuration file that is read.'),
  protocols: z.array(z.int()),
  schemas: z.array(z.string()).describe('The JSON Schemas for editors.'),
  runtime: z.string(),
  platform: z.string(),
  features: z.object({
    sandboxes: z.array(found).describe('The strongest first.'),
    peers: z.array(found).describe('Optional packages.'),
  }),
  project: z.object({
    root: z.string(),
    config_version: z.int(),
    created_by: z.string().nullable(),
    version_file: z.string().nullable(),
    compatible: z.boolean(),
    problems: z.array(z.string()).describe('What does not fit this ACOR.'),
  }),
});

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
      .describe('Also protocol, configuration, schemas, runtime, sandboxes and whether the project fits.'),
  }),
  output: z.object({ version: z.string(), ...details.partial().shape }),
  example: 'acor version --detailed',
  async run(input, ctx) {
    if (!input.detailed) return { kind: 'data', data: { version: ACOR_VERSION } };
    const { versionDetails } = await import('./version-details.ts');
    return {
      kind: 'data',
      data: { version: ACOR_VERSION, ...(await versionDetails({ cwd: ctx.cwd, env: ctx.env })) },
    };
  },
});

export type VersionDetails = z.output<typeof details>;
