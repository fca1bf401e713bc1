import { existsSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { configDefaults } from '../../../protocol/config-defaults.ts';
import { LIST_TOOLS, VALIDATE } from '../../../protocol/next-steps.ts';
import { nearestWords } from '../../../util/nearest.ts';
import { isInside } from '../../../util/real-path.ts';
import { findProject, findUserFile, isNamed } from '../../config/find.ts';
import { type LoadedConfig, loadConfig } from '../../config/load.ts';
import { policyPaths } from '../../guard/policy-paths.ts';
import type { PolicySource } from '../../policy/policy-layer.ts';
import { promptFiles } from '../../published/prompts.ts';
import { scriptTool } from '../../registry/ad-hoc.ts';
import { errorCodeFiles } from '../../registry/error-codes.ts';
import type { Language } from '../../registry/languages/language.ts';
import { readTool } from '../../registry/read-tool.ts';
import { Registry, type RegistryPlugins, type ToolEntry } from '../../registry/registry.ts';
import { WatchedFiles } from '../../registry/watched-files.ts';
import { workflowFiles } from '../../workflow/file/find-workflow.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** What is validated: files by their kind, and tools. */
export interface Subject {
  /** The defaults when the configuration files are invalid. */
  config: LoadedConfig;
  env: Env;
  cwd: string;
  /** Whether the whole project is validated. */
  whole: boolean;
  configFiles: string[];
  versionFiles: string[];
  errorCodeFiles: string[];
  policyFiles: { source: PolicySource; file: string }[];
  promptFiles: string[];
  workflowFiles: string[];
  tools: ToolEntry[];
  languages: readonly Language[];
}

type PluginsOf = (config: LoadedConfig, env: Env) => Promise<RegistryPlugins | undefined>;

/** Finds the tools and paths that `targets` name. Without targets, the whole project. */
export async function openSubject(
  targets: readonly string[],
  { cwd, env, pluginsOf }: { cwd: string; env: Env; pluginsOf?: PluginsOf },
): Promise<Subject> {
  const config = await configOrDefaults(cwd, env);
  const registry = Registry.open(config, await pluginsOf?.(config, env));
  const whole: Subject = {
    config,
    env,
    cwd,
    whole: true,
    configFiles: [findUserFile(env), config.file].filter((file) => file !== null),
    versionFiles: [join(config.root, '.acor', 'version.json')].filter(isNamed),
    errorCodeFiles: errorCodeFiles(config).filter(isNamed),
    policyFiles: policyPaths(config.root, env),
    languages: await registry.languages(),
    promptFiles: promptFiles(config),
    workflowFiles: workflowFiles(config),
    tools: await registry.list(),
  };
  if (targets.length === 0) return whole;
  const parts = await Promise.all(targets.map((target) => partNamed(target, whole)));
  const all = <T>(of: (part: Subject) => T[]): T[] => [...new Set(parts.flatMap(of))];
  return {
    ...whole,
    whole: false,
    configFiles: all((part) => part.configFiles),
    versionFiles: all((part) => part.versionFiles),
    errorCodeFiles: all((part) => part.errorCodeFiles),
    policyFiles: all((part) => part.policyFiles),
    promptFiles: all((part) => part.promptFiles),
    workflowFiles: all((part) => part.workflowFiles),
    tools: all((part) => part.tools),
  };
}

/** The configuration check reports its problems; the tools are checked anyway. */
async function configOrDefaults(cwd: string, env: Env): Promise<LoadedConfig> {
  try {
    return await loadConfig({ cwd, env });
  } catch (error) {
    // A link leads out of the project, and no person has trusted it: what is there is not part of the project.
    if (!(error instanceof AcorError) || error.code === 'E_APPROVAL_REQUIRED') throw error;
    const { root, file } = findProject(cwd);
    const config = {
      ...configDefaults(),
      project: { ...configDefaults().project, name: basename(root) },
    };
    return { config, root, file, origins: {}, warnings: [], trust: { isTrusted: true, widenings: [] } };
  }
}

async function partNamed(target: string, whole: Subject): Promise<Subject> {
  const named = whole.tools.filter(({ name }) => name === target);
  if (named.length > 0) return { ...nothingOf(whole), tools: named };
  const path = resolve(whole.cwd, target);
  if (!existsSync(path)) throw notThere(target, whole);
  const real = realpathSync(path);
  const isIn = (file: string | null) => file !== null && (isInside(file, path) || isInside(file, real));
  const part: Subject = {
    ...nothingOf(whole),
    configFiles: whole.configFiles.filter(isIn),
    versionFiles: whole.versionFiles.filter(isIn),
    errorCodeFiles: whole.errorCodeFiles.filter(isIn),
    policyFiles: whole.policyFiles.filter(({ file }) => isIn(file)),
    promptFiles: whole.promptFiles.filter(isIn),
    workflowFiles: whole.workflowFiles.filter(isIn),
    tools: whole.tools.filter(({ manifestPath, entry, problems }) =>
      [manifestPath, entry, ...problems.map(({ file }) => file)].some(isIn),
    ),
  };
  return isEmpty(part) ? alone(path, part) : part;
}

/** A file or folder outside of the project is classified by its name. */
async function alone(path: string, part: Subject): Promise<Subject> {
  const isFolder = statSync(path).isDirectory();
  const name = isFolder ? 'tool.yaml' : basename(path);
  const folder = isFolder ? path : dirname(path);
  switch (existsSync(join(folder, name)) ? name : '') {
    case 'tool.yaml': {
      const tool = await readTool(
        {
          path: folder,
          name: basename(folder),
          kind: 'folder',
          root: dirname(folder),
          registryFolders: [],
          languages: part.languages,
        },
        new WatchedFiles(),
      );
      return { ...part, tools: tool === null ? [] : [tool] };
    }
    case 'config.yaml':
      return { ...part, configFiles: [path] };
    case 'version.json':
      return { ...part, versionFiles: [path] };
    case 'error_codes.yaml':
      return { ...part, errorCodeFiles: [path] };
    case 'policy.yaml':
      return { ...part, policyFiles: [{ source: 'project', file: path }] };
    default: {
      const script = isFolder ? null : await scriptTool(path, part.languages);
      if (script !== null) return { ...part, tools: [script] };
      throw new AcorError('E_INPUT_NOT_FOUND', `there is nothing to validate in ${path}`, {
        hint:
          'Pass a tool, a script, a folder with a tool.yaml, or a config.yaml, policy.yaml, error_codes.yaml or version.json; ' +
          'other workflow files have a separate command.',
        next: [
          LIST_TOOLS,
          VALIDATE,
          { operation: 'workflow.validate', input: { workflows: [path] }, why: 'Check it as a workflow.' },
        ],
      });
    }
  }
}

function nothingOf(whole: Subject): Subject {
  return {
    ...whole,
    whole: false,
    configFiles: [],
    versionFiles: [],
    errorCodeFiles: [],
    policyFiles: [],
    promptFiles: [],
    workflowFiles: [],
    tools: [],
  };
}

function isEmpty(part: Subject): boolean {
  const { configFiles, versionFiles, errorCodeFiles, policyFiles, tools } = part;
  const { promptFiles: prompts, workflowFiles: workflows } = part;
  return [configFiles, versionFiles, errorCodeFiles, policyFiles, prompts, workflows, tools].every(
    (list) => list.length === 0,
  );
}

function notThere(target: string, { tools }: Subject): AcorError {
  const nearest = nearestWords(
    target,
    tools.map(({ name }) => name),
  );
  return new AcorError('E_INPUT_NOT_FOUND', `no tool or file has the name '${target}'`, {
    hint:
      nearest.length > 0
        ? `Did you mean ${nearest.map((each) => `'${each}'`).join(' or ')}?`
        : 'Write the name of a tool of the project.',
    details: { target, nearest },
    next: [LIST_TOOLS],
  });
}
