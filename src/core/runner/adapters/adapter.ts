import type { Intake } from '../intake.ts';
import { JsonlAdapter } from './jsonl.ts';
import { PlainAdapter } from './plain.ts';

/** Turns what a program writes on stdout into protocol events. One for each attempt. */
export interface Adapter {
  /** One line, `bytes[start..end)`; `cut` when it was longer than the limit. The bytes are only valid during the call. */
  line(bytes: Uint8Array, start: number, end: number, cut: boolean): void;
  /** The program has ended by itself with this exit code; null when a signal or a guard ended it. */
  end(rc: number | null): void;
}

export type AdapterOptions = { output: 'text' | 'json'; isOk: (rc: number) => boolean };

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
