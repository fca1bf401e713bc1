import type { Route } from '../compose/cli-app.ts';
import type { AcorApp } from './acor-app.ts';
import { formOf } from './command-forms.ts';

/** The operations of ACOR, each with the file that holds it. A call loads only the operation that it needs. */
export const ROUTES: readonly Route<AcorApp>[] = [
  { ...formOf('tool.adopt'), load: async () => (await import('./tool/tool-adopt.ts')).toolAdopt },
  { ...formOf('agents.check'), load: async () => (await import('./project/agents-check.ts')).agentsCheck },
  { ...formOf('agents.plugin'), load: async () => (await import('./project/agents-plugin.ts')).agentsPlugin },
  { ...formOf('run.answer'), load: async () => (await import('./run/run-answer.ts')).runAnswer },
  { ...formOf('tool.approve'), load: async () => (await import('./tool/tool-approve.ts')).toolApprove },
  { ...formOf('run.artifact'), load: async () => (await import('./run/run-artifacts.ts')).runArtifact },
  { ...formOf('run.artifacts'), load: async () => (await import('./run/run-artifacts.ts')).runArtifacts },
  { ...formOf('run.attach'), load: async () => (await import('./run/run-attach.ts')).runAttach },
  { ...formOf('run.cancel'), load: async () => (await import('./run/run-cancel.ts')).runCancel },
  { ...formOf('run.clean'), load: async () => (await import('./run/run-clean.ts')).runClean },
  { ...formOf('system.complete'), load: async () => (await import('./system/complete.ts')).complete },
  {
    ...formOf('system.complete-words'),
    load: async () => (await import('./system/complete.ts')).completeWords,
    hidden: true,
  },
  { ...formOf('config.show'), load: async () => (await import('./system/config-show.ts')).configShow },
  { ...formOf('run.decisions'), load: async () => (await import('./run/run-decisions.ts')).runDecisions },
  { ...formOf('tool.describe'), load: async () => (await import('./tool/tool-describe.ts')).toolDescribe },
  { ...formOf('system.errors'), load: async () => (await import('./system/error-list.ts')).errorList },
  { ...formOf('system.explain'), load: async () => (await import('./system/explain.ts')).explain },
  { ...formOf('system.health'), load: async () => (await import('./system/health/health.ts')).health },
  {
    ...formOf('agents.hook'),
    load: async () => (await import('./project/agents-hook.ts')).agentsHook,
    hidden: true,
  },
  { ...formOf('project.init'), load: async () => (await import('./project/project-init.ts')).projectInit },
  { ...formOf('tool.list'), load: async () => (await import('./tool/tool-list.ts')).toolList },
  { ...formOf('run.logs'), load: async () => (await import('./run/run-logs.ts')).runLogs },
  { ...formOf('mcp.serve'), load: async () => (await import('./system/mcp-serve.ts')).mcpServe },
  { ...formOf('workflow.pipe'), load: async () => (await import('./workflow/pipe.ts')).pipe },
  {
    ...formOf('plugin.host'),
    load: async () => (await import('./project/plugin-host.ts')).pluginHost,
    hidden: true,
  },
  { ...formOf('policy.check'), load: async () => (await import('./project/policy-check.ts')).policyCheck },
  { ...formOf('run.replay'), load: async () => (await import('./run/run-replay.ts')).runReplay },
  { ...formOf('run.resume'), load: async () => (await import('./run/run-again.ts')).runResume },
  { ...formOf('run.retry'), load: async () => (await import('./run/run-again.ts')).runRetry },
  { ...formOf('run.start'), load: async () => (await import('./run/run-start.ts')).runStart },
  { ...formOf('run.list'), load: async () => (await import('./run/run-list.ts')).runList },
  { ...formOf('secret.delete'), load: async () => (await import('./system/secrets.ts')).secretDelete },
  { ...formOf('secret.list'), load: async () => (await import('./system/secrets.ts')).secretList },
  { ...formOf('secret.set'), load: async () => (await import('./system/secrets.ts')).secretSet },
  { ...formOf('system.self-test'), load: async () => (await import('./system/self-test.ts')).selfTest },
  { ...formOf('run.show'), load: async () => (await import('./run/run-show.ts')).runShow },
  {
    ...formOf('run.supervise'),
    load: async () => (await import('./run/run-supervise.ts')).runSupervise,
    hidden: true,
  },
  { ...formOf('task.run'), load: async () => (await import('./workflow/task-run.ts')).taskRun },
  {
    ...formOf('project.template'),
    load: async () => (await import('./project/project-template.ts')).projectTemplate,
  },
  { ...formOf('system.tools'), load: async () => (await import('./tool/tool-catalog.ts')).toolCatalog },
  {
    ...formOf('project.upgrade'),
    load: async () => (await import('./project/project-upgrade.ts')).projectUpgrade,
  },
  {
    ...formOf('project.validate'),
    load: async () => (await import('./project/project-validate.ts')).projectValidate,
  },
  { ...formOf('run.verify'), load: async () => (await import('./run/run-verify.ts')).runVerify },
  { ...formOf('system.version'), load: async () => (await import('./system/version.ts')).version },
  { ...formOf('run.wait'), load: async () => (await import('./run/run-wait.ts')).runWait },
  {
    ...formOf('workflow.graph'),
    load: async () => (await import('./workflow/workflow-graph.ts')).workflowGraph,
  },
  {
    ...formOf('workflow.list'),
    load: async () => (await import('./workflow/workflow-list.ts')).workflowList,
  },
  {
    ...formOf('workflow.resume'),
    load: async () => (await import('./workflow/workflow-resume.ts')).workflowResume,
  },
  { ...formOf('workflow.run'), load: async () => (await import('./workflow/workflow-run.ts')).workflowRun },
  {
    ...formOf('workflow.validate'),
    load: async () => (await import('./workflow/workflow-validate.ts')).workflowValidate,
  },
];
