import { approve, type NextStep } from '../../protocol/next-steps.ts';
import { newSpanId } from '../../util/ids.ts';
import type { LoadedConfig } from '../config/load.ts';
import { whyNotApproved } from '../guard/approval-state.ts';
import type { RunWriter } from '../ports/run-store.ts';
import { loadRuntime } from '../process/load-runtime.ts';
import { Watchdog } from '../process/watchdog.ts';
import { LANGUAGES } from '../registry/languages/index.ts';
import type { Language } from '../registry/languages/language.ts';
import type { RegistryPlugins, ToolEntry } from '../registry/registry.ts';
import type { ToolPlan } from '../run/plan/tool-plan.ts';
import type { RunPlugins, RunWatch } from '../run/services.ts';
import { adjustTools } from './adjust-tools.ts';
import { approvalName, type FoundPlugin, findPlugins } from './find-plugins.ts';
import type { Hook } from './host/check-plugin.ts';
import { judgePlan } from './judge-plan.ts';
import { copyOf } from './plugin-files.ts';
import { pluginLanguage } from './plugin-language.ts';
import { type LoadedPlugin, type PluginFailure, PluginProcess } from './plugin-process.ts';
import { PluginWatch } from './plugin-watch.ts';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The plugins of a project. Their processes start when the registry or a run first needs them. Their failures are
 * collected in `failures` and affect nothing else.
 */
export class Plugins implements RegistryPlugins, RunPlugins {
  readonly found: readonly FoundPlugin[];
  readonly key: string;
  readonly failures: PluginFailure[] = [];
  readonly #config: LoadedConfig;
  readonly #env: Env;
  /** Marks their processes, like the id of a run marks those of a tool. */
  readonly #owner = `plugins-${newSpanId()}`;
  #ready: Promise<LoadedPlugin[]> | undefined;
  #loaded: readonly LoadedPlugin[] = [];
  #languages: Language[] = [];

  private constructor(config: LoadedConfig, env: Env, found: readonly FoundPlugin[]) {
    this.#config = config;
    this.#env = env;
    this.found = found;
    this.key = JSON.stringify(
      found.map(({ name, approval }) => [name, approval.state === 'valid' ? approval.approval.digest : null]),
    );
  }

  /** Finds the plugins and their approvals; starts none. */
  static async open(config: LoadedConfig, env: Env): Promise<Plugins> {
    return new Plugins(config, env, await findPlugins(config, env));
  }

  /** The missing approvals. */
  get next(): NextStep[] {
    return this.found.flatMap((plugin) => (isUnapproved(plugin) ? [approvalOf(plugin)] : []));
  }

  /** Whether the process of a started plugin has ended. */
  get hasEnded(): boolean {
    return this.#loaded.some(({ process }) => !process.isAlive);
  }

  /** The running plugins, in the configured order. */
  ready(): Promise<LoadedPlugin[]> {
    this.#ready ??= this.#start();
    return this.#ready;
  }

  async languages(): Promise<readonly Language[]> {
    await this.ready();
    return this.#languages;
  }

  async adjust(tools: readonly ToolEntry[]) {
    return adjustTools(tools, await this.#having('onDiscovery'), (plugin, why) => this.#trouble(plugin, why));
  }

  async beforeRun(plan: ToolPlan): Promise<ToolPlan> {
    return judgePlan(plan, await this.#having('onPreRun'), (plugin, why) => this.#trouble(plugin, why));
  }

  /** Only plugins that already run: the plan of a run looks up its tool first. */
  watch(writer: RunWriter): RunWatch {
    const watching = this.#loaded.filter(
      ({ hooks, process }) => hooks.includes('onEvent') && process.isAlive,
    );
    return new PluginWatch(writer, watching, this.failures, (plugin, why) => this.#trouble(plugin, why));
  }

  async #having(hook: Hook): Promise<LoadedPlugin[]> {
    return (await this.ready()).filter(({ hooks, process }) => hooks.includes(hook) && process.isAlive);
  }

  async #start(): Promise<LoadedPlugin[]> {
    if (this.found.some(({ approval }) => approval.state === 'valid')) {
      // No process of a plugin, even in an endless loop, may outlive this process.
      new Watchdog(await loadRuntime(), this.#owner);
    }
    const loaded = (await Promise.all(this.found.map((plugin) => this.#load(plugin)))).filter(
      (each) => each !== undefined,
    );
    this.#loaded = loaded;
    this.#languages = this.#languagesOf(loaded);
    return loaded;
  }

  async #load(plugin: FoundPlugin): Promise<LoadedPlugin | undefined> {
    const { name, approval } = plugin;
    if (approval.state === 'broken')
      return this.#trouble(name, `cannot be read, and does not run: ${approval.why}`);
    if (approval.state !== 'valid') return this.#reportUnapproved(plugin, whyNotApproved(approval));
    const process = new PluginProcess(this.#env, this.#owner);
    try {
      const file = copyOf(approval.read, this.#env);
      return { name, process, ...(await process.load(file, this.#config.root)) };
    } catch (error) {
      process.kill();
      return this.#trouble(name, `cannot be loaded: it ${(error as Error).message}`);
    }
  }

  /** A name that is already in use stays with its first owner. */
  #languagesOf(loaded: readonly LoadedPlugin[]): Language[] {
    const languages: Language[] = [];
    for (const { name: plugin, languages: own, process } of loaded) {
      for (const outline of own) {
        if ([...LANGUAGES, ...languages].some(({ name }) => name === outline.name)) {
          this.#trouble(plugin, `brings a language '${outline.name}', which there is already`);
          continue;
        }
        const onTrouble = (error: unknown) => this.#trouble(plugin, (error as Error).message);
        languages.push(pluginLanguage(plugin, outline, process, onTrouble));
      }
    }
    return languages;
  }

  #reportUnapproved(plugin: FoundPlugin, why: string): undefined {
    this.#add({
      plugin: plugin.name,
      code: 'E_APPROVAL_REQUIRED',
      text: `the plugin '${plugin.name}' does not run: ${why}`,
      next: [approvalOf(plugin)],
    });
  }

  #trouble(plugin: string, why: string): undefined {
    this.#add({ plugin, text: `the plugin '${plugin}' ${why}` });
  }

  /** Each distinct failure is reported once. */
  #add(trouble: PluginFailure): void {
    if (!this.failures.some(({ text }) => text === trouble.text)) this.failures.push(trouble);
  }
}

function isUnapproved({ approval }: FoundPlugin): boolean {
  return approval.state === 'missing' || approval.state === 'stale';
}

function approvalOf({ name }: FoundPlugin): NextStep {
  return approve(approvalName(name));
}
