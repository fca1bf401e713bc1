import assert from 'node:assert/strict';
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterEach, describe, it } from 'node:test';
import { PluginProject } from '../support/plugin-project.ts';
import { type Event, parseLines, type RunOfTool, until } from '../support/project.ts';
import { atTerminal, noTerminal } from '../support/terminal.ts';

let project: PluginProject;
afterEach(() => project[Symbol.dispose]());

const TRACE = "import { appendFileSync } from 'node:fs';\nappendFileSync('trace', 'x');\n";

/** A project with approved plugins. */
function approvedProject(
  plugins: Record<string, string>,
  tools: readonly string[] = ['quick'],
): PluginProject {
  project = new PluginProject(plugins, { tools });
  project.approve(...Object.keys(plugins));
  return project;
}

const run = (...args: string[]) => project.run(args, { env: project.env });
const envelope = (...args: string[]) => project.envelope(args, { env: project.env });
const warningsOf = ({ events }: Pick<RunOfTool, 'events'>, plugin: string) =>
  events
    .filter((event) => event.type === 'runner_warning' && event.plugin === plugin)
    .map(({ msg }) => String(msg));

describe('the list of plugins', () => {
  it('has the state and the hooks of each, and the command that approves it', async () => {
    project = new PluginProject(
      {
        'one.ts': 'export default { onEvent() {}, onPreRun() {} };',
        'two.ts': 'export default {};',
        'three.ts': 'export default {};',
      },
      { tools: ['quick'] },
    );
    project.approve('one.ts', 'three.ts');
    appendFileSync(project.path('.acor/plugins/three.ts'), '// changed');
    const { data, meta } = await envelope('plugins', 'list');
    assert.deepEqual(
      data.plugins.map(({ name, state, hooks }: Event) => [name, state, hooks]),
      [
        ['one', 'approved', ['onPreRun', 'onEvent']],
        ['two', 'not_approved', null],
        ['three', 'changed', null],
      ],
    );
    assert.equal(data.plugins[0].file, project.path('.acor/plugins/one.ts'));
    assert.match(data.plugins[1].problems[0], /does not run: it is not approved/);
    assert.deepEqual(meta.next, ['acor approve plugin:two', 'acor approve plugin:three']);
  });

  it('is empty without plugins', async () => {
    project = new PluginProject({}, { tools: [] });
    assert.deepEqual((await envelope('plugins', 'list')).data, { plugins: [] });
  });
});

