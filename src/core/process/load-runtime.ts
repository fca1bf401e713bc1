import type { Runtime } from './runtime.ts';

let loaded: Runtime | undefined;

/** The adapter for the runtime (Bun or Node) of this process. */
export async function loadRuntime(): Promise<Runtime> {
  loaded ??=
    process.versions.bun === undefined
      ? (await import('./runtime-node.ts')).nodeRuntime
      : (await import('./runtime-bun.ts')).bunRuntime;
  return loaded;
}

/** The same for code that cannot wait; undefined until something has loaded it, as each run does. */
export function loadedRuntime(): Runtime | undefined {
  return loaded;
}
