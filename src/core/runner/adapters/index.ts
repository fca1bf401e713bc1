import type { Intake } from '../intake.ts';
import type { Adapter, AdapterOptions } from './adapter.ts';
import { JsonlAdapter } from './jsonl.ts';
import { PlainAdapter } from './plain.ts';

const ADAPTERS: Readonly<Record<string, (intake: Intake, options: AdapterOptions) => Adapter>> = {
  jsonl: (intake) => new JsonlAdapter(intake),
  plain: (intake, options) => new PlainAdapter(intake, options),
};

/** The names that a manifest may give as `adapter`. */
export const ADAPTER_NAMES: readonly string[] = Object.keys(ADAPTERS);

/** Makes the adapter of that name; undefined when there is none. */
export function createAdapter(name: string, intake: Intake, options: AdapterOptions): Adapter | undefined {
  return Object.hasOwn(ADAPTERS, name) ? ADAPTERS[name]!(intake, options) : undefined;
}
