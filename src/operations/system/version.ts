import * as z from 'zod';
import { acorOperation } from '../define.ts';
import { showVersion } from './show-version.ts';
import { versionDetails as detailsShape } from './version-shape.ts';

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
      .describe(
        'Also protocol, configuration, schemas, runtime, sandboxes, and whether the project is compatible.',
      ),
  }),
  output: z.lazy(() => z.object({ version: z.string(), ...detailsShape().partial().shape })),
  example: 'acor version --detailed',
  run: showVersion,
});