describe('a plugin without an approval', () => {
  it('is not loaded, and the run and the list report that once, with the command for a person', async () => {
    project = new PluginProject({ 'one.ts': `${TRACE}export default {};` }, { tools: ['quick'] });
    const ran = await run('quick');
    assert.equal(ran.end.state, 'completed');
    const [warning, ...others] = ran.events.filter((event) => event.plugin === 'one');
    assert.deepEqual(others, []);
    assert.deepEqual([warning!.code, warning!.next], ['E_APPROVAL_REQUIRED', ['acor approve plugin:one']]);

    const listed = await project.acor(['list'], { env: project.env });
    assert.equal(listed.stderr, "acor: the plugin 'one' does not run: it is not approved\n");
    assert.deepEqual(JSON.parse(listed.stdout).meta.next, ['acor approve plugin:one']);
    assert.equal(existsSync(project.path('trace')), false);

    project.approve('one.ts');
    assert.deepEqual(warningsOf(await run('quick'), 'one'), []);
    assert.equal(existsSync(project.path('trace')), true, 'approved, it runs: the trace can be left');
  });

  it('is approved by a person who types its name, and never by an agent', { skip: noTerminal }, async () => {
    project = new PluginProject({ 'one.ts': `${TRACE}export default {};` }, { tools: ['quick'] });
    const piped = await project.envelope(['approve', 'plugin:one'], {
      env: project.env,
      stdin: 'plugin:one\n',
    });
    assert.deepEqual([piped.code, piped.error.code], [2, 'E_APPROVAL_REQUIRED']);
    const { text, code } = await atTerminal(['approve', 'plugin:one'], {
      cwd: project.root,
      env: project.env,
      when: /To approve it, type its name \(plugin:one\)/,
      typed: 'plugin:one\n',
    });
    assert.equal(code, 0, text);
    assert.match(text, /runs with all your rights[\s\S]*\.acor\/plugins\/one\.ts, SHA-256/);
    assert.equal(existsSync(project.path('trace')), false, 'asking runs nothing of it');
    assert.deepEqual(warningsOf(await run('quick'), 'one'), []);

    const { data } = await envelope('approve', '--list');
    assert.deepEqual([data.approvals[0].tool, data.approvals[0].state], ['plugin:one', 'valid']);
    await envelope('approve', 'plugin:one', '--revoke');
    assert.match(warningsOf(await run('quick'), 'one')[0]!, /it is not approved/);
  });

  it('needs a new approval when a file that it imports has changed', async () => {
    project = new PluginProject(
      {
        'one.ts': `${TRACE}import { said } from './lib/words.js';\nexport default { onPreRun: () => ({ veto: said }) };`,
      },
      { tools: ['quick'] },
    );
    const words = project.write('.acor/plugins/lib/words.ts', "export const said: string = 'first';");
    project.approve('one.ts');
    const { error } = await envelope('run', 'quick');
    assert.equal(error.details.reason, 'first');
    writeFileSync(words, "export const said: string = 'second';");
    const ran = await run('quick');
    assert.match(
      warningsOf(ran, 'one').join(),
      /no longer holds, because \.acor\/plugins\/lib\/words\.ts changed/,
    );
    const { data } = await envelope('approve', '--list');
    assert.deepEqual(
      [data.approvals[0].state, data.approvals[0].changed],
      ['stale', ['.acor/plugins/lib/words.ts']],
    );
    const { data: healthy } = await envelope('health');
    const check = healthy.checks.find(({ name }: { name: string }) => name === 'plugin.one');
    assert.deepEqual([check.status, check.fix], ['degraded', 'acor approve plugin:one']);
  });

  it('may be approved by the policy of the user', async () => {
    project = new PluginProject(
      { 'one.ts': "export default { onPreRun: () => ({ veto: 'no' }) };" },
      { tools: ['quick'] },
    );
    const { error } = await envelope('approve', 'plugin:one');
    project.write(
      'config/acor/policy.yaml',
      `version: 1\napproved: [{ tool: 'plugin:one', digest: ${error.details.digest} }]\n`,
    );
    const env = { ...project.env, XDG_CONFIG_HOME: project.path('config') };
    const refused = await project.envelope(['run', 'quick'], { env });
    assert.equal(refused.error.details.reason, 'no');
  });
});

describe('files outside the approval cannot be loaded:', () => {
  const loading = (specifier: string) => `export default { async onPreRun() {
    return { veto: (await import(${specifier})).default };
  } };`;

  it('a file that is imported by a computed path', async () => {
    approvedProject({
      'computed.js': loading("'./lib/' + 'other.js'"),
      // The control: with a literal path the file is one of the plugin's files.
      'literal.js': loading("'./lib/third.js'"),
    });
    project.write('.acor/plugins/lib/other.js', "export default 'harm';");
    project.write('.acor/plugins/lib/third.js', "export default 'fine';");
    project.approve('literal.js');
    const { error } = await envelope('run', 'quick');
    assert.deepEqual(error.details, { plugin: 'literal', reason: 'fine' });
    project.write('.acor/config.yaml', 'version: 1\nplugins: [.acor/plugins/computed.js]\n');
    assert.match(warningsOf(await run('quick'), 'computed').join(), /threw ".*other\.js.*" in onPreRun/);
  });

  it('a package of the project', async () => {
    project = new PluginProject(
      { 'one.js': "import word from 'helper';\nexport default { onPreRun: () => ({ veto: word }) };" },
      { tools: ['quick'] },
    );
    project.write('node_modules/helper/index.js', "export default 'harm';");
    project.write('node_modules/helper/package.json', '{"name":"helper","type":"module"}');
    const { error } = await envelope('approve', 'plugin:one');
    assert.match(error.message, /one\.js imports 'helper'; a plugin may only import its own files/);
    const ran = await run('quick');
    assert.match(warningsOf(ran, 'one').join(), /cannot be read, and does not run/);
    assert.equal(ran.end.state, 'completed');
  });
});

