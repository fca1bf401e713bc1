import * as z from 'zod';

const found = () => z.object({ name: z.string(), available: z.boolean(), detail: z.string() });

/** The answer of `acor version --detailed`. It is made when it is needed: making a schema takes time at each start. */
export const versionDetails = () =>
  z.object({
    config_schema: z.int().describe('The version of the configuration file that this ACOR reads.'),
    protocols: z.array(z.int()),
    schemas: z.array(z.string()).describe('The JSON Schemas for editors.'),
    installed: z.object({
      how: z.enum(['checkout', 'npm', 'npm-global', 'program']).describe('How ACOR was installed.'),
      folder: z
        .string()
        .describe('The checkout, the project or the prefix of npm, or the folder of the program.'),
      update_with: z.string().describe('The command that updates ACOR.'),
    }),
    runtime: z.string(),
    platform: z.string(),
    features: z.object({
      sandboxes: z.array(found()).describe('The strongest first.'),
      peers: z.array(found()).describe('Optional packages.'),
    }),
    project: z.object({
      root: z.string(),
      config_version: z.int(),
      created_by: z.string().nullable(),
      version_file: z.string().nullable(),
      compatible: z.boolean(),
      problems: z.array(z.string()).describe('Why the project is incompatible with this ACOR.'),
    }),
  });

export type VersionDetails = z.output<ReturnType<typeof versionDetails>>;
