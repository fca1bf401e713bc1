/**
 * An operation of ACOR that leads on. Each surface renders it in its own way: a command line, a tool call, a request.
 */
export interface OperationStep {
  /** The operation's dotted name, such as `run.resume`. */
  operation: string;
  input: Readonly<Record<string, unknown>>;
  /** Why to run it, in one sentence. */
  why: string;
}

/** A command of another program, such as `chmod`; it needs a shell. */
export interface ShellStep {
  command: string;
  why: string;
}

export type NextStep = OperationStep | ShellStep;

/** Renders a next step as an exact shell command. */
export type CommandOf = (step: NextStep) => string;

/** The next steps that several parts of ACOR offer. */
export const SEE_HEALTH = step(
  'system.health',
  {},
  'Check what this machine offers, and how to install the rest.',
);
export const RECOVER_LOST_RUNS = step(
  'system.health',
  { fix: true },
  'Recover the runs whose supervisor has died, and seal their logs.',
);
export const RESTORE_OWNERS = step(
  'system.health',
  { fix: true },
  'Give the files of ended runs back to their owners.',
);
export const SEE_VERSIONS = step('system.version', { detailed: true }, 'Compare the versions.');
export const SEE_CONFIG = step('config.show', {}, 'See each setting and where it comes from.');
export const SEE_BUDGET = step('run.cost', { by: 'day' }, 'See what the runs of each day have cost.');
export const LIST_RUNS = step('run.list', {}, 'List the runs.');
export const LIST_TOOLS = step('tool.list', {}, 'List the tools of the project.');
export const FIX_SAFELY = step('project.validate', { fix: true }, 'Fix what is safe to fix.');
export const LIST_SECRETS = step('secret.list', {}, 'List the secrets of the project by name.');
export const LIST_ERROR_CODES = step('system.errors', {}, 'List the error codes and their classes.');
export const LIST_WORKFLOWS = step('workflow.list', {}, 'List the workflows of the project.');
export const LIST_SCHEDULES = step('schedule.list', {}, 'List the schedules of the project.');
export const SERVE = step('http.serve', {}, 'Serve the dashboard, and run the schedules.');
export const CHECK_WORKFLOWS = step('workflow.validate', {}, 'List the problems of the workflows.');
export const PREVIEW_CLEAN = step(
  'run.clean',
  { keep: 20, dry_run: true },
  'See which old runs would be removed.',
);
export const PREVIEW_PACK = step(
  'run.clean',
  { pack: true, keep: 20, dry_run: true },
  'See which old runs would be packed.',
);
export const FORGET_MISSING_RUNS = step(
  'run.clean',
  { missing: true, dry_run: true },
  'See which runs are missing, and would be entered as removed.',
);
export const VERIFY = step('run.verify', {}, 'List everything that was changed or damaged.');
export const CLEAN = step('run.clean', { keep: 20 }, 'Remove all but the 20 newest runs.');

export const INIT = step('project.init', {}, 'Make this folder a project, with a first tool.');
export const VALIDATE = step('project.validate', {}, 'Check the whole project.');
export const CHECK_AGENTS = step('agents.check', {}, 'Check the files that agents read.');
export const TRUST = step(
  'project.trust',
  {},
  'A person reads what the configuration widens, and trusts it at a terminal.',
);
export const LIST_APPROVALS = step('tool.approve', { list: true }, 'List the approvals.');
export const UPGRADE = step('project.upgrade', {}, 'Bring the files of the project up to date.');
export const UPGRADE_CONFIG = step(
  'project.upgrade',
  { config: true },
  'Bring the configuration up to date.',
);

/** `targets` are tools and files; empty means the whole project. */
export function validateStrictly(targets: readonly string[]): OperationStep {
  return step('project.validate', { targets, strict: true }, 'Check it, warnings included.');
}

export function validateTool(tool: string): OperationStep {
  return step('project.validate', { targets: [tool] }, 'List what is wrong with the tool.');
}

/** `agents` by name; `force` replaces what a person has changed. */
/** Drafts the manifest of a script, which may be named by a path alone. */
export function adoptFile(path: string): OperationStep {
  const program = path.includes('/') ? path : `./${path}`;
  return step('tool.adopt', { program }, 'Draft its manifest from its help.');
}

export function initAgents(agents: readonly string[], options: { force?: true } = {}): OperationStep {
  return step('project.init', { agents: agents.join(','), ...options }, 'Write the files that agents read.');
}

export function runTool(tool: string, args: readonly string[] = []): OperationStep {
  return step('run.start', { tool, args }, 'Run the tool.');
}

export function previewTool(tool: string, args: readonly string[]): OperationStep {
  return step('run.start', { tool, args: [...args], dry_run: true }, 'See what a new run would do.');
}

