import type { OutputSettings, OutputSpec } from './manifest-output.ts';

/** The settings of an output; a format may stand alone. Without the schema, which a run does not load. */
export function settingsOf(output: OutputSpec): OutputSettings {
  return typeof output === 'string' ? { format: output, skip: 0, types: {} } : output;
}
