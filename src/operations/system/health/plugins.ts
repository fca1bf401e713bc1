import type { HealthCheck } from '../../../compose/health-shape.ts';
import { whyNotApproved } from '../../../core/guard/approval-state.ts';
import { approve } from '../../../protocol/next-steps.ts';
import type { Project } from '../../acor-app.ts';
import { commandOf } from '../../command-forms.ts';

/** Checks that each plugin is approved and loads. Runs ignore a plugin that does not. */
export async function checkPlugins({ plugins }: Project): Promise<HealthCheck[]> {
  if (plugins === undefined) return [];
  const loaded = await plugins.ready();
  return plugins.found.map(({ name, file, approval }): HealthCheck => {
    const check = { name: `plugin.${name}` };
    const running = loaded.find((each) => each.name === name);
    const trouble = plugins.failures.find(({ plugin }) => plugin === name);
    if (approval.state === 'missing' || approval.state === 'stale') {
      return {
        ...check,
        status: 'degraded',
        detail: whyNotApproved(approval),
        fix: commandOf(approve(`plugin:${name}`)),
      };
    }
    if (trouble !== undefined || running === undefined) {
      const fix = `Fix ${file}, or remove it from 'plugins' in the configuration.`;
      return { ...check, status: 'degraded', detail: trouble?.text ?? 'the plugin did not load', fix };
    }
    const languages = running.languages.map((language) => `the language ${language.name}`);
    return {
      ...check,
      status: 'ok',
      detail: [...running.hooks, ...languages].join(', ') || 'it has no hooks',
    };
  });
}
