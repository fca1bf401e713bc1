import type { NextStep } from '../compose/next-step.ts';
import { type CommandForm, writeCommand } from '../compose/write-command.ts';

/** How each operation is called on the command line, by its name. Apart from the operations, so that writing a command loads none of them. */
const FORMS = {
  'agents.check': { command: 'agents check' },
  'agents.hook': { command: 'hook', positionals: ['event'] },
  'agents.plugin': { command: 'agents plugin' },
  'agents.remove': { command: 'agents remove' },
  'compose.audit': { command: 'compose audit', positionals: ['target'] },
  'compose.call': { command: 'compose call', positionals: ['program'], passthrough: 'args' },
  'compose.codemod': { command: 'compose codemod', positionals: ['source'] },
  'compose.migrate': { command: 'compose migrate', positionals: ['program'] },
  'compose.plan': { command: 'compose plan', positionals: ['program'] },
  'config.set': { command: 'config set', positionals: ['key', 'value'] },
  'config.show': { command: 'config show', positionals: ['key'] },
  'config.unset': { command: 'config unset', positionals: ['key'] },
  'host.serve': { command: 'host serve' },
  'host.show': { command: 'host' },
  'host.stop': { command: 'host stop' },
  'http.serve': { command: 'serve' },
  'mcp.serve': { command: 'mcp' },
  'outbox.deliver': { command: 'outbox' },
  'plugin.host': { command: 'plugin-host' },
  'plugin.list': { command: 'plugins list' },
  'policy.check': { command: 'policy check', positionals: ['tool'], passthrough: 'args' },
  'project.init': { command: 'init' },
  'project.template': { command: 'template', positionals: ['language'] },
  'project.trust': { command: 'trust' },
  'project.upgrade': { command: 'upgrade' },
  'project.validate': { command: 'validate', positionals: ['targets'] },
  'run.answer': { command: 'answer', positionals: ['run', 'action_id'] },
  'run.apply': { command: 'apply', positionals: ['run', 'paths'] },
  'run.artifact': { command: 'artifact', positionals: ['run', 'artifact'] },
  'run.artifacts': { command: 'artifacts', positionals: ['run'] },
  'run.attach': { command: 'attach', positionals: ['run'] },
  'run.cancel': { command: 'cancel', positionals: ['run'] },
  'run.clean': { command: 'clean' },
  'run.cost': { command: 'cost' },
  'run.decisions': { command: 'decisions', positionals: ['run'] },
  'run.diff': { command: 'diff', positionals: ['run'] },
  'run.discard': { command: 'discard', positionals: ['run'] },
  'run.exec': { command: 'exec', positionals: ['program'], passthrough: 'args' },
  'run.insights': { command: 'insights' },
  'run.list': { command: 'runs' },
  'run.logs': { command: 'logs', positionals: ['run'] },
  'run.remove': { command: 'runs rm', positionals: ['run', 'more'] },
  'run.replay': { command: 'replay', positionals: ['run'] },
  'run.resume': { command: 'resume', positionals: ['run'] },
  'run.retry': { command: 'retry', positionals: ['run'] },
  'run.show': { command: 'show', positionals: ['run'] },
  'run.start': { command: 'run', positionals: ['tool'], passthrough: 'args' },
  'run.supervise': { command: 'supervise' },
  'run.undo': { command: 'undo', positionals: ['run', 'paths'] },
  'run.verify': { command: 'verify', positionals: ['run'] },
  'run.wait': { command: 'wait', positionals: ['run'] },
  'schedule.add': { command: 'schedule add', positionals: ['tool'], passthrough: 'args' },
  'schedule.list': { command: 'schedule list' },
  'schedule.pause': { command: 'schedule pause', positionals: ['name'] },
  'schedule.remove': { command: 'schedule rm', positionals: ['name'] },
  'schedule.resume': { command: 'schedule resume', positionals: ['name'] },
  'schedule.show': { command: 'schedule show', positionals: ['name'] },
  'schedule.watch': { command: 'watch', positionals: ['tool'], passthrough: 'args' },
  'secret.delete': { command: 'secret delete', positionals: ['name'] },
  'secret.list': { command: 'secret list' },
  'secret.set': { command: 'secret set', positionals: ['name'] },
  'system.complete': { command: 'complete', positionals: ['shell'] },
  'system.complete-words': { command: 'complete-words', positionals: ['words'] },
  'system.errors': { command: 'errors', positionals: ['code'] },
  'system.explain': { command: 'explain' },
  'system.health': { command: 'health' },
  'system.man': { command: 'man' },
  'system.metrics': { command: 'metrics' },
  'system.self-test': { command: 'self-test' },
  'system.tools': { command: 'tools', positionals: ['name'] },
  'system.version': { command: 'version' },
  'task.run': { command: 'task', positionals: ['task_id', 'description', 'plan'] },
  'tool.adopt': { command: 'adopt', positionals: ['program', 'subcommand'] },
  'tool.approve': { command: 'approve', positionals: ['tool'] },
  'tool.describe': { command: 'describe', positionals: ['tool'] },
  'tool.learn': { command: 'learn', positionals: ['tool'], passthrough: 'args' },
  'tool.list': { command: 'list' },
  'workflow.graph': { command: 'workflow graph', positionals: ['workflow'] },
  'workflow.list': { command: 'workflow list' },
  'workflow.pipe': { command: 'pipe', positionals: ['stages'] },
  'workflow.resume': { command: 'workflow resume', positionals: ['run'] },
  'workflow.run': { command: 'workflow run', positionals: ['workflow'], passthrough: 'args' },
  'workflow.template': { command: 'workflow template' },
  'workflow.validate': { command: 'workflow validate', positionals: ['workflows'] },
} as const satisfies Record<string, Omit<CommandForm, 'operation'>>;

