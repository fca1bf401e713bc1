import type { Presenter } from '../../compose/terminal.ts';
import type { TerminalPerson } from '../dialog/terminal-person.ts';

/** The presenters by operation name. Loaded when a person reads the output. */
const PRESENTERS: Readonly<Record<string, (person: TerminalPerson) => Promise<Presenter>>> = {
  'agents.check': async () => (await import('./checked-agents.ts')).checkedAgentsPresenter,
  'agents.plugin': async () => (await import('./planned-files.ts')).pluginPresenter,
  'config.show': async () => (await import('./system.ts')).configPresenter,
  'policy.check': async () => (await import('./checked-policy.ts')).checkedPolicyPresenter,
  'project.init': async () => (await import('./planned-files.ts')).initPresenter,
  'project.template': async () => (await import('./planned-files.ts')).templatePresenter,
  'project.upgrade': async () => (await import('./validated.ts')).upgradedPresenter,
  'project.validate': async () => (await import('./validated.ts')).validatedPresenter,
  'run.artifacts': async () => (await import('./runs.ts')).artifactsPresenter,
  'run.attach': async (person) => (await import('../live/show-run.ts')).runPresenter(person, 'commands'),
  'run.decisions': async () => (await import('./runs.ts')).decisionsPresenter,
  'run.list': async () => (await import('./runs.ts')).runsPresenter,
  'run.logs': async (person) => (await import('../live/show-log.ts')).logPresenter(person),
  'run.replay': startedRun,
  'run.resume': startedRun,
  'run.retry': startedRun,
  'run.show': async () => (await import('./shown-run.ts')).shownRunPresenter,
  'run.start': startedRun,
  'secret.list': async () => (await import('./system.ts')).secretsPresenter,
  'system.errors': async () => (await import('./system.ts')).errorsPresenter,
  'system.explain': async () => (await import('./system.ts')).explanationPresenter,
  'system.health': async () => (await import('./system.ts')).healthPresenter,
  'system.tools': async () => (await import('./system.ts')).catalogPresenter,
  'task.run': startedRun,
  'tool.adopt': async () => (await import('./tools.ts')).adoptedPresenter,
  'tool.approve': async () => (await import('./tools.ts')).approvalsPresenter,
  'tool.describe': async () => (await import('./tools.ts')).describedPresenter,
  'tool.list': async () => (await import('./tools.ts')).toolsPresenter,
  'workflow.list': async () => (await import('./workflows.ts')).workflowsPresenter,
  'workflow.pipe': startedRun,
  'workflow.resume': startedRun,
  'workflow.run': startedRun,
  'workflow.validate': async () => (await import('./validated.ts')).validatedWorkflowsPresenter,
};

/** The presenter of an operation; undefined for the general rendering. */
export async function presenterOf(operation: string, person: TerminalPerson): Promise<Presenter | undefined> {
  return Object.hasOwn(PRESENTERS, operation) ? PRESENTERS[operation]?.(person) : undefined;
}

async function startedRun(person: TerminalPerson): Promise<Presenter> {
  return (await import('../live/show-run.ts')).runPresenter(person, 'answer');
}
