import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import type { ErrorInfo } from '../../protocol/error-codes.ts';
import { isAdHoc, TOOL_NAME } from '../../protocol/names.ts';
import {
  describeTool,
  INIT,
  LIST_TOOLS,
  type NextStep,
  runTool,
  validateTool,
} from '../../protocol/next-steps.ts';
import { nearestWords } from '../../util/nearest.ts';
import { ACOR_VERSION } from '../../util/version.ts';
import { toolsAbove } from '../config/find.ts';
import { type LoadedConfig, registryDirsOf, runsDirOf, toolsDirsOf } from '../config/load.ts';
import { problemText } from '../config/problem.ts';
import type { AdHocCall } from './ad-hoc.ts';
import { stemOf } from './candidate.ts';
import { discover } from './discover.ts';
import { DiscoveryCache } from './discovery-cache.ts';
import { LANGUAGES, languagesWith } from './languages/index.ts';
import type { Language } from './languages/language.ts';
import type { ToolEntry } from './tool-entry.ts';

export type { Problem } from '../config/problem.ts';
export type { ToolEntry } from './tool-entry.ts';

/** What the plugins of a project contribute to its registry. */
export interface RegistryPlugins {
  /** Plugins cannot replace a language of the same key. */
  readonly key: string;
  languages(): Promise<readonly Language[]>;
  /** Splits the tools into offered ones and hidden ones, with the plugin that hides each. */
  adjust(tools: readonly ToolEntry[]): Promise<{ tools: ToolEntry[]; hidden: ReadonlyMap<string, string> }>;
  /** The steps that enable plugins which are not active yet. */
  readonly next: readonly NextStep[];
}

/** The tools of a project. Each call checks the files again, so a change is visible at once. */
export class Registry {
  readonly #config: LoadedConfig;
  readonly #tools: DiscoveryCache;
  readonly #codes: DiscoveryCache;
  readonly #plugins: RegistryPlugins | undefined;
  #hidden: ReadonlyMap<string, string> = new Map();
  /** Runs the rounds of the caches one at a time. */
  #last: Promise<unknown> = Promise.resolve();

  private constructor(config: LoadedConfig, plugins: RegistryPlugins | undefined) {
    const { discovery } = config.config;
    const key = JSON.stringify([
      ACOR_VERSION,
      identityOf(config.root),
      toolsDirsOf(config),
      registryDirsOf(config),
      discovery.patterns,
      plugins?.key,
    ]);
    const folder = join(runsDirOf(config), 'cache');
    this.#config = config;
    this.#plugins = plugins;
    this.#tools = new DiscoveryCache(join(folder, 'discovery.json'), key, discovery.cache_ttl);
    this.#codes = new DiscoveryCache(join(folder, 'error-codes.json'), key, discovery.cache_ttl);
  }

  static open(config: LoadedConfig, plugins?: RegistryPlugins): Registry {
    return new Registry(config, plugins);
  }

  /** The languages that tools here may use. */
  async languages(): Promise<readonly Language[]> {
    return this.#plugins === undefined ? LANGUAGES : languagesWith(await this.#plugins.languages());
  }

  /** Increases when `list` read something again; undefined when plugins may change a list at any time. */
  get revision(): number | undefined {
    return this.#plugins === undefined ? this.#tools.revision : undefined;
  }

  /** The files and folders that the last `list` depends on; undefined when one has changed too recently for a signature. */
  get paths(): string[] | undefined {
    return this.#tools.paths;
  }

