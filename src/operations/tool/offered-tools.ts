import type { ToolEntry } from '../../core/registry/registry.ts';
import { isUsableSchema, problemBySchema } from '../../core/registry/schema-check.ts';
import { effectsOf, type ToolEffects } from '../../core/registry/tool-effects.ts';
import { inputSchemaOf, type ObjectSchema, wordsFor } from '../../core/registry/tool-schema.ts';
import type { AcorApp } from '../acor-app.ts';

type Schema = Readonly<Record<string, unknown>>;

/** A tool of the project as a surface offers it to callers that give objects, not words. Texts and schemas are its author's. */
export interface OfferedTool {
  name: string;
  description: string;
  inputSchema: ObjectSchema;
  /** JSON Schema of the result's data. */
  outputSchema: Schema | undefined;
  effects: ToolEffects;
  /** Seconds until the deadline of a run; undefined when the manifest does not say. */
  timeoutS: number | undefined;
}

/** A schema longer than this is left out: it would crowd out everything else that a model is told. */
const MAX_SCHEMA_CHARS = 16_384;

/** The tools of the project that can be used, by name. */
export async function offeredTools(app: AcorApp): Promise<OfferedTool[]> {
  const { registry, config } = await app.project();
  const isConfined = config.config.security.isolation !== 'off';
  const tools = (await registry.list()).filter(({ problems }) => problems.length === 0);
  const offered = await Promise.all(tools.map((tool) => offer(tool, isConfined)));
  return offered.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** What changes when a tool does: cheap, for those who look often. */
export async function toolsStamp(app: AcorApp): Promise<string> {
  return JSON.stringify(await (await app.project()).registry.list());
}

/** The command line of a tool for inputs that are given as an object. Throws E_TOOL_NOT_FOUND or E_MANIFEST_INVALID. */
export async function wordsForTool(app: AcorApp, name: string, given: Schema): Promise<string[]> {
  return wordsFor((await (await app.project()).registry.find(name)).manifest, given);
}

/** Why the data of a result is not what the tool's manifest promises; undefined when it is, or nothing is promised. */
export async function problemOfData(app: AcorApp, name: string, data: unknown): Promise<string | undefined> {
  const tools = await (await app.project()).registry.list();
  const schema = tools.find((tool) => tool.name === name)?.manifest.output_schema;
  return schema !== undefined && (await isGood(schema)) ? problemBySchema(schema, data) : undefined;
}

async function offer({ name, manifest }: ToolEntry, isConfined: boolean): Promise<OfferedTool> {
  const { input_schema: input, output_schema: output } = manifest;
  return {
    name,
    description: manifest.description ?? '',
    inputSchema: input === undefined || (await isGood(input)) ? inputSchemaOf(manifest) : { type: 'object' },
    outputSchema: output !== undefined && (await isGood(output)) ? output : undefined,
    effects: effectsOf(manifest, { isConfined }),
    timeoutS: manifest.timeout_s,
  };
}

async function isGood(schema: Schema): Promise<boolean> {
  return JSON.stringify(schema).length <= MAX_SCHEMA_CHARS && (await isUsableSchema(schema));
}
