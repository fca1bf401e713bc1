import type { ToolEntry } from '../../core/registry/registry.ts';
import { isUsableSchema, problemBySchema } from '../../core/registry/schema-check.ts';
import {
  effectsOf,
  inputSchemaOf,
  type ObjectSchema,
  type ToolEffects,
  wordsFor,
} from '../../core/registry/tool-schema.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import type { AcorApp, Project } from '../acor-app.ts';

type Schema = Readonly<Record<string, unknown>>;

export { jsonWords } from '../../core/registry/json-words.ts';

/** A tool of the project, for callers that pass inputs as an object. Its texts and schemas are untrusted: the author of the tool wrote them. */
export interface OfferedTool {
  name: string;
  description: string;
  inputSchema: ObjectSchema;
  /** JSON Schema of the result's data. */
  outputSchema: Schema | undefined;
  effects: ToolEffects;
  /** It is privileged, and no person has ever approved it: every call is refused. */
  needsApproval: boolean;
  /** Seconds until the deadline of a run; undefined when the manifest does not say. */
  timeoutS: number | undefined;
  /** Whether its manifest asks for a layer or a snapshot. */
  keepsWrites: boolean;
}

/** A longer schema is left out, because it would fill the context of the model. */
const MAX_SCHEMA_CHARS = 16_384;

/** The valid tools of the project, by name. Throws E_PERMISSION when the caller may not call `tool.list`. */
export async function offeredTools(app: AcorApp): Promise<OfferedTool[]> {
  await app.authorize({ name: 'tool.list', effect: 'reads' }, {});
  const project = await app.project();
  const { registry, config } = project;
  const isConfined = config.config.security.isolation !== 'off';
  const tools = (await registry.list()).filter(({ problems }) => problems.length === 0);
  const offered = await Promise.all(
    tools.map(async (tool) => ({
      ...(await offer(tool, isConfined)),
      needsApproval: await lacksApproval(project, app, tool).catch(() => true),
    })),
  );
  return offered.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** A tool by name; undefined when it does not exist. Throws E_MANIFEST_INVALID. */
export async function offeredTool(app: AcorApp, name: string): Promise<ToolEntry | undefined> {
  try {
    return await describedTool(app, name);
  } catch (error) {
    const code = error instanceof AcorError ? error.code : undefined;
    if (code === 'E_TOOL_NOT_FOUND') return undefined;
    throw error;
  }
}

/** The command line of a tool for inputs in an object. Throws E_TOOL_NOT_FOUND or E_MANIFEST_INVALID. */
export async function wordsForTool(app: AcorApp, name: string, given: Schema): Promise<string[]> {
  return wordsFor((await describedTool(app, name)).manifest, given);
}

/** Why the data of a result does not match the `output_schema` of the manifest; undefined when it matches, or there is no schema. */
export async function problemOfData(app: AcorApp, name: string, data: unknown): Promise<string | undefined> {
  // The tool may have been broken since its run.
  const tool = await offeredTool(app, name).catch(() => undefined);
  const schema = tool?.manifest.output_schema;
  return schema !== undefined && (await isGood(schema)) ? problemBySchema(schema, data) : undefined;
}

/** A tool by name. Throws E_PERMISSION when the caller may not call `tool.describe`. */
async function describedTool(app: AcorApp, tool: string): Promise<ToolEntry> {
  await app.authorize({ name: 'tool.describe', effect: 'reads' }, { tool });
  return app.tool(tool);
}

/** Whether a tool is privileged, and no person has ever approved it. */
export async function lacksApproval(
  { config, store }: Pick<Project, 'config' | 'store'>,
  { env, cwd }: Pick<AcorApp, 'env' | 'cwd'>,
  tool: ToolEntry,
): Promise<boolean> {
  if (tool.manifest.permissions.level !== 'privileged') return false;
  const [{ RunGuard }, { isNamedByApproval }] = await Promise.all([
    import('../../core/guard/run-guard.ts'),
    import('../../core/guard/approval-state.ts'),
  ]);
  const { layers } = await RunGuard.open(tool, { config, runsDir: store.root, cwd, env });
  return !isNamedByApproval(tool.name, { root: config.root, env, layers });
}

async function offer(
  { name, manifest }: ToolEntry,
  isConfined: boolean,
): Promise<Omit<OfferedTool, 'needsApproval'>> {
  const { input_schema: input, output_schema: output } = manifest;
  return {
    name,
    description: manifest.description ?? '',
    inputSchema: input === undefined || (await isGood(input)) ? inputSchemaOf(manifest) : { type: 'object' },
    outputSchema: output !== undefined && (await isGood(output)) ? output : undefined,
    effects: effectsOf(manifest, { isConfined }),
    timeoutS: manifest.timeout_s,
    keepsWrites: manifest.permissions.filesystem.modes !== undefined,
  };
}

async function isGood(schema: Schema): Promise<boolean> {
  return JSON.stringify(schema).length <= MAX_SCHEMA_CHARS && (await isUsableSchema(schema));
}
