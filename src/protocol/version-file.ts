import * as z from 'zod';
import { SEMVER } from './semver.ts';

const version = z.string().regex(SEMVER, 'must be a version such as 1.2.3');

/** The schema of `.acor/version.json` (seed 001): the ACOR that created the project, and the format versions. */
export const versionFile = z.strictObject({
  created_at: z.string().describe('The time, in ISO 8601.'),
  created_by: version.describe('The ACOR that created the project.'),
  schema_versions: z
    .strictObject({
      config: z.int().nonnegative().describe('The version of .acor/config.yaml.'),
      protocol: z.int().positive().describe('The wire protocol of the tools.'),
    })
    .describe('The format versions of the project.'),
});

export type VersionFile = z.output<typeof versionFile>;
