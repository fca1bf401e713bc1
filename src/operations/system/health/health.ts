import * as z from 'zod';
import { type HealthCheck, healthReport, reportAnswer } from '../../../compose/health-shape.ts';
import type { LoadedConfig } from '../../../core/config/load.ts';
import { AcorError } from '../../../protocol/acor-error.ts';
import { TRUST } from '../../../protocol/next-steps.ts';
import type { WriteCommand } from '../../command-forms.ts';
import { acorOperation } from '../../define.ts';
import { untrusted } from '../../project/untrusted.ts';
import { checkLimits } from './limits.ts';
import { checkSandbox } from './sandbox.ts';
import { checkHost, checkNotify, checkSecrets } from './services.ts';
import { checkStore } from './store.ts';
import { checkPlugins, checkPolicy, checkRuntimes, checkTools } from './tools.ts';

export const health = acorOperation({
  name: 'system.health',
  summary: 'Check that everything a run needs is available, with a fix for everything that is missing.',
  effect: 'writes',
  readsWithout: ['fix', 'deep'],
  idempotent: true,
  rateLimit: null,
  input: z.object({
    fix: z
      .boolean()
      .default(false)
      .describe('Recover the runs that have lost their supervisor: each ends as E_RUNNER_LOST.'),
    dry_run: z
      .boolean()
      .default(false)
      .describe('With --fix: list what it would recover, and change nothing.'),
    deep: z.boolean().default(false).describe('Also run the self-tests of the tools.'),
  }),
  output: healthReport,
  list: 'checks',
  example: 'acor health',
  moreExamples: ['acor health --fix', 'acor health --deep'],
  async run(input, ctx) {
    const checks: HealthCheck[] = [];
    const { commandOf } = ctx.app;
    try {
      const project = await ctx.app.project();
      checks.push(configCheck(project.config, commandOf));
      checks.push(...(await checkPolicy(project, ctx.env)));
      checks.push(...(await checkTools(project)));
      const { checkProjectFiles } = await import('./project-files.ts');
      checks.push(...(await checkProjectFiles(ctx, input.deep)));
      checks.push(...(await checkPlugins(project, commandOf)));
      checks.push(...(await checkSecrets(project, ctx.env, commandOf)));
      checks.push(...(await checkRuntimes(project, ctx.env, commandOf)));
      checks.push(...(await checkSandbox(project, commandOf)));
      checks.push(...checkHost(project.config, ctx));
      checks.push(await checkLimits());
      checks.push(...(await checkNotify(project, commandOf)));
      checks.push(...(await checkStore(project, input.fix && !input.dry_run, commandOf)));
    } catch (error) {
      if (!(error instanceof AcorError)) throw error;
      checks.push({
        name: 'config',
        status: 'blocked',
        detail: `${error.code}: ${error.message}`,
        fix: error.hint ?? 'Fix the configuration.',
      });
    }
    return reportAnswer(checks);
  },
});

function configCheck(config: LoadedConfig, commandOf: WriteCommand): HealthCheck {
  if (!config.trust.isTrusted) {
    const fix = `Have a person read and trust it: ${commandOf(TRUST)}`;
    return { name: 'config', status: 'degraded', detail: untrusted(config, commandOf), fix };
  }
  const detail = config.file ?? 'no configuration file; every value is a default';
  return { name: 'config', status: 'ok', detail };
}
