import type { OutputSettings, OutputSpec } from './manifest-output.ts';

/** The settings of an output; a format may stand alone. Without the schema, which a run does not load. */
export function settingsOf(output: OutputSpec): OutputSettings {
  if (typeof output !== 'string') return output;
  return { format: output === 'records' ? 'text' : output, skip: 0, types: {} };
}