export type OperationName = keyof typeof FORMS;

/** They serve until their clients leave: only a command can start them. */
export const SERVERS: readonly OperationName[] = ['http.serve', 'mcp.serve'];

let all: readonly CommandForm[] | undefined;

/** Made late: most calls need the form of one operation. */
function allForms(): readonly CommandForm[] {
  all ??= (Object.keys(FORMS) as OperationName[]).map(formOf);
  return all;
}

/** The words of every command. */
export function allCommands(): string[] {
  return allForms().map(({ command }) => command);
}

/** The operation of a name, or of the words that call it on the command line. */
export function operationOf(word: string): OperationName | undefined {
  const form = allForms().find(({ operation, command }) => operation === word || command === word);
  return form?.operation as OperationName | undefined;
}

/** How an operation is called on the command line. */
export function formOf(operation: OperationName): CommandForm {
  return { operation, ...FORMS[operation] };
}

/** The form of the command with which a command line begins, without the program. */
export function formOfCommand(words: readonly string[]): CommandForm | undefined {
  const begins = ({ command }: CommandForm) => command.split(' ').every((word, at) => word === words[at]);
  return allForms()
    .filter(begins)
    .sort((a, b) => b.command.length - a.command.length)[0];
}

/** Writes a next step as the exact command that does it. */
export function commandOf(step: NextStep): string {
  return writeCommand('acor', allForms(), step);
}

/** Writes a step as the command of one caller: `AcorApp.commandOf` has the `--cwd` of the caller's command line. */
export type WriteCommand = (step: NextStep) => string;

/** Writes a fix as one text for data: the words, if any, then the commands. */
export function fixText(
  { fix, next = [] }: { fix: string | null; next?: readonly NextStep[] },
  commandOf: WriteCommand,
): string {
  const commands = next
    .map(commandOf)
    .filter((command) => !fix?.includes(command))
    .join('; ');
  if (fix === null || commands === '') return fix ?? commands;
  return `${fix.replace(/\.$/, '')}: ${commands}`;
}
