import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parse } from 'yaml';
import { allCommands } from '../../src/operations/command-forms.ts';
import { estimateTokens } from '../../src/util/estimate-tokens.ts';
import { TestProject } from '../support/project.ts';

const ALL = 'claude,codex,gemini,cursor,vscode,opencode';

/** The keys of the Agent Skills specification; clients of Agent Plugins ignore a skill that has others. */
const SKILL_KEYS = ['name', 'description', 'license', 'compatibility', 'metadata', 'allowed-tools'];

describe('acor init --agents', () => {
  let around: TestProject;
  let folder: string;
  let count = 0;
  before(() => {
    around = new TestProject();
    rmSync(around.path('.acor'), { recursive: true });
  });
  after(() => around[Symbol.dispose]());

  function project(files: Readonly<Record<string, string>> = {}): void {
    folder = around.path(`p${++count}`);
    mkdirSync(folder);
    for (const [path, text] of Object.entries({ 'tools/t.sh': '#!/bin/sh\n', ...files }))
      around.write(join(`p${count}`, path), text);
  }
  const init = (...args: string[]) => around.envelope(['init', '--agents', ...args], { cwd: folder });
  const check = () => around.envelope(['agents', 'check'], { cwd: folder });
  const read = (path: string) => readFileSync(join(folder, path), 'utf8');
  const write = (path: string, text: string) => around.write(join(basename(folder), path), text);
  type Row = { path: string; action?: string; state?: string; fix?: string; why?: string };
  const rowOf = (files: Row[], path: string) => files.find((file) => file.path === path)!;
  /** The files that `agents check` reports, with a state other than `current`. */
  async function faults(): Promise<Record<string, string>> {
    const { data, error } = await check();
    const files: Row[] = (data ?? error.details).files;
    return Object.fromEntries(
      files.flatMap(({ path, state }) => (state === 'current' ? [] : [[path, state!]])),
    );
  }

  it('writes files that `agents check` accepts, and changes nothing the second time', async () => {
    project();
    const { data, meta } = await init(ALL);
    assert.ok(data.files.every(({ action }: Row) => action === 'create'));
    assert.ok(meta.next.includes('acor agents check'));
    const before = treeOf(folder);
    const checked = await check();
    assert.deepEqual([checked.code, checked.data.agents], [0, ALL.split(',')]);
    assert.ok(checked.data.files.length > 8);
    assert.deepEqual(await faults(), {});
    const again = await init(ALL);
    assert.equal(again.data.changed, 0);
    assert.deepEqual(treeOf(folder), before);
  });

  it('writes only the files of the given agents, and later those of other agents beside them', async () => {
    project();
    await init('codex');
    assert.deepEqual(
      [existsSync(join(folder, '.claude')), existsSync(join(folder, '.gemini'))],
      [false, false],
    );
    rmSync(join(folder, '.codex/hooks.json'));
    await init('gemini');
    assert.deepEqual(await faults(), { '.codex/hooks.json': 'missing' });
    const { error } = await check();
    assert.deepEqual(error.details.agents, ['codex', 'gemini']);
  });

  it('rejects an unknown agent before it writes anything', async () => {
    project();
    const { code, error } = await init('claude,emacs');
    assert.deepEqual([code, error.code, existsSync(join(folder, '.acor'))], [1, 'E_USAGE', false]);
    assert.match(error.message, /emacs/);
  });

  it('writes only the files of the agents with --agents-only, also where there is no project', async () => {
    folder = around.path(`p${++count}`);
    mkdirSync(folder);
    const { data } = await init('claude', '--agents-only');
    const paths = data.files.map(({ path }: Row) => path);
    assert.deepEqual(
      treeOf(folder).map((file) => file.split('\n', 1)[0]),
      [...paths].sort(),
    );
    assert.ok(
      paths.every((path: string) => /^\.(claude|mcp|acor\/agents)/.test(path)),
      paths.join(),
    );
    const alone = await around.envelope(['init', '--agents-only'], { cwd: folder });
    assert.deepEqual([alone.error.code, alone.error.message.includes('--agents')], ['E_USAGE', true]);
  });

  it('takes out exactly what it wrote, and keeps what a person changed', async () => {
    project({
      '.claude/settings.json': '{\n    // mine\n    "model": "opus"\n}\n',
      '.mcp.json': '{"mcpServers":{"other":{"command":"x"}}}',
      '.codex/config.toml': 'model = "m"\n',
      'AGENTS.md': '# Mine\n',
      '.gemini/settings.json': '{ "mcpServers": { "acor": { "command": "their-own" } } }',
      '.cursor/mcp.json': '{\n\t"mcpServers": {\n\t\t"other": { "command": "x" }, // mine\n\t}\n}\n',
      '.vscode/mcp.json':
        '{ "inputs": [], "servers": { "acor": { "type": "stdio", "command": "their-own" } } }',
      'opencode.json':
        '{ "$schema": "https://opencode.ai/config.json", "mcp": { "acor": { "type": "local", "command": ["their-own"] } } }',
    });
    const remove = (...args: string[]) => around.envelope(['agents', 'remove', ...args], { cwd: folder });
    await around.envelope(['init'], { cwd: folder });
    const before = treeOf(folder);
    await init(ALL);
    assert.deepEqual(await faults(), {
      '.gemini/settings.json': 'foreign',
      '.vscode/mcp.json': 'foreign',
      'opencode.json': 'foreign',
    });
    const written = treeOf(folder);
    const planned = await remove('--dry-run');
    assert.equal(rowOf(planned.data.files, '.codex/hooks.json').action, 'remove');
    assert.deepEqual(treeOf(folder), written);
    await remove();
    assert.deepEqual(treeOf(folder), before);
    assert.deepEqual((await remove()).data.files, []);
    await init('claude');
    write('.claude/commands/run-tool.md', 'mine now\n');
    const { data } = await remove();
    assert.equal(rowOf(data.files, '.claude/commands/run-tool.md').action, 'keep');
    assert.equal(read('.claude/commands/run-tool.md'), 'mine now\n');
  });

  it('takes out what it wrote from files of a person on one line, on several, and without an end of the last line', async () => {
    const mine = [{ matcher: 'Bash', hooks: [{ type: 'command', command: 'mine' }] }];
    const hooksOf = (event: string, indent: number) =>
      JSON.stringify({ hooks: { [event]: mine } }, null, indent);
    for (const indent of [0, 2]) {
      project({
        '.claude/settings.json': hooksOf('PreToolUse', indent),
        '.codex/hooks.json': hooksOf('PreToolUse', indent),
        '.gemini/settings.json': `${hooksOf('BeforeTool', indent)}\n`,
        '.codex/config.toml': 'model = "m"',
        'AGENTS.md': '# Mine',
      });
      await around.envelope(['init'], { cwd: folder });
      const before = treeOf(folder);
      await init(ALL);
      await init(ALL, '--force');
      assert.ok(read('.claude/settings.json').includes('acor hook'), 'the control: it has written there');
      await around.envelope(['agents', 'remove'], { cwd: folder });
      assert.deepEqual(treeOf(folder), before);
    }
  });

  it('leaves the empty files and objects that a person had', async () => {
    for (const mcp of ['{}', '{"mcpServers":{}}\n', '{\n  "mcpServers": {\n    // mine\n  }\n}\n']) {
      project({ '.mcp.json': mcp, '.claude/settings.json': '{"hooks":{}}', 'AGENTS.md': '' });
      await around.envelope(['init'], { cwd: folder });
      const before = treeOf(folder);
      await init(ALL);
      await init(ALL);
      assert.ok(read('.mcp.json').includes('acor'), 'the control: it has written there');
      await around.envelope(['agents', 'remove'], { cwd: folder });
      assert.deepEqual(treeOf(folder), before);
    }
  });

  it('writes nothing in a dry run', async () => {
    project();
    const before = treeOf(folder);
    const { data } = await init(ALL, '--dry-run');
    assert.equal(rowOf(data.files, '.mcp.json').action, 'create');
    assert.deepEqual(treeOf(folder), before);
  });

  it('keeps files, settings and text blocks of other owners', async () => {
    const settings =
      '{\n    // mine\n    "model": "opus",\n    "hooks": { "PreToolUse": [{ "matcher": "Bash", "hooks": [] }] },\n}\n';
    const servers = '{"mcpServers":{"other":{"command":"x"}}}';
    const toml = 'model = "m"\n[mcp_servers.other]\ncommand = "x"';
    project({
      '.claude/settings.json': settings,
      '.mcp.json': servers,
      '.codex/config.toml': toml,
      'AGENTS.md': '# Mine\n',
      '.claude/commands/run-tool.md': 'mine\n',
    });
    const { data } = await init(ALL);
    assert.deepEqual(
      ['.claude/settings.json', '.mcp.json', '.codex/config.toml', 'AGENTS.md'].map(
        (path) => rowOf(data.files, path).action,
      ),
      ['merge', 'merge', 'merge', 'merge'],
    );
    assert.equal(rowOf(data.files, '.claude/commands/run-tool.md').action, 'keep');
    assert.equal(read('.claude/commands/run-tool.md'), 'mine\n');
    assert.ok(read('AGENTS.md').startsWith('# Mine\n'));
    assert.ok(read('.codex/config.toml').startsWith(toml));
    assert.deepEqual(Object.keys(JSON.parse(read('.mcp.json')).mcpServers), ['other', 'acor']);
    const merged = read('.claude/settings.json');
    for (const line of settings.split('\n').slice(1, 3)) assert.ok(merged.includes(line), merged);
    assert.ok(
      merged.includes(
        '{ "matcher": "Bash", "hooks": [] }, {"matcher":"Bash","hooks":[{"type":"command","command":"acor hook pre-tool"',
      ),
      merged,
    );
    assert.deepEqual(await faults(), { '.claude/commands/run-tool.md': 'foreign' });
    rmSync(join(folder, '.claude/commands/run-tool.md'));
    await init(ALL);
    assert.deepEqual(await faults(), {});
  });

  it('reports missing, stale and manually changed files, and the reported command fixes each', async () => {
    project();
    await init(ALL);
    rmSync(join(folder, '.codex/hooks.json'));
    const record = JSON.parse(read('.acor/agents.json'));
    // As an earlier ACOR wrote it: the record has its hash, and it differs from the current text.
    write('.agents/skills/acor/SKILL.md', 'old\n');
    record.parts['.agents/skills/acor/SKILL.md#file'] = createHash('sha256').update('old\n').digest('hex');
    write('.acor/agents.json', JSON.stringify(record));
    write('.claude/agents/acor-operator.md', 'changed\n');
    write('.mcp.json', read('.mcp.json').replace('600000', '1000'));
    write('GEMINI.md', read('GEMINI.md').replace('## Tools', '## My tools'));
    const states = {
      '.claude/agents/acor-operator.md': 'changed',
      '.mcp.json': 'changed',
      '.agents/skills/acor/SKILL.md': 'stale',
      '.codex/hooks.json': 'missing',
      'GEMINI.md': 'changed',
    };
    assert.deepEqual(await faults(), states);
    const { code, error, meta } = await check();
    assert.deepEqual([code, error.code], [2, 'E_CONFIG_INVALID']);
    const [fixCommand] = meta.next;
    assert.equal(fixCommand, `acor init --agents ${ALL}`);
    await around.envelope(fixCommand.split(' ').slice(1), { cwd: folder });
    const { 'GEMINI.md': guide, '.mcp.json': server, '.claude/agents/acor-operator.md': operator } = states;
    assert.deepEqual(await faults(), {
      '.claude/agents/acor-operator.md': operator,
      '.mcp.json': server,
      'GEMINI.md': guide,
    });
    assert.equal((await check()).code, 0, 'what a person changed on purpose is no fault');
    assert.equal(read('.claude/agents/acor-operator.md'), 'changed\n');
    const forced = rowOf((await check()).data.files, '.mcp.json').fix!;
    await around.envelope(forced.split(' ').slice(1), { cwd: folder });
    assert.deepEqual(await faults(), {});
    assert.equal(read('.acor/replaced/.claude/agents/acor-operator.md'), 'changed\n');
    assert.match(read('.acor/replaced/.mcp.json'), /1000/);
  });

  it('does not change files that it cannot parse, and says what a person must add', async () => {
    project({
      '.mcp.json': '{"mcpServers": [',
      '.claude/settings.json': '{"hooks": []}',
      '.codex/config.toml': 'mcp_servers = { acor = { command = "mine" } }\n',
      'AGENTS.md': '<!-- acor:begin -->\n',
    });
    const before = ['.mcp.json', '.claude/settings.json', '.codex/config.toml', 'AGENTS.md'].map(read);
    const { data } = await init('claude,codex');
    for (const path of ['.mcp.json', '.claude/settings.json', '.codex/config.toml', 'AGENTS.md']) {
      const { action, by_hand } = rowOf(data.files, path) as Row & { by_hand: string };
      assert.equal(action, 'could_not', path);
      assert.match(by_hand, /acor/, path);
    }
    assert.deepEqual(
      ['.mcp.json', '.claude/settings.json', '.codex/config.toml', 'AGENTS.md'].map(read),
      before,
    );
    assert.equal((await check()).code, 2);
  });

  it('does not follow links out of the project, and treats two names of one folder as one', async () => {
    const outside = around.path('outside');
    mkdirSync(outside, { recursive: true });
    project();
    symlinkSync(outside, join(folder, '.claude'));
    await init('claude');
    assert.deepEqual(readdirSync(outside), []);
    // The control: it follows the same link inside the project.
    project();
    mkdirSync(join(folder, '.agents/skills'), { recursive: true });
    mkdirSync(join(folder, '.claude'));
    symlinkSync('../.agents/skills', join(folder, '.claude/skills'));
    const { ok } = await init(ALL);
    assert.ok(ok);
    assert.deepEqual(await faults(), {});
    assert.ok(existsSync(join(folder, '.agents/skills/acor/SKILL.md')));
  });

  it('says how to begin when there are no files, and when the record is damaged', async () => {
    project();
    const { data, meta } = await check();
    assert.deepEqual([data.files, meta.next], [[], [`acor init --agents ${ALL}`]]);
    await init('claude');
    write('.acor/agents.json', '[]');
    const { code, error, meta: about } = await check();
    assert.deepEqual([code, error.code], [2, 'E_CONFIG_INVALID']);
    assert.match(about.next[0], /^rm .*agents\.json$/);
    rmSync(join(folder, '.acor/agents.json'));
    await init('claude');
    assert.deepEqual(await faults(), {});
  });

  it('writes skills, settings and a plugin that match their specifications', async () => {
    project();
    await init(ALL);
    const { data } = await around.envelope(['agents', 'plugin', '--output', 'plugin'], { cwd: folder });
    assert.ok(data.files.length > 5);
    for (const path of [
      '.claude/skills/acor/SKILL.md',
      '.agents/skills/acor/SKILL.md',
      'plugin/skills/acor/SKILL.md',
    ]) {
      const [, front, body] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(read(path))!;
      const keys = parse(front!);
      for (const key of Object.keys(keys)) assert.ok(SKILL_KEYS.includes(key), `${path}: ${key}`);
      assert.match(keys.name, /^[a-z0-9]+(-[a-z0-9]+)*$/);
      assert.equal(keys.name, basename(dirname(path)));
      assert.ok(
        keys.description.length > 50 && keys.description.length <= 1024 && keys.compatibility.length <= 500,
      );
      for (const value of Object.values(keys.metadata)) assert.equal(typeof value, 'string');
      for (const tool of keys['allowed-tools'].split(' '))
        assert.match(tool, /^(Bash\([^\s()]+\)|mcp__\w+\*)$/);
      assert.ok(body!.split('\n').length < 500 && estimateTokens(body!) < 5000);
      assert.match(body!, /run: .*\brun\b.*\bwait\b/, 'the commands are those of the registry');
    }
    const [, front, body] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(read('plugin/skills/compose/SKILL.md'))!;
    assert.deepEqual(Object.keys(parse(front!)), ['name', 'description', 'allowed-tools']);
    for (const [, line] of body!.matchAll(/`acor ([a-z][^`]*)`/g))
      assert.ok(
        allCommands().some((command) => `${line} `.startsWith(`${command} `)),
        `acor ${line} is a command`,
      );
    const codex = Bun.TOML.parse(read('.codex/config.toml')) as { mcp_servers: { acor: unknown } };
    assert.deepEqual(codex.mcp_servers.acor, {
      command: 'acor',
      args: ['mcp', '--call-limit', '570'],
      startup_timeout_sec: 20,
      tool_timeout_sec: 600,
    });
    for (const path of ['.mcp.json', '.gemini/settings.json', 'plugin/mcp.json', 'plugin/.mcp.json']) {
      const { command, args, timeout } = JSON.parse(read(path)).mcpServers.acor;
      const limit = timeout === undefined ? [] : ['--call-limit', '570'];
      assert.deepEqual([command, args], ['acor', ['mcp', ...limit]]);
      assert.ok(timeout === undefined || timeout === 600_000);
    }
    const servers = [
      ['.cursor/mcp.json', 'mcpServers', { command: 'acor', args: ['mcp'] }],
      ['.vscode/mcp.json', 'servers', { type: 'stdio', command: 'acor', args: ['mcp'] }],
      [
        'opencode.json',
        'mcp',
        { type: 'local', command: ['acor', 'mcp', '--call-limit', '570'], enabled: true, timeout: 600_000 },
      ],
    ] as const;
    for (const [path, key, server] of servers)
      assert.deepEqual(JSON.parse(read(path)), { [key]: { acor: server } });
    for (const path of [
      '.claude/settings.json',
      '.codex/hooks.json',
      '.gemini/settings.json',
      'plugin/hooks/hooks.json',
    ])
      for (const groups of Object.values(JSON.parse(read(path)).hooks) as {
        hooks: { command: string }[];
      }[][])
        assert.match(groups[0]!.hooks[0]!.command, /^acor hook (session-start|pre-tool|elicit)$/);
    for (const path of ['.claude/agents/acor-operator.md', '.claude/commands/run-tool.md']) {
      const { name, description } = parse(/^---\n([\s\S]*?)\n---\n/.exec(read(path))![1]!);
      assert.ok(description.length > 20 && (name === undefined || `${name}.md` === basename(path)));
    }
    const portable = JSON.parse(read('plugin/plugin.json'));
    assert.deepEqual(Object.keys(portable), [
      '$schema',
      'name',
      'version',
      'description',
      'license',
      'keywords',
    ]);
    assert.deepEqual(Object.keys(JSON.parse(read('plugin/mcp.json'))), ['$schema', 'mcpServers']);
    assert.equal(JSON.parse(read('plugin/.claude-plugin/plugin.json')).name, 'acor');
  });

  it('updates a plugin in its folder, and does not write into another folder with content', async () => {
    project({ 'full/mine.txt': 'mine' });
    const plugin = (output: string) =>
      around.envelope(['agents', 'plugin', '--output', output], { cwd: folder });
    await plugin('plugin');
    write('plugin/README.md', 'old');
    const { data } = await plugin('plugin');
    assert.deepEqual(
      data.files.filter(({ action }: Row) => action !== 'unchanged').map(({ path }: Row) => path),
      ['README.md'],
    );
    const { code, error } = await plugin('full');
    assert.deepEqual([code, error.code, readdirSync(join(folder, 'full'))], [1, 'E_USAGE', ['mine.txt']]);
  });
});

/** Every file of a folder with its content. */
function treeOf(folder: string): string[] {
  return (readdirSync(folder, { recursive: true, encoding: 'utf8' }) as string[])
    .filter((path) => !path.startsWith('.runs') && statSync(join(folder, path)).isFile())
    .sort()
    .map((path) => `${path}\n${readFileSync(join(folder, path), 'utf8')}`);
}
