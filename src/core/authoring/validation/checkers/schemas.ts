import type { ToolEntry } from '../../../registry/registry.ts';
import type { Checker } from '../checker.ts';
import { type Finding, findingOf, placesIn } from '../finding.ts';

const SCHEMA_KEYS = [
  ['input_schema', 'input-schema'],
  ['output_schema', 'output-schema'],
] as const;

/** Checks that the JSON Schemas in a manifest are valid. */
export const schemas: Checker = {
  name: 'schemas',
  async check({ tools }) {
    return (await Promise.all(tools.map(checkTool))).flat();
  },
};

async function checkTool({ manifest, manifestPath }: ToolEntry): Promise<Finding[]> {
  if (manifestPath === null) return [];
  const findings: Finding[] = [];
  for (const [key, rule] of SCHEMA_KEYS) {
    const schema = manifest[key];
    const why = schema === undefined ? undefined : await whyNoSchema(schema);
    if (why === undefined) continue;
    const { placeOfKey } = await placesIn(manifestPath);
    findings.push(
      findingOf({
        file: manifestPath,
        ...placeOfKey([], key),
        rule,
        message: `'${key}' is not a valid JSON Schema: ${why}`,
        fix: 'Correct the schema.',
      }),
    );
  }
  return findings;
}

async function whyNoSchema(schema: Readonly<Record<string, unknown>>): Promise<string | undefined> {
  const options = { strict: false, allErrors: true, validateFormats: false, logger: false } as const;
  const isOld = /draft-0[67]/.test(String(schema['$schema'] ?? ''));
  const ajv = isOld
    ? new (await import('ajv')).Ajv(options)
    : new (await import('ajv/dist/2020.js')).Ajv2020(options);
  try {
    ajv.compile({ ...schema });
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
