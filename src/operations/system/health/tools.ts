import type { HealthCheck } from '../../../compose/health-shape.ts';
import { problemText } from '../../../core/config/problem.ts';
import type { Project } from '../../acor-app.ts';

/** Whether the tools that were found can be used. */
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
