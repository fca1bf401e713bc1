import { AcorError } from '../../protocol/acor-error.ts';
import type { ToolEntry } from './tool-entry.ts';

/**
 * Validates the structured values of a tool with an `input_schema` against their parts of the schema. Flags, texts and
 * numbers are validated when they are read. Throws E_SCHEMA_MISMATCH with every problem.
 */
export async function checkJsonInputs(
  tool: ToolEntry,
  values: Readonly<Record<string, unknown>>,
): Promise<void> {
  const schema = tool.manifest.input_schema;
  const properties = (schema?.['properties'] ?? {}) as Record<string, object>;
  const structured = Object.entries(values).filter(
    ([name, value]) => typeof value === 'object' && properties[name],
  );
  if (schema === undefined || structured.length === 0) return;
  const { newAjv } = await import('./schema-check.ts');
  const ajv = await newAjv(schema);
  const { $defs, definitions } = schema;
  const problems = structured.flatMap(([name, value]) => {
    const validate = compiled(
      () => ajv.compile({ $defs: $defs ?? {}, definitions: definitions ?? {}, ...properties[name] }),
      tool,
      name,
    );
    if (validate(value)) return [];
    return (validate.errors ?? []).map(({ instancePath, message, keyword }) => ({
      input: name,
      rule: keyword,
      message: `'${name}${instancePath.replaceAll('/', '.')}' ${message}`,
      fix: `It must match input_schema.properties.${name} of the tool.`,
    }));
  });
  const [first, ...others] = problems;
  if (first === undefined) return;
  const more = others.length > 0 ? ` (and ${others.length} more)` : '';
  throw new AcorError('E_SCHEMA_MISMATCH', `${tool.name}: ${first.message}${more}`, {
    hint: first.fix,
    details: { problems },
  });
}

function compiled<T>(compile: () => T, tool: ToolEntry, name: string): T {
  try {
    return compile();
  } catch (error) {
    throw new AcorError(
      'E_MANIFEST_INVALID',
      `input_schema.properties.${name} of tool '${tool.name}' is not a valid JSON Schema: ${(error as Error).message}`,
      {
        hint: 'Fix the schema in the manifest.',
        cause: error,
      },
    );
  }
}