describe('the hooks of a plugin', () => {
  it('onDiscovery hides tools and adds notes', async () => {
    approvedProject(
      {
        'shelf.ts': `import type { Plugin } from 'acor';
          const shelf: Plugin = {
            onDiscovery: (tools) => tools.filter(({ name }) => name !== 'waits').map(({ name }) => ({ name, note: 'kept' })),
          };
          export default shelf;`,
      },
      ['quick', 'waits'],
    );
    const { data } = await envelope('list');
    assert.deepEqual(
      data.tools.map(({ name, notes }: { name: string; notes: string[] }) => [name, notes]),
      [['quick', ['shelf: kept']]],
    );
    const { error } = await envelope('run', 'waits');
    assert.deepEqual([error.code, error.hint], ['E_TOOL_NOT_FOUND', "The plugin 'shelf' hides it."]);
    assert.deepEqual((await envelope('describe', 'quick')).data.notes, ['shelf: kept']);
  });

  it('onDiscovery cannot invent or change tools', async () => {
    approvedProject({
      'a.js': "export default { onDiscovery: (tools) => [...tools, { name: 'new', level: 'privileged' }] };",
      'b.js': `export default { onDiscovery(tools) {
        for (const tool of tools) { tool.level = 'privileged'; tool.path = '/bin/false'; }
        return tools;
      } };`,
    });
    const { data } = await envelope('list');
    assert.deepEqual(
      data.tools.map(({ name, level }: { name: string; level: string }) => [name, level]),
      [['quick', 'minimal']],
    );
    const ran = await run('quick');
    assert.equal(ran.end.state, 'completed');
    assert.match(warningsOf(ran, 'a').join(), /returned an unknown tool from onDiscovery: 'new'/);
  });

  it('onPreRun rejects a run before anything of it exists, also in a dry run', async () => {
    approvedProject({
      'sober.js':
        "export default { onPreRun: ({ args }) => (args[0] === 'bad' ? { veto: 'not today' } : undefined) };",
    });
    for (const flags of [[], ['--dry-run']]) {
      const { code, error } = await envelope('run', ...flags, 'quick', 'bad');
      assert.deepEqual([code, error.code], [2, 'E_POLICY_DENIED']);
      assert.deepEqual(error.details, { plugin: 'sober', reason: 'not today' });
    }
    assert.deepEqual(project.runIds(), []);
    assert.equal((await run('quick', 'good')).end.state, 'completed');
  });

  it('onPreRun lowers limits, and cannot raise them', async () => {
    approvedProject({
      'tight.js': `export default { onPreRun(plan) {
        plan.max_attempts = 50;
        plan.args.push('more');
        return { limits: { timeout_s: 7, max_output_size: 1e12, max_attempts: 40 } };
      } };`,
    });
    const { data } = await envelope('run', '--dry-run', 'quick');
    assert.deepEqual(
      [data.limits.timeout_s, data.limits.max_output_size, data.retry.max_attempts],
      [7, 30000000, 1],
    );
    assert.deepEqual(data.lowered, [
      { what: 'timeout_s', asked: 1800, allowed: 7, by: "the plugin 'tight'" },
    ]);
    const ran = await run('quick');
    assert.deepEqual([ran.events[0]!.timeout_s, ran.events[0]!.args], [7, []]);
    assert.ok(
      ran.of('runner_warning').some(({ msg }) => msg === "the plugin 'tight' allows timeout_s 7, not 1800"),
    );
  });

  it('onPreRun gets no secret', async () => {
    approvedProject({
      'nosy.js': 'export default { onPreRun: (plan) => ({ veto: JSON.stringify(plan) }) };',
    });
    project.write('tools/login/cli.sh', '#!/bin/bash\n', 0o755);
    project.write(
      'tools/login/tool.yaml',
      'name: login\nversion: 1.0.0\ninputs:\n  - { name: user }\n  - { name: key, secret: true }\n',
    );
    const { error } = await envelope('run', 'login', '--user', 'ann-at-home', '--key', 'horse-battery');
    assert.match(error.details.reason, /ann-at-home/);
    assert.doesNotMatch(JSON.stringify(error), /horse-battery/);
  });

  it('onEvent gets every event of a run as it is stored, to the end', async () => {
    approvedProject(
      {
        'scribe.ts': `import { appendFileSync } from 'node:fs';
          export default {
            onEvent: (event: object) => appendFileSync('seen.jsonl', JSON.stringify(event) + '\\n'),
          };`,
      },
      ['many_events'],
    );
    const ran = await run('many_events', '50');
    const seen = parseLines(readFileSync(project.path('seen.jsonl'), 'utf8'));
    assert.deepEqual(seen, project.events(String(ran.end.run_id)));
    assert.equal(seen.at(-1)!.type, 'runner_end');
  });

  it('a language runs its tools, with arguments, in the sandbox', async () => {
    approvedProject(
      {
        'pearls.js': `export default { languages: [{
          name: 'perl', extensions: ['.pl'],
          detect: (file) => file.interpreter === 'perl',
          runtime: ({ findProgram }) => findProgram('perl'),
          command: (runtime, { entry }) => ({ argv: [runtime, entry], env: { PEARL: 'white' } }),
        }] };`,
      },
      [],
    );
    const say =
      'print "{\\"type\\":\\"result\\",\\"status\\":\\"ok\\",\\"said\\":\\"$ENV{PEARL} @ARGV\\"}\\n";';
    project.write('tools/by_name/cli.pl', say);
    project.write('tools/by_line/cli', `#!/usr/bin/env perl\n${say}`, 0o755);
    project.write('tools/by_word/main.txt', say);
    project.write(
      'tools/by_word/tool.yaml',
      'name: by_word\nversion: 1.0.0\nentry: main.txt\nlanguage: perl\n',
    );
    for (const tool of ['by_name', 'by_line', 'by_word']) {
      const ran = await run(tool, 'a', 'b');
      assert.equal(ran.of('result')[0]?.said, 'white a b', JSON.stringify(ran.events));
    }
    const { data } = await envelope('validate');
    assert.equal(data.errors, 0, JSON.stringify(data.findings));
    await envelope('approve', 'plugin:pearls', '--revoke');
    const { error, meta } = await envelope('run', 'by_word');
    assert.equal(error.code, 'E_MANIFEST_INVALID');
    assert.ok(meta.next.includes('acor approve plugin:pearls'));
  });

  it('a language cannot replace one of ACOR, and reports what is missing', async () => {
    approvedProject(
      {
        'odd.js': `const steps = { detect: () => true, runtime: () => null, command: () => ({ argv: ['sh'] }) };
          export default { languages: [{ name: 'bash', extensions: ['.sh'], ...steps }, { name: 'klingon', extensions: ['.kl'], ...steps }] };`,
      },
      ['quick'],
    );
    project.write('tools/tlh/cli.kl', 'nuqneH');
    const ran = await run('quick');
    assert.equal(ran.end.state, 'completed');
    assert.match(warningsOf(ran, 'odd').join(), /brings a language 'bash', which there is already/);
    const { error } = await envelope('run', 'tlh');
    assert.deepEqual([error.code, error.details.plugin], ['E_RUNTIME_MISSING', 'odd']);
  });
});

