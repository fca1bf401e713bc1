import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { TestProject } from '../support/project.ts';
import { atTerminal, noTerminal } from '../support/terminal.ts';

const WIDE =
  "version: 1\nsecurity:\n  isolation: 'off'\n  allow_private_egress: ['127.0.0.1:18101']\nenvironment: { timeout_s: 60 }\n";

let project: TestProject;
beforeEach(() => {
  project = new TestProject({ tools: ['quick'], config: WIDE, isTrusted: false });
});
afterEach(() => project[Symbol.dispose]());

const effective = async (key: string, cwd = project.root) => {
  const { data } = await project.envelope(['config', 'show', key], { cwd });
  return data.values.map(({ value, source }: { value: unknown; source: string }) => [value, source]);
};
const trust = (typed: string, cwd = project.root) =>
  atTerminal(['trust'], {
    cwd,
    env: { XDG_DATA_HOME: project.path('data') },
    when: /To trust it, type trust/,
    typed: `${typed}\n`,
  });

describe('a cloned project', () => {
  it('cannot widen security: its settings have no effect, the others have, and ACOR says so once', async () => {
    assert.deepEqual(await effective('security.isolation'), [['preferred', 'default']]);
    assert.deepEqual(await effective('security.allow_private_egress'), [[[], 'default']]);
    assert.deepEqual(await effective('environment.timeout_s'), [[60, 'project']]);
    const { stderr } = await project.acor(['list']);
    assert.deepEqual(
      stderr.match(/widens security.*: security\.isolation, security\.allow_private_egress\./g)?.length,
      1,
    );
    const { data } = await project.envelope(['health']);
    const check = data.checks.find(({ name }: { name: string }) => name === 'config');
    assert.deepEqual([check.status, /acor trust/.test(check.fix)], ['degraded', true]);
  });

  it('says so in each envelope, and to the clients of the MCP server', async () => {
    const listed = await project.envelope(['list']);
    const failed = await project.envelope(['show', 'r-0000000000000000']);
    for (const { meta } of [listed, failed])
      assert.match(meta.warnings.join('\n'), /not trusted it.*security\.isolation.*acor trust/);
    const input = [
      {
        method: 'initialize',
        id: 1,
        params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
      },
    ].map((line) => JSON.stringify({ jsonrpc: '2.0', ...line }));
    const { stdout } = await project.acor(['mcp'], { stdin: `${input.join('\n')}\n` });
    assert.match(JSON.parse(stdout.split('\n')[0]!).result.instructions, /not trusted it.*acor trust/);
  });

  it('names the trust for a path that only an untrusted setting allows', async () => {
    using other = new TestProject({
      tools: ['quick'],
      config: 'version: 1\nsecurity: { grant_roots: [/etc] }\n',
      isTrusted: false,
    });
    other.write('tools/reads/cli.sh', '#!/bin/sh\nexit 0\n', 0o755);
    const inputs = [{ name: 'file', type: 'path', access: 'read' }];
    other.write('tools/reads/tool.yaml', JSON.stringify({ name: 'reads', inputs }));
    const hint = async (file: string) => {
      const { error } = await other.envelope(['run', 'reads', '--file', file]);
      assert.equal(error.code, 'E_PERMISSION');
      return error.hint as string;
    };
    assert.match(await hint('/etc/passwd'), /no person has trusted it/);
    assert.doesNotMatch(await hint('/usr/bin/env'), /no person has trusted it/);
  });

  it('puts no variable of the caller into a text without trust, and after it does', {
    skip: noTerminal,
  }, async () => {
    const SECRET = 'sk-of-the-caller';
    const env = {
      MODEL_KEY: SECRET,
      LIMIT: '70',
      ISOLATION: 'required',
      XDG_DATA_HOME: project.path('data'),
    };
    const published = `[{ files: '*.md', description: 'with \${MODEL_KEY}' }]`;
    const own = `project: { name: 'for \${HOME}' }\nenvironment: { timeout_s: '\${LIMIT:-60}' }`;
    const config = `version: 1\nresources: ${published}\n${own}\nsecurity: { isolation: '\${ISOLATION:-off}' }\n`;
    project.write('.acor/config.yaml', config);
    project.write('notes.md', 'notes\n');
    const shown = async (args: readonly string[]) => {
      const { stdout, stderr } = await project.acor(args, { env });
      return stdout + stderr;
    };
    const everything = ['config', 'show', '--limit', '500'];
    for (const args of [everything, ['trust', '--list'], ['trust'], ['health']])
      assert.doesNotMatch(await shown(args), /sk-of-the-caller/, args.join(' '));
    assert.match(
      await shown(everything),
      /resources \(it expands a variable of yours\)\. To read and trust them/,
    );
    // What tools get anyway, numbers and words of a fixed set hold without trust.
    const { data } = await project.envelope(everything, { env });
    const held = (key: string) => data.values.find((each: { key: string }) => each.key === key)?.value;
    assert.match(held('project.name'), /^for \//);
    assert.equal(held('environment.timeout_s'), 70);
    assert.equal(held('security.isolation'), 'required');

    const { code, text } = await atTerminal(['trust'], {
      cwd: project.root,
      env,
      when: /To trust it, type trust/,
      typed: 'trust\n',
    });
    assert.equal(code, 0, text);
    assert.doesNotMatch(text, /sk-of-the-caller/);
    assert.match(await shown(everything), /sk-of-the-caller/, 'the control');
    // The trust is bound to the values, too.
    env.MODEL_KEY = 'another';
    assert.doesNotMatch(await shown(everything), /with another/);

    env.MODEL_KEY = SECRET;
    project.write('.acor/config.yaml', "version: 1\nsecurity: { isolation: '${MODEL_KEY}' }\n");
    const invalid = await shown(['list']);
    assert.match(invalid, /E_CONFIG_INVALID/);
    assert.doesNotMatch(invalid, /sk-of-the-caller/);
  });

  it('runs its tools in the sandbox that applies without it', async () => {
    const { data } = await project.envelope(['run', 'quick', '--dry-run']);
    assert.notEqual(data.isolation.backend, 'none');
  });

  it('is refused where no person sits, with what it would change', async () => {
    const { code, error, meta } = await project.envelope(['trust']);
    assert.deepEqual([code, error.code, meta.next], [2, 'E_APPROVAL_REQUIRED', ['acor trust --list']]);
    assert.deepEqual(
      error.details.settings.map(({ key, asked, without }: Record<string, unknown>) => [key, asked, without]),
      [
        ['security.isolation', 'off', 'preferred'],
        ['security.allow_private_egress', ['127.0.0.1:18101'], []],
      ],
    );
  });

  it('widens after a person has read the difference and typed the word, until it changes', {
    skip: noTerminal,
  }, async () => {
    const refused = await trust('yes');
    assert.notEqual(refused.code, 0);
    assert.deepEqual(await effective('security.isolation'), [['preferred', 'default']]);

    const { text, code } = await trust('trust');
    assert.equal(code, 0, text);
    assert.match(
      text,
      /security\.isolation\s+- "preferred"\s+\+ "off"\s+tools run in a weaker sandbox, or in none/,
    );
    assert.deepEqual(await effective('security.isolation'), [['off', 'project']]);
    assert.equal((await project.acor(['list'])).stderr, '');
    assert.equal(readdirSync(project.path('.acor')).includes('trust'), false);

    project.write('.acor/config.yaml', `${WIDE}discovery: { cache_ttl: 1 }\n`);
    assert.deepEqual(await effective('security.isolation'), [['off', 'project']]);
    project.write('.acor/config.yaml', WIDE.replace('18101', '18102'));
    assert.deepEqual(await effective('security.isolation'), [['preferred', 'default']]);
    project.write('.acor/config.yaml', WIDE);
    const { data } = await project.envelope(['trust', '--revoke']);
    assert.equal(data.state, 'revoked');
    assert.deepEqual(await effective('security.isolation'), [['preferred', 'default']]);
  });

  it('may narrow without anybody, and a copy elsewhere is not trusted', { skip: noTerminal }, async () => {
    assert.equal((await trust('trust')).code, 0);
    const copy = project.path('copy');
    project.write('copy/.acor/config.yaml', WIDE);
    assert.deepEqual(await effective('security.isolation', copy), [['preferred', 'default']]);
    project.write(
      'copy/.acor/config.yaml',
      'version: 1\nsecurity: { isolation: required, require_plan: writes }\n',
    );
    assert.deepEqual(await effective('security.isolation', copy), [['required', 'project']]);
    assert.deepEqual((await project.envelope(['trust'], { cwd: copy })).data.state, 'not_needed');
  });
});

describe('a link of a cloned project', () => {
  let clone: string;
  beforeEach(() => {
    clone = project.path('clone');
    project.write('clone/.acor/config.yaml', 'version: 1\nstorage: { keep: 0 }\n');
  });
  const inClone = (args: readonly string[]) => project.envelope(args, { cwd: clone });

  it('does not lead `acor clean` to the runs of another project', async () => {
    await project.run(['quick']);
    const [run] = project.runIds();
    symlinkSync('../.runs', project.path('clone', '.runs'));
    const { code, error, meta } = await inClone(['clean']);
    assert.deepEqual([code, error.code, meta.next], [2, 'E_APPROVAL_REQUIRED', ['acor trust']]);
    assert.deepEqual(
      [error.details.link, error.details.leads_to],
      [project.path('clone', '.runs'), [project.runsDir]],
    );
    assert.deepEqual(project.runIds(), [run]);
    const { data } = await inClone(['trust', '--list']);
    assert.deepEqual(
      data.settings.map(({ key, leads_to }: Record<string, unknown>) => [key, leads_to]),
      [['project.runs_dir', [project.runsDir]]],
    );

    rmSync(project.path('clone', '.runs'));
    mkdirSync(project.path('clone', 'stored'));
    symlinkSync('stored', project.path('clone', '.runs'));
    assert.equal((await inClone(['clean'])).code, 0, 'a link within the project is the control');
  });

  it('does not lead to the tools of another folder, nor does one whose target does not exist yet', async () => {
    symlinkSync('../tools', project.path('clone', 'tools'));
    for (const command of [['list'], ['validate'], ['validate', '--fix']])
      assert.equal((await inClone(command)).error?.code, 'E_APPROVAL_REQUIRED', command.join(' '));
    rmSync(project.path('clone', 'tools'));
    symlinkSync('../absent', project.path('clone', '.runs'));
    assert.equal((await inClone(['list'])).error.code, 'E_APPROVAL_REQUIRED');
    assert.equal(existsSync(project.path('absent')), false);
    rmSync(project.path('clone', '.runs'));
    assert.equal((await inClone(['list'])).code, 0);
  });

  it('grants nothing outside through a link whose target does not exist yet', async () => {
    project.write('clone/.acor/config.yaml', 'version: 1\nsecurity: { grant_roots: [link] }\n');
    symlinkSync('../absent', project.path('clone', 'link'));
    assert.deepEqual(await effective('security.grant_roots', clone), [[[], 'default']]);
    rmSync(project.path('clone', 'link'));
    symlinkSync('inside', project.path('clone', 'link'));
    assert.deepEqual(await effective('security.grant_roots', clone), [[['link'], 'project']]);
  });

  it('is trusted for the place to which it led when a person read it', { skip: noTerminal }, async () => {
    project.write('clone/.acor/config.yaml', 'version: 1\nsecurity: { grant_roots: [link] }\n');
    symlinkSync('../one', project.path('clone', 'link'));
    symlinkSync('../.runs', project.path('clone', '.runs'));
    const { text, code } = await trust('trust', clone);
    assert.equal(code, 0, text);
    for (const place of ['one', '.runs']) assert.ok(text.includes(`leads to ${project.path(place)}`), text);
    assert.deepEqual(await effective('security.grant_roots', clone), [[['link'], 'project']]);

    rmSync(project.path('clone', 'link'));
    symlinkSync('../two', project.path('clone', 'link'));
    assert.equal((await inClone(['list'])).error.code, 'E_APPROVAL_REQUIRED');
    const { data } = await inClone(['trust', '--list']);
    assert.deepEqual(
      data.settings.map(({ key, is_new }: Record<string, unknown>) => [key, is_new]),
      [
        ['security.grant_roots', true],
        ['project.runs_dir', false],
      ],
    );
  });
});
