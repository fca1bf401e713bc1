import type { EntryFile } from '../registry/languages/language.ts';
import type { Hook } from './host/check-plugin.ts';
import type { LanguageContext, PluginPlan, PluginTool } from './plugin.ts';

/** What a plugin's process is asked, a line each: `{"id":1,"question":{…}}`. */
export type Question =
  | { ask: 'load'; file: string; root: string }
  | { ask: 'onDiscovery'; tools: PluginTool[] }
  | { ask: 'onPreRun'; plan: PluginPlan }
  /** Each event as it stands in the log. */
  | { ask: 'onEvent'; events: string[] }
  | { ask: 'detect'; language: string; file: EntryFile }
  | { ask: 'runtime'; language: string; context: Omit<LanguageContext, 'findProgram'> }
  | { ask: 'command'; language: string; runtime: string; context: Omit<LanguageContext, 'findProgram'> };

/** What it answers, in any order. */
export type Answer = { id: number } & ({ value: unknown } | { threw: string });

/** What there is to a plugin that was loaded. */
export interface PluginOutline {
  hooks: Hook[];
  languages: { name: string; extensions: string[] }[];
}
