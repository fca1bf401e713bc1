import type { HealthCheck } from '../../../compose/health-shape.ts';
import { commandOf } from '../../../core/registry/command.ts';
import { AcorError } from '../../../protocol/acor-error.ts';
import type { Project } from '../../acor-app.ts';

/** Whether each language that the tools are written in has a runtime here. */
export async function checkRuntimes(
  { registry, config }: Project,
  env: Readonly<Record<string, string | undefined>>,
): Promise<HealthCheck[]> {
  const checks = new Map<string, HealthCheck>();
  const languages = await registry.languages();
  for (const tool of await registry.list()) {
    if (tool.problems.length > 0) continue;
    try {
      const { runtime } = await commandOf(tool, config, env, languages);
      const name = `runtime.${tool.language}`;
      if (!checks.has(name)) checks.set(name, { name, status: 'ok', detail: runtime });
    } catch (error) {
      if (!(error instanceof AcorError)) throw error;
      const name = `runtime.${tool.name}`;
      checks.set(name, {
        name,
        status: 'degraded',
        detail: error.message,
        fix: error.hint ?? 'See: acor describe',
      });
    }
  }
  return [...checks.values()].sort((a, b) => a.name.localeCompare(b.name));
}
