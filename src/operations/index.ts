import type { Route } from '../compose/app.ts';
import type { AcorApp } from './acor-app.ts';

/** What ACOR can do: each command, and the file that holds it. Loaded when it is called. */
export const ROUTES: readonly Route<AcorApp>[] = [
  { command: 'answer', load: async () => (await import('./run-answer.ts')).runAnswer },
  { command: 'approve', load: async () => (await import('./tool-approve.ts')).toolApprove },
  { command: 'artifacts', load: async () => (await import('./run-artifacts.ts')).runArtifacts },
  { command: 'attach', load: async () => (await import('./run-attach.ts')).runAttach },
  { command: 'cancel', load: async () => (await import('./run-cancel.ts')).runCancel },
  { command: 'clean', load: async () => (await import('./run-clean.ts')).runClean },
  { command: 'config show', load: async () => (await import('./config-show.ts')).configShow },
  { command: 'decisions', load: async () => (await import('./run-decisions.ts')).runDecisions },
  { command: 'describe', load: async () => (await import('./tool-describe.ts')).toolDescribe },
  { command: 'errors', load: async () => (await import('./error-list.ts')).errorList },
  { command: 'health', load: async () => (await import('./health/health.ts')).health },
  { command: 'list', load: async () => (await import('./tool-list.ts')).toolList },
  { command: 'logs', load: async () => (await import('./run-logs.ts')).runLogs },
  { command: 'policy check', load: async () => (await import('./policy-check.ts')).policyCheck },
  { command: 'replay', load: async () => (await import('./run-replay.ts')).runReplay },
  { command: 'resume', load: async () => (await import('./run-again.ts')).runResume },
  { command: 'retry', load: async () => (await import('./run-again.ts')).runRetry },
  { command: 'run', load: async () => (await import('./run-start.ts')).runStart },
  { command: 'runs', load: async () => (await import('./run-list.ts')).runList },
  { command: 'show', load: async () => (await import('./run-show.ts')).runShow },
  { command: 'supervise', load: async () => (await import('./run-supervise.ts')).runSupervise, hidden: true },
  { command: 'tools', load: async () => (await import('./tool-catalog.ts')).toolCatalog },
  { command: 'verify', load: async () => (await import('./run-verify.ts')).runVerify },
  { command: 'version', load: async () => (await import('./version.ts')).version },
  { command: 'wait', load: async () => (await import('./run-wait.ts')).runWait },
];
