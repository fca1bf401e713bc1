import type { EntryFile } from '../registry/languages/language.ts';
import type { Hook } from './host/check-plugin.ts';
import type { LanguageContext, PluginPlan, PluginTool } from './plugin.ts';

/** A question to a plugin's process, one per line: `{"id":1,"question":{…}}`. */
export type Question =
  | { ask: 'load'; file: string; root: string }
  | { ask: 'onDiscovery'; tools: PluginTool[] }
  | { ask: 'onPreRun'; plan: PluginPlan }
  /** Each event as it is in the log. */
  | { ask: 'onEvent'; events: string[] }
  | { ask: 'detect'; language: string; file: EntryFile }
  | { ask: 'runtime'; language: string; context: Omit<LanguageContext, 'findProgram'> }
  | { ask: 'command'; language: string; runtime: string; context: Omit<LanguageContext, 'findProgram'> };

/** An answer; the order is arbitrary. */
export type Answer = { id: number } & ({ value: unknown } | { threw: string });

/** The answer to `onEvent`: how many events the hook failed for, its first failure, and the time that all of them took. */
export interface EventsAnswer {
  failed: number;
  first?: string | undefined;
  ms: number;
}

/** The description of a loaded plugin. */
export interface PluginOutline {
  hooks: Hook[];
  languages: { name: string; extensions: string[] }[];
}
