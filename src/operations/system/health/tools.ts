import type { HealthCheck } from '../../../compose/health-shape.ts';
import { problemText } from '../../../core/config/problem.ts';
import { whyNotApproved } from '../../../core/guard/approval-state.ts';
import { policyPaths } from '../../../core/guard/policy-paths.ts';
import { readPolicies } from '../../../core/guard/read-policy.ts';
import { runtimesOf } from '../../../core/registry/command.ts';
import { assertCompatible } from '../../../core/registry/compatibility.ts';
import { AcorError } from '../../../protocol/acor-error.ts';
import { approve, describeTool } from '../../../protocol/next-steps.ts';
import type { Project } from '../../acor-app.ts';
import type { WriteCommand } from '../../command-forms.ts';

/** Checks that every tool of the project is valid. */
export async function checkTools({ registry }: Project): Promise<HealthCheck[]> {
  const tools = await registry.list();
  const broken = tools.filter(({ problems }) => problems.length > 0);
  if (broken.length === 0) return [{ name: 'tools', status: 'ok', detail: `${tools.length} found` }];
  return broken.map(({ name, problems }) => {
    const problem = problems[0]!;
    return {
      name: `tool.${name}`,
      status: 'degraded' as const,
      detail: problemText(problem),
      fix: problem.fix,
    };
  });
}

/** Checks that the runtime of each tool's language is installed. */
export async function checkRuntimes(
  { registry, config }: Project,
  env: Readonly<Record<string, string | undefined>>,
  commandOf: WriteCommand,
): Promise<HealthCheck[]> {
  const checks = new Map<string, HealthCheck>();
  const runtimeOf = runtimesOf(config, env, await registry.languages());
  for (const tool of await registry.list()) {
    if (tool.problems.length > 0) continue;
    try {
      assertCompatible(tool.manifest);
      const runtime = await runtimeOf(tool);
      const name = `runtime.${tool.language}`;
      if (!checks.has(name)) checks.set(name, { name, status: 'ok', detail: runtime });
    } catch (error) {
      if (!(error instanceof AcorError)) throw error;
      const name = `${error.code === 'E_INCOMPATIBLE' ? 'tool' : 'runtime'}.${tool.name}`;
      checks.set(name, {
        name,
        status: 'degraded',
        detail: error.message,
        fix: error.hint ?? commandOf(describeTool(tool.name)),
      });
    }
  }
  return [...checks.values()].sort((a, b) => a.name.localeCompare(b.name));
}

/** Lists the policy files that apply, and their problems. An invalid policy file blocks all tools. */
export async function checkPolicy(
  { config }: Project,
  env: Readonly<Record<string, string | undefined>>,
): Promise<HealthCheck[]> {
  const paths = policyPaths(config.root, env);
  const checks: HealthCheck[] = [];
  for (const path of paths) {
    const detail = `${path.source}: ${path.file}`;
    try {
      await readPolicies([path], env);
      checks.push({ name: `policy.${path.source}`, status: 'ok', detail });
    } catch (error) {
      if (!(error instanceof AcorError)) throw error;
      const fix = error.hint ?? `Fix ${path.file}.`;
      checks.push({ name: `policy.${path.source}`, status: 'blocked', detail: error.message, fix });
    }
  }
  if (checks.length > 0) return checks;
  return [{ name: 'policy', status: 'ok', detail: 'no policy file; the built-in policy applies' }];
}

/** Checks that each plugin is approved and loads. Runs ignore a plugin that does not. */
export async function checkPlugins({ plugins }: Project, commandOf: WriteCommand): Promise<HealthCheck[]> {
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
