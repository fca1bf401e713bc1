import type { Presenter, Terminal } from '../compose/terminal.ts';
import { TerminalPerson } from './dialog/terminal-person.ts';

/** The renderings and prompts of one command for the person at the terminal. */
export function terminal(): Terminal {
  const person = new TerminalPerson();
  return {
    presenter: (operation) => presenterOf(operation, person),
    person: (screen, note) => person.at(screen, note),
  };
}

/** The presenters by operation name. Loaded when a person reads the output. */
const PRESENTERS: Readonly<Record<string, (person: TerminalPerson) => Promise<Presenter>>> = {
  'agents.check': async () => (await import('./present/checks.ts')).checkedAgentsPresenter,
  'agents.plugin': async () => (await import('./present/planned-files.ts')).pluginPresenter,
  'agents.remove': async () => (await import('./present/planned-files.ts')).removedAgentsPresenter,
  'compose.audit': async () => (await import('./present/audit.ts')).auditPresenter,
  'config.set': async () => (await import('./present/system.ts')).changedConfigPresenter,
  'config.show': async () => (await import('./present/system.ts')).configPresenter,
  'config.unset': async () => (await import('./present/system.ts')).changedConfigPresenter,
  'host.show': async () => (await import('./present/hosts.ts')).hostsPresenter,
  'host.stop': async () => (await import('./present/hosts.ts')).stoppedHostsPresenter,
  'plugin.list': async () => (await import('./present/tools.ts')).pluginsPresenter,
  'policy.check': async () => (await import('./present/checks.ts')).checkedPolicyPresenter,
  'project.init': async () => (await import('./present/planned-files.ts')).initPresenter,
  'project.template': async () => (await import('./present/planned-files.ts')).templatePresenter,
  'project.upgrade': async () => (await import('./present/validated.ts')).upgradedPresenter,
  'project.validate': async () => (await import('./present/validated.ts')).validatedPresenter,
  'run.artifacts': async () => (await import('./present/runs.ts')).artifactsPresenter,
  'run.attach': async (person) => (await import('./live/show-run.ts')).runPresenter(person, 'commands'),
  'run.clean': async () => (await import('./present/removed-runs.ts')).cleanedPresenter,
  'run.cost': async () => (await import('./present/costs.ts')).costsPresenter,
  'run.decisions': async () => (await import('./present/runs.ts')).decisionsPresenter,
  'run.diff': async () => (await import('./present/changes.ts')).changesPresenter,
  'run.insights': async () => (await import('./present/insights.ts')).insightsPresenter,
  'run.list': async () => (await import('./present/runs.ts')).runsPresenter,
  'run.logs': async (person) => (await import('./live/show-log.ts')).logPresenter(person),
  'run.remove': async () => (await import('./present/removed-runs.ts')).removedPresenter,
  'run.replay': startedRun,
  'run.resume': startedRun,
  'run.retry': startedRun,
  'run.show': async () => (await import('./present/shown-run.ts')).shownRunPresenter,
  'run.start': startedRun,
  'run.exec': startedRun,
  'run.verify': async () => (await import('./present/verified.ts')).verifiedPresenter,
  'run.wait': async () => (await import('./live/show-run.ts')).waitPresenter,
  'schedule.list': async () => (await import('./present/schedules.ts')).schedulesPresenter,
  'schedule.show': async () => (await import('./present/schedules.ts')).schedulePresenter,
  'secret.list': async () => (await import('./present/system.ts')).secretsPresenter,
  'system.errors': async () => (await import('./present/system.ts')).errorsPresenter,
  'system.explain': async () => (await import('./present/system.ts')).explanationPresenter,
  'system.health': async () => (await import('./present/system.ts')).healthPresenter,
  'system.self-test': async () => (await import('./present/system.ts')).healthPresenter,
  'system.tools': async () => (await import('./present/system.ts')).catalogPresenter,
  'task.run': startedRun,
  'tool.adopt': async () => (await import('./present/tools.ts')).adoptedPresenter,
  'tool.approve': async () => (await import('./present/tools.ts')).approvalsPresenter,
  'tool.describe': async () => (await import('./present/tools.ts')).describedPresenter,
  'tool.list': async () => (await import('./present/tools.ts')).toolsPresenter,
  'workflow.list': async () => (await import('./present/tools.ts')).workflowsPresenter,
  'workflow.pipe': startedRun,
  'workflow.resume': startedRun,
  'workflow.run': startedRun,
  'workflow.template': async () => (await import('./present/planned-files.ts')).workflowTemplatePresenter,
  'workflow.validate': async () => (await import('./present/validated.ts')).validatedWorkflowsPresenter,
};

/** The presenter of an operation; undefined for the general rendering. */
async function presenterOf(operation: string, person: TerminalPerson): Promise<Presenter | undefined> {
  return Object.hasOwn(PRESENTERS, operation) ? PRESENTERS[operation]?.(person) : undefined;
}

async function startedRun(person: TerminalPerson): Promise<Presenter> {
  return (await import('./live/show-run.ts')).runPresenter(person, 'answer');
}
