import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { createTool } from '../../../protocol/next-steps.ts';
import { PROTOCOL_VERSION } from '../../../protocol/v1/wire.ts';
import { ACOR_VERSION } from '../../../util/version.ts';
import { findProject } from '../../config/find.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { findProgram } from '../../registry/find-program.ts';
import { planBlock } from './marked-block.ts';
import { toolFiles } from './new-tool.ts';
import { type PlannedFile, planFile, textAt } from './planned-file.ts';
import { configAt, newToolsFolder, toolsOf } from './project-tools.ts';
import { EDITOR_SCHEMAS, planSchema, schemaReference } from './schema-files.ts';
import { ENTRIES, TEMPLATES, type TemplateName, templateFiles } from './templates.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** The version of a new configuration file. */
const CONFIG_VERSION = 1;
/** The name of the first tool. */
const FIRST_TOOL = 'hello';

export interface InitRequest {
  root: string;
  env: Env;
  template?: TemplateName;
  force: boolean;
  /** A migrated project already has tools and needs no example. */
  fromExisting: boolean;
}

/** The plan of `acor init`. */
export interface InitPlan {
  files: PlannedFile[];
  /** The first tool that is created, and its language. */
  tool: { name: string; template: TemplateName; folder: string } | null;
  /** The enclosing project, which no longer finds the tools in this folder. */
  above: string | null;
}

/** The plan, and what a person trusts of the folder's links. */
interface CheckedPlan extends InitPlan, Pick<LoadedConfig, 'trust'> {}

/**
 * Plans the files of a project. Existing content is never lost, and a correct file stays (contract §7). Writes nothing.
 */
export async function planInit(request: InitRequest): Promise<CheckedPlan> {
  const { root, env, force } = request;
  const config = await configAt(root, env);
  const words = {
    PROJECT_NAME: JSON.stringify(basename(root) || 'project'),
    ACOR_VERSION,
    CONFIG_SCHEMA: schemaReference(root, join(root, '.acor'), 'config'),
  };
  const own = Object.fromEntries(templateFiles('project', words).map((file) => [file.path, file]));
  const first = await planFirstTool(request, config);
  return {
    files: [
      planFile(join(root, '.acor', 'config.yaml'), own['config.yaml']!.text, { force }),
      planVersionFile(root),
      ...EDITOR_SCHEMAS.map((name) => planSchema(root, name, { force })),
      planFile(join(root, 'tool'), own['tool']!.text, { mode: 0o755, force }),
      planBlock(join(root, '.gitignore'), own['.gitignore']!.text),
      ...first.files,
    ],
    tool: first.tool,
    above: projectAbove(root),
    trust: config.trust,
  };
}

/** The version of ACOR that created the project, and the time (seed 001). Later versions read it. Written once. */
function planVersionFile(root: string): PlannedFile {
  const path = join(root, '.acor', 'version.json');
  if (textAt(path) !== undefined) return { path, action: 'unchanged' };
  const version = {
    created_at: new Date().toISOString(),
    created_by: ACOR_VERSION,
    schema_versions: { config: CONFIG_VERSION, protocol: PROTOCOL_VERSION },
  };
  return { path, action: 'create', text: `${JSON.stringify(version, null, 2)}\n` };
}

async function planFirstTool(
  request: InitRequest,
  config: LoadedConfig,
): Promise<Pick<InitPlan, 'files' | 'tool'>> {
  const { root, env, template, fromExisting } = request;
  const folder = join(newToolsFolder(config), FIRST_TOOL);
  const newTool = { root, name: FIRST_TOOL, folder };
  if (textAt(folder) !== undefined) {
    const found = TEMPLATES.find((each) => existsSync(join(folder, ENTRIES[each])));
    if (found === undefined || (template !== undefined && template !== found))
      return { files: template === undefined ? [] : [taken(folder, template)], tool: null };
    // A line that the author removed is not added again.
    const files = toolFiles({ ...newTool, template: found }).filter(({ action }) => action !== 'create');
    return { files, tool: null };
  }
  const tools = await toolsOf(config);
  const rival = tools.find(({ name }) => name === FIRST_TOOL);
  if (rival !== undefined && template !== undefined)
    return { files: [taken(rival.entry ?? rival.dir, template)], tool: null };
  if (template === undefined && (fromExisting || tools.length > 0)) return { files: [], tool: null };
  const chosen = template ?? (findProgram('python3', env) === undefined ? 'bash' : 'python');
  return {
    files: toolFiles({ ...newTool, template: chosen }),
    tool: { name: FIRST_TOOL, template: chosen, folder },
  };
}

function taken(path: string, template: TemplateName): PlannedFile {
  return {
    path,
    action: 'keep',
    why: `the tool '${FIRST_TOOL}' already exists`,
    by_hand: 'Create another tool.',
    next: [createTool(template, 'another')],
  };
}

function projectAbove(root: string): string | null {
  if (root === dirname(root)) return null;
  const above = findProject(dirname(root)).root;
  return existsSync(join(above, '.acor')) ? above : null;
}