  /** All tools by name, including broken ones. */
  list(): Promise<ToolEntry[]> {
    return this.#inTurn(async () => {
      const languages = await this.languages();
      const found = await this.#tools.round(() => discover(this.#config, this.#tools, languages));
      if (this.#plugins === undefined) return found;
      const { tools, hidden } = await this.#plugins.adjust(found);
      this.#hidden = hidden;
      return tools;
    });
  }

  /** A usable tool, or a file or program outside of the tools folders, called as `call` says. Throws E_TOOL_NOT_FOUND or E_MANIFEST_INVALID. */
  async find(name: string, call?: AdHocCall): Promise<ToolEntry> {
    if (isAdHoc(name)) {
      const { adHocTool } = await import('./ad-hoc.ts');
      const options = { config: this.#config, languages: await this.languages() };
      return adHocTool(name, options, call).catch(async (error: unknown) => {
        throw await this.#namingFolder(error, name);
      });
    }
    const tools = await this.list();
    const tool = tools.find((each) => each.name === name);
    if (tool === undefined) throw this.#notFound(name, tools);
    const [first, ...others] = tool.problems;
    if (first === undefined) return tool;
    const more = others.length > 0 ? ` (and ${others.length} more)` : '';
    throw new AcorError('E_MANIFEST_INVALID', `tool '${name}' cannot be used: ${problemText(first)}${more}`, {
      hint: first.fix,
      details: { tool: name, problems: tool.problems },
      next: [validateTool(name), ...(this.#plugins?.next ?? [])],
    });
  }

  /** The path of a tool's folder is meant as the tool. */
  async #namingFolder(error: unknown, path: string): Promise<unknown> {
    if (!(error instanceof AcorError) || error.code !== 'E_TOOL_NOT_FOUND') return error;
    // A tools folder holds single files.
    if (toolsDirsOf(this.#config).includes(path)) return error;
    const tool = (await this.list()).find(({ dir, entry }) => dir === path && entry !== path);
    if (tool === undefined) return error;
    return new AcorError(error.code, `${path} is the folder of the tool '${tool.name}'`, {
      hint: 'Run the tool by its name.',
      next: [runTool(tool.name, []), describeTool(tool.name)],
    });
  }

  /** The project's own error codes, without the built-in ones. */
  async errorCodes(): Promise<Record<string, ErrorInfo>> {
    const { errorCodeFiles, readErrorCodes } = await import('./error-codes.ts');
    const paths = errorCodeFiles(this.#config);
    return this.#inTurn(() =>
      this.#codes.round(async () => this.#codes.unit('error-codes', (files) => readErrorCodes(paths, files))),
    );
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => {});
    return turn;
  }

  #notFound(name: string, tools: readonly ToolEntry[]): AcorError {
    const nearest = nearestWords(
      name,
      tools.map((tool) => tool.name),
    );
    const folders = toolsDirsOf(this.#config);
    const hider = this.#hidden.get(name);
    const named = tools.find(({ dir, name: own }) => own !== name && basename(dir) === name);
    const file = unstartableFile(name, folders);
    const above = tools.length === 0 ? toolsOutside(this.#config) : undefined;
    const hint =
      hider !== undefined
        ? `The plugin '${hider}' hides it.`
        : named !== undefined
          ? `The tool in ${named.dir} has the name '${named.name}' in its manifest.`
          : file !== undefined
            ? `${file} is not executable, so it is not a tool: chmod +x '${file}'`
            : nearest.length > 0
              ? `Did you mean ${nearest.map((each) => `'${each}'`).join(' or ')}?`
              : tools.length > 0
                ? 'List the tools of the project.'
                : above !== undefined
                  ? notHere(above)
                  : `No tools were found in ${folders.join(', ')}. A tool is a folder with a cli.* or main.*, or an executable file.`;
    return new AcorError('E_TOOL_NOT_FOUND', `there is no tool '${name}'`, {
      hint,
      details: { tool: name, nearest, tools_dirs: folders },
      next: [
        ...(named === undefined ? nearest : [named.name]).map(describeTool),
        ...(this.#plugins?.next ?? []),
        ...(tools.length === 0 && above === undefined && hider === undefined && file === undefined
          ? [INIT]
          : []),
        LIST_TOOLS,
      ],
    });
  }
}

/** A folder above with tools that calls from here do not find; undefined in a project. */
export function toolsOutside({ root, file }: LoadedConfig): string | undefined {
  return file === null && !existsSync(join(root, '.acor')) ? toolsAbove(root) : undefined;
}

/** Says in words why those tools are not found. */
export function notHere(folder: string): string {
  return `The tools in ${join(folder, 'tools')} are found only by calls from ${folder}, because that folder has no .acor: make it a project there, and calls from below find them too.`;
}

/** A single file that would be the tool of this name if it were executable. */
function unstartableFile(name: string, folders: readonly string[]): string | undefined {
  if (!TOOL_NAME.test(name)) return undefined;
  for (const folder of folders) {
    if (!existsSync(folder)) continue;
    const found = readdirSync(folder, { withFileTypes: true }).find(
      (entry) => entry.isFile() && stemOf(entry.name) === name,
    );
    if (found !== undefined) return join(folder, found.name);
  }
  return undefined;
}

/** Ties the cache to this disk: a cache that was copied with the project must not be trusted. */
function identityOf(folder: string): string {
  const stats = statSync(folder, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? '' : `${stats.dev} ${stats.ino} ${stats.birthtimeNs}`;
}
