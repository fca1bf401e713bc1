import type { Runtime } from './runtime.ts';

/** The adapter for the runtime (Bun or Node) of this process. */
export async function loadRuntime(): Promise<Runtime> {
  if (process.versions.bun !== undefined) return (await import('./runtime-bun.ts')).bunRuntime;
  return (await import('./runtime-node.ts')).nodeRuntime;
}
