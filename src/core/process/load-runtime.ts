import type { Runtime } from './runtime.ts';

/** The runtime that this process runs on. */
export async function loadRuntime(): Promise<Runtime> {
  if (process.versions.bun !== undefined) return (await import('./runtime-bun.ts')).bunRuntime;
  return (await import('./runtime-node.ts')).nodeRuntime;
}