describe('a faulty plugin', () => {
  /** Records all events of the run, whatever the other plugin does. */
  const WITNESS = `import { appendFileSync } from 'node:fs';
    export default { onEvent: ({ type }) => appendFileSync('witness', type + ' ') };`;

  function assertWitnessed({ events }: { events: readonly Event[] }): void {
    const seen = readFileSync(project.path('witness'), 'utf8').trim().split(' ');
    assert.deepEqual(
      seen,
      events.map(({ type }) => type),
    );
  }

  const CASES: Readonly<Record<string, [text: string, warnings: RegExp[]]>> = {
    'throws in every hook': [
      `const boom = () => { throw new Error('boom'); };
       export default { onDiscovery: boom, onPreRun: boom, onEvent: async () => boom() };`,
      [
        /'bad' threw "boom" in onDiscovery/,
        /'bad' threw "boom" in onPreRun/,
        /'bad' threw "boom" in onEvent/,
      ],
    ],
    'ends its process': [
      'export default { onEvent() { process.exit(7); } };',
      [/'bad' ended its process \(exit code 7\) in onEvent/],
    ],
    'cannot be loaded': ["throw new Error('no');", [/'bad' cannot be loaded: it threw "no"/]],
    'has several syntax errors': [
      'export default {\n  onPreRun( { return 1 }\n};\n',
      [/'bad' cannot be loaded: it threw "bad\.js:2:22: Expected /],
    ],
    'has one syntax error': [
      'export default {\n  onPreRun() { return 1 }\n',
      [/'bad' cannot be loaded: it threw "bad\.js:2:26: Expected /],
    ],
    'exports no plugin': [
      'export default { onPrerun() {} };',
      [/unknown key 'onPrerun'; valid keys: onDiscovery/],
    ],
    'returns unusable values': [
      "export default { onDiscovery: () => 5, onPreRun: () => ({ limits: { timeout_s: 'long' } }) };",
      [/returned no list from onDiscovery/, /returned neither \{ veto/],
    ],
    'returns what only the hook of another system could': [
      'export default { onPreRun: ({ tool, args }) => ({ tool, args }) };',
      [/returned neither \{ veto/],
    ],
    'prints, and closes what it is spoken to by': [
      "import { closeSync } from 'node:fs';\nconsole.log('{}'); export default { onEvent() { closeSync(0); closeSync(3); } };",
      [/'bad' .*onEvent/],
    ],
  };
  for (const [what, [text, warnings]] of Object.entries(CASES)) {
    it(`does not break a run or another plugin when it ${what}`, async () => {
      approvedProject({ 'bad.js': text, 'witness.js': WITNESS });
      const ran = await run('quick');
      assert.equal(ran.end.state, 'completed');
      for (const [index, pattern] of warnings.entries())
        assert.match(warningsOf(ran, 'bad')[index] ?? '', pattern);
      assertWitnessed(ran);
    });
  }

  it('does not break a run when it loops for ever, and is killed', async () => {
    approvedProject({
      'bad.js':
        "import { writeFileSync } from 'node:fs';\nexport default { onPreRun() { writeFileSync('pid', String(process.pid)); for (;;); } };",
      'witness.js': WITNESS,
    });
    const ran = await run('quick');
    assert.equal(ran.end.state, 'completed');
    assert.match(warningsOf(ran, 'bad').join(), /took more than 5 s in onPreRun, and was ended/);
    assertWitnessed(ran);
    assert.equal(isAlive(pidIn('pid')), false);
  });

  it('misses events when it is too slow, and the run reports how many', async () => {
    approvedProject({ 'slow.js': 'export default { onEvent: () => new Promise(() => {}) };' });
    project.write('tools/flood/cli.sh', FLOOD, 0o755);
    const ran = await run('flood');
    assert.equal(ran.end.state, 'completed');
    const [warning] = ran.of('runner_warning').filter(({ plugin }) => plugin === 'slow');
    assert.match(String(warning!.msg), /could not keep up: \d+ events? did not reach its onEvent/);
    // All but the first and the last three: the warning, the change of state and the end.
    assert.equal(warning!.missed, ran.events.length - 4);
  });

  for (const [what, wait] of [
    ['is busy until the run reports it', WAIT_FOR_WARNING],
    ['needs 5 ms for each', 'await new Promise((resolve) => setTimeout(resolve, 5));'],
  ] as const) {
    it(`gets the end, and each event that is not counted as missed, when it ${what}`, async () => {
      approvedProject({
        'slow.js': `import { appendFileSync, readFileSync } from 'node:fs';
          export default { async onEvent(event) {
            appendFileSync('seen.jsonl', JSON.stringify(event) + '\\n');
            ${wait}
          } };`,
      });
      project.write('tools/flood/cli.sh', FLOOD, 0o755);
      const ran = await run('flood');
      const [warning] = ran.of('runner_warning').filter(({ plugin }) => plugin === 'slow');
      const seen = parseLines(readFileSync(project.path('seen.jsonl'), 'utf8'));
      assert.equal(seen.at(-1)!.type, 'runner_end');
      assert.equal(seen.length + Number(warning!.missed), ran.events.length);
    });
  }

  it('is killed with its supervisor', async () => {
    approvedProject(
      {
        'bad.js':
          "import { writeFileSync } from 'node:fs';\nexport default { onEvent() { writeFileSync('pid', String(process.pid)); for (;;); } };",
      },
      ['waits'],
    );
    const running = project.start(['run', 'waits'], { env: project.env });
    await running.event('runner_state');
    await until(() => existsSync(project.path('pid')) && pidIn('pid') > 0);
    const pid = pidIn('pid');
    assert.equal(isAlive(pid), true);
    running.child.kill('SIGKILL');
    await running.finished;
    await until(() => !isAlive(pid));
  });
});

const WAIT_FOR_WARNING = `
  const log = '.runs/' + event.run_id + '/events.jsonl';
  while (!readFileSync(log, 'utf8').includes('could not keep up')) await new Promise((resolve) => setTimeout(resolve, 10));`;

const FLOOD = `#!/bin/bash
i=0
while [ $i -lt 3000 ]; do echo '{"type":"log","level":"info","msg":"x"}'; i=$((i + 1)); done
echo '{"type":"result","status":"ok"}'
`;

it('two plugins of one name, and a file that is not a module, are errors of the configuration', async () => {
  project = new PluginProject({ 'one.ts': '', 'one.js': '', 'notes.txt': '' });
  const { error } = await envelope('list');
  assert.equal(error.code, 'E_CONFIG_INVALID');
  assert.match(JSON.stringify(error), /two plugins are called 'one'/);
  assert.match(JSON.stringify(error), /notes\.txt/);
});

it('a missing plugin is reported, and health has the fix', async () => {
  project = new PluginProject({}, { tools: ['quick'] });
  project.write('.acor/config.yaml', 'version: 1\nplugins: [gone.ts]\n');
  const ran = await run('quick');
  assert.match(warningsOf(ran, 'gone').join(), /cannot be read, and does not run: there is no file/);
  const { data } = await envelope('health');
  const check = data.checks.find(({ name }: { name: string }) => name === 'plugin.gone');
  assert.equal(check.status, 'degraded');
  assert.match(check.fix, /remove it from 'plugins'/);
});

function pidIn(file: string): number {
  return Number(readFileSync(project.path(file), 'utf8'));
}

function isAlive(pid: number): boolean {
  return readdirSync('/proc').includes(String(pid)) && !/^\d+ \(.*\) [ZX]/s.test(statOf(pid));
}

function statOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return `${pid} () X`;
  }
}