/** With `args`, the policy also decides about the paths that they grant. */
export function checkAgainstPolicy(tool: string, args: readonly string[] = []): OperationStep {
  const input = args.length === 0 ? { tool } : { tool, args };
  return step('policy.check', input, 'Check the call against the policy.');
}

export function runProgram(program: string, args: readonly string[]): OperationStep {
  return step(
    'run.exec',
    { program, args },
    'Run the program with the sandbox, limits and record of a tool.',
  );
}

export function createTool(language: string, name: string): OperationStep {
  return step('project.template', { language, name }, 'Create a tool.');
}

export function showRun(run: string): OperationStep {
  return step('run.show', { run }, 'Show the state of the run and its artifacts.');
}

/** `newer`: how many runs are newer than those of the pack. */
export function removeWholePack(newer: number): OperationStep {
  return step('run.clean', { keep: newer }, 'Remove all runs up to the newest one of the pack.');
}

export function removeRun(run: string): OperationStep {
  return step('run.remove', { run }, 'Remove the run, and enter that in the ledger.');
}

export function readLogs(run: string): OperationStep {
  return step('run.logs', { run }, 'Read the events of the run.');
}

export function findOutEffects(run: string): OperationStep {
  return step('run.logs', { run }, 'Find out what the tool did before it was stopped.');
}

export function attachTo(run: string): OperationStep {
  return step('run.attach', { run }, 'Follow the run to its end.');
}

export function waitFor(run: string): OperationStep {
  return step('run.wait', { run }, 'Wait until the run ends or asks a question.');
}

export function cancelRun(run: string): OperationStep {
  return step('run.cancel', { run }, 'Cancel the run.');
}

/** `force` also reruns an interrupted tool that is not idempotent. */
export function resumeRun(run: string, options: { force?: true } = {}): OperationStep {
  const why = options.force
    ? 'Only if repeating it does no harm: what its tool did before may happen twice.'
    : 'Continue the run from its checkpoints.';
  return step('run.resume', { run, ...options }, why);
}

/** `force` also reruns an interrupted tool that is not idempotent. */
export function retryRun(run: string, options: { force?: true } = {}): OperationStep {
  const why = options.force
    ? 'Only if repeating it does no harm: what its tool did before may happen twice.'
    : 'Run it again from the beginning.';
  return step('run.retry', { run, ...options }, why);
}

/** `from` also runs a finished step again, and all that need it. */
export function resumeWorkflow(run: string, options: { from?: string; force?: true } = {}): OperationStep {
  const why =
    options.from === undefined
      ? 'Continue the workflow; finished steps are not repeated.'
      : `Continue the workflow; '${options.from}' and all steps that need it run again.`;
  return step('workflow.resume', { run, ...options }, why);
}

export function graphOf(workflow: string): OperationStep {
  return step('workflow.graph', { workflow }, 'Show the steps of the workflow.');
}

export function seeRecording(run: string): OperationStep {
  return step('run.replay', { run, at_once: true }, 'See the recording at once.');
}

export function previewReplay(run: string): OperationStep {
  return step('run.replay', { run, execute: true, dry_run: true }, 'See what executing it again would do.');
}

export function diffRun(run: string): OperationStep {
  return step('run.diff', { run }, 'See what the run changed.');
}

export function applyRun(run: string): OperationStep {
  return step('run.apply', { run }, 'Put the changes of the run in place; a person decides.');
}

export function discardRun(run: string): OperationStep {
  return step('run.discard', { run }, 'Drop the changes that the run keeps.');
}

export function undoRun(run: string): OperationStep {
  return step('run.undo', { run }, 'Restore what the run changed in place; a person decides.');
}

export function listArtifacts(run: string): OperationStep {
  return step('run.artifacts', { run }, 'List the artifacts of the run.');
}

export function listQuestions(run: string): OperationStep {
  return step('run.decisions', { run }, 'List the questions of the run and their answers.');
}

export function learnTool(tool: string): OperationStep {
  return step(
    'tool.learn',
    { tool },
    'Run it once, observed, and draft its permissions; a person starts this.',
  );
}

export function describeTool(tool: string): OperationStep {
  return step('tool.describe', { tool }, 'Show the inputs of the tool and its problems.');
}

/** `name` is a tool, or `plugin:` and the name of a plugin. */
export function approve(name: string): OperationStep {
  return step('tool.approve', { tool: name }, 'Approve it; only a person at a terminal can.');
}

/** `FILE` is a placeholder for a file that only the user knows. */
export function storeSecret(name: string): OperationStep {
  return step(
    'secret.set',
    { name },
    `Store the secret ${name}: its value on standard input, or typed at a terminal.`,
  );
}

export function explainStep(about: { topic?: string; protocol_version?: number } = {}): OperationStep {
  return step('system.explain', about, 'Read how ACOR is used.');
}

function step(operation: string, input: Readonly<Record<string, unknown>>, why: string): OperationStep {
  return { operation, input, why };
}
