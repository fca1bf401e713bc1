import type { NextStep } from '../protocol/next-steps.ts';

type Input = Readonly<Record<string, unknown>>;
/** Makes the step that was meant from the words behind the first ones. */
type Meant = (words: readonly string[]) => NextStep | undefined;

/** As ids are, so that a tool called `r-x` is not taken for one. */
const RUN_ID = /^r-[0-9a-z]{16}$/;

const LANGUAGES: readonly string[] = ['python', 'bash', 'node', 'typescript', 'go', 'rust'];

/** What people of other programs type, one or two words, and what they mean. Words that are commands of ACOR are not in it. */
const NEAR: Readonly<Record<string, Meant>> = {
  ...named(['last', 'result', 'output', 'open', 'why', 'debug'], ofRun('run.show')),
  ...named(['tail', 'follow'], ofRun('run.logs', { follow: true })),
  ...named(['events', 'trace'], ofRun('run.logs')),
  ...named(['abort', 'terminate', 'end', 'stop run'], ofRun('run.cancel')),
  ...named(['continue', 'restart'], ofRun('run.resume')),
  ...named(['again', 'rerun', 'repeat', 'redo'], ofRun('run.retry')),
  ...named(['files', 'outputs', 'download'], ofRun('run.artifacts')),
  ...named(['delete', 'remove', 'runs delete', 'runs remove'], ([run]) =>
    run !== undefined && isRun(run) ? step('run.remove', { run }) : undefined,
  ),
  ...named(['info', 'inspect', 'get'], ([name]) => {
    if (name === undefined || isRun(name)) return step('run.show', { run: name ?? 'last' });
    return step('tool.describe', { tool: name });
  }),
  ...named(
    ['jobs', 'history', 'top', 'runs ls', 'runs list', 'runs show', 'list runs', 'run list'],
    always('run.list'),
  ),
  ...named(['questions', 'inbox', 'pending', 'asks'], always('run.list', { state: 'waiting_ai' })),
  ...named(['prune', 'gc', 'cleanup', 'purge'], always('run.clean', { keep: 20, dry_run: true })),
  ...named(['list tools', 'list tool', 'tool list', 'tool ls'], always('tool.list')),
  ...named(['create', 'scaffold', 'generate', 'template', 'new'], template),
  ...named(['add', 'install', 'wrap', 'import'], ([program]) =>
    step('tool.adopt', { program: program ?? 'jq' }),
  ),
  // Who types it may mean the program, so it changes no project.
  ...named(['update'], always('project.upgrade', { dry_run: true })),
  ...named(['check', 'lint'], ([tool]) =>
    step('project.validate', tool === undefined ? {} : { targets: [tool] }),
  ),
  ...named(['test', 'selftest'], ([tool]) =>
    step('project.validate', { ...(tool !== undefined && { targets: [tool] }), selftest: true }),
  ),
  ...named(['fix', 'repair'], always('project.validate', { fix: true, dry_run: true })),
  ...starting(['call', 'invoke', 'execute', 'use']),
  ...starting(['dry-run', 'plan', 'preview'], { dry_run: true }),
  ...named(['env', 'settings', 'config list', 'config ls', 'config edit'], always('config.show')),
  ...named(['get config', 'config get'], ([key]) => step('config.show', key === undefined ? {} : { key })),
  ...named(['set', 'set config'], ([key, value]) =>
    key === undefined || value === undefined ? undefined : step('config.set', { key, value }),
  ),
  ...named(['schedules', 'cron', 'timers', 'schedule ls', 'watches'], always('schedule.list')),
  ...named(['graph', 'draw'], ([workflow]) => workflow && step('workflow.graph', { workflow })),
  ...named(['flows', 'flow list', 'workflows', 'workflow ls', 'list workflows'], always('workflow.list')),
  ...named(
    ['workflow show', 'workflow draw'],
    ([workflow]) => workflow && step('workflow.graph', { workflow }),
  ),
  ...named(
    ['workflow start', 'workflow exec'],
    ([workflow]) => workflow && step('workflow.run', { workflow }),
  ),
  ...named(['workflow new', 'workflow create', 'workflow template'], ([name]) =>
    step('workflow.template', name === undefined ? {} : { name }),
  ),
  ...named(['workflow check', 'workflow lint'], always('workflow.validate')),
  ...named(['secret ls', 'secrets', 'secrets list', 'login', 'auth'], always('secret.list')),
  ...named(['secret add', 'secret put', 'secrets set'], ([name]) => name && step('secret.set', { name })),
  ...named(
    ['secret rm', 'secret remove', 'secrets delete'],
    ([name]) => name && step('secret.delete', { name }),
  ),
  ...named(['completion', 'completions', 'autocomplete'], ([shell]) =>
    step('system.complete', { shell: shell ?? 'bash' }),
  ),
  ...named(['error', 'codes', 'code'], ([code]) => step('system.errors', code === undefined ? {} : { code })),
  ...named(['explain'], ([word]) => word && explained(word)),
  ...named(['docs', 'manual', 'guide', 'tutorial', 'readme'], always('system.explain')),
  ...named(['dashboard', 'ui', 'web', 'server'], always('http.serve')),
  ...named(['plugins ls', 'plugin list', 'plugin'], always('plugin.list')),
};

/** The command that these words probably mean; undefined when they are not of the table. */
export function nearCommand([first = '', ...rest]: readonly string[]): NextStep | undefined {
  const two = `${first} ${rest[0] ?? ''}`;
  if (Object.hasOwn(NEAR, two)) return NEAR[two]!(rest.slice(1)) || undefined;
  return Object.hasOwn(NEAR, first) ? NEAR[first]!(rest) || undefined : undefined;
}

/** `meant` gets the words in front of the first flag, which belongs to a command of another program and may have a value. */
function named(words: readonly string[], meant: (words: readonly string[]) => NextStep | '' | undefined) {
  const withoutFlags = (rest: readonly string[]) => {
    const flag = rest.findIndex((word) => word.startsWith('-'));
    return meant(flag === -1 ? rest : rest.slice(0, flag)) || undefined;
  };
  return Object.fromEntries(words.map((each) => [each, withoutFlags]));
}

/** The words start a tool, so the flags behind its name are its own. */
function starting(words: readonly string[], input: Input = {}) {
  const meant = ([tool, ...args]: readonly string[]) =>
    tool === undefined || tool.startsWith('-') ? undefined : step('run.start', { tool, ...input, args });
  return Object.fromEntries(words.map((each) => [each, meant]));
}

function always(operation: string, input: Input = {}): Meant {
  return () => step(operation, input);
}

function ofRun(operation: string, input: Input = {}): Meant {
  return ([run = 'last']) => step(operation, { run, ...input });
}

/** `create python`, `create mine`, and both words in either order. */
function template(words: readonly string[]): NextStep {
  const name = words.find((word) => !LANGUAGES.includes(word) && word !== 'tool');
  const language = words.find((word) => LANGUAGES.includes(word)) ?? 'python';
  return step('project.template', { language, ...(name !== undefined && { name }) });
}

function explained(word: string): NextStep {
  if (/^E_/.test(word)) return step('system.errors', { code: word });
  if (isRun(word)) return step('run.show', { run: word });
  return step('system.explain', { topic: `tool:${word}` });
}

function isRun(word: string): boolean {
  return word === 'last' || RUN_ID.test(word);
}

function step(operation: string, input: Input): NextStep {
  return { operation, input, why: 'Run the command that was probably meant.' };
}
