import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { linksOut } from '../../src/core/config/links-out.ts';
import { linkedFolders } from '../../src/core/config/project-folders.ts';
import { TrustStore } from '../../src/core/config/trust.ts';
import { configDefaults } from '../../src/protocol/config-defaults.ts';
import { TestProject } from '../support/project.ts';

const SECRET = 'private_words_of_the_user';
const skip = process.platform === 'win32' ? 'links need rights on this system' : false;
/** The files of a project that ACOR reads by their place. */
const FILES = [
  '.acor/config.yaml',
  '.acor/policy.yaml',
  '.acor/error_codes.yaml',
  'tools/error_codes.yaml',
  '.acor/prompts/one.md',
  'tools/quick/tool.yaml',
  'tools/single.sh',
  'tools/single.py',
];
const COMMANDS = [
  ['tools'],
  ['validate'],
  ['run', 'quick', '--no-stream'],
  ['health'],
  ['config', 'show'],
  ['prompts'],
];

let outside: string;
before(() => {
  outside = mkdtempSync(join(tmpdir(), 'acor-outside-'));
  writeFileSync(join(outside, 'private'), `${SECRET}: ${SECRET}\n`);
  writeFileSync(join(outside, 'script'), `#!/bin/sh\n# ${SECRET}\n# acor:\n#   summary: ${SECRET}\n`, {
    mode: 0o755,
  });
});
after(() => rmSync(outside, { recursive: true }));

/** Puts something at the place of a file of a new project, and returns what each command shows, and the prompts of the server. */
async function shown(path: string, put: (at: string) => void): Promise<string> {
  using project = new TestProject({ tools: ['quick'] });
  project.write(`${dirname(path)}/.keep`, '');
  rmSync(project.path(path), { force: true });
  put(project.path(path));
  let all = '';
  for (const words of COMMANDS) {
    const { stdout, stderr } = await project.acor(words, { env: { SECONDS: '1' } });
    all += stdout + stderr;
  }
  await project.supervisorsExited();
  return all;
}

describe('a file of a cloned project', { skip }, () => {
  for (const path of FILES) {
    it(`(${path}) that is a link to a file of the user shows nothing of it`, async () => {
      const target = join(outside, /tools\/single/.test(path) ? 'script' : 'private');
      const all = await shown(path, (at) => symlinkSync(target, at));
      assert.ok(!all.includes(SECRET), all.split('\n').find((line) => line.includes(SECRET)) ?? '');
    });

    it(`(${path}) that is a pipe, which no program writes, holds no command up`, async () => {
      await shown(path, (at) => execFileSync('mkfifo', [at]));
    });
  }

  it('that is a workflow, a recorded output or version.json is not read through a link that leads out, by any command', async () => {
    using project = new TestProject({ tools: ['quick'] });
    writeFileSync(join(outside, 'flow.yaml'), `description: ${SECRET}\nsteps: [{ tool: ${SECRET} }]\n`);
    project.write('workflows/.keep', '');
    project.write(
      'workflows/kept.yaml',
      'description: from the project\nsteps: [{ name: a, tool: quick }]\n',
    );
    project.write('workflows/outer.yaml', 'steps: [{ name: a, workflow: linked }]\n');
    symlinkSync(join(outside, 'flow.yaml'), project.path('workflows/linked.yaml'));
    project.write('tools/quick/tests/.keep', '');
    project.write('tools/quick/tool.yaml', 'adapter: plain\n');
    symlinkSync(join(outside, 'private'), project.path('tools/quick/tests/one.json'));
    project.write('.acor/.keep', '');
    rmSync(project.path('.acor/version.json'), { force: true });
    symlinkSync(join(outside, 'private'), project.path('.acor/version.json'));
    project.write('tmp/.keep', '');
    // Workflows may be in the folder of temporary files, which holds the file outside here.
    const call = (...words: string[]) => project.acor(words, { env: { TMPDIR: project.path('tmp') } });
    for (const [words, ...said] of [
      [['workflow', 'list'], /outside of the folders/, /from the project/],
      [['workflow', 'validate'], /outside of the folders/],
      [['workflow', 'validate', 'linked'], /outside of the folders/],
      [['workflow', 'validate', 'outer'], /outside of the folders/],
      [['workflow', 'graph', 'linked'], /outside of the folders/],
      [['workflow', 'run', 'linked'], /outside of the folders/],
      [['workflow', 'run', 'outer', '--dry-run'], /outside of the folders/],
      [
        ['validate', '--check-versions'],
        /outside of the folders/,
        /version.json","line":1,"col":1,"severity":"error","rule":"link-outside/,
        /one.json","line":1,"col":1,"severity":"error","rule":"link-outside/,
      ],
      [['upgrade'], /a link leads this file out of the project/],
    ] as const) {
      const { stdout, stderr } = await call(...words);
      assert.ok(!(stdout + stderr).includes(SECRET), `${words.join(' ')}: ${stdout}`);
      for (const each of said) assert.match(stdout, each, words.join(' '));
    }
    await project.supervisorsExited();
  });

  it('is refused with its place and the fix when a link leads out, also when .acor is the link', async () => {
    for (const path of ['.acor/config.yaml', '.acor']) {
      using project = new TestProject({ tools: ['quick'] });
      rmSync(project.path(path), { recursive: true, force: true });
      const target = path === '.acor' ? outside : join(outside, 'config.yaml');
      writeFileSync(join(outside, 'config.yaml'), 'version: 1\nenvironment: { cancel_grace_s: 2 }\n');
      symlinkSync(target, project.path(path));
      const { error } = await project.envelope(['config', 'show']);
      assert.equal(error?.code, 'E_CONFIG_INVALID', path);
      assert.match(JSON.stringify(error), /a link leads this file out of the project/);
      assert.match(JSON.stringify(error), /Replace it by a file/);
    }
  });

  it('is read through a link that stays in the project, as the control', async () => {
    using project = new TestProject({ tools: ['quick'] });
    project.write('shared/config.yaml', 'version: 1\nenvironment: { cancel_grace_s: 2 }\n');
    project.write('.acor/.keep', '');
    rmSync(project.path('.acor/config.yaml'), { force: true });
    symlinkSync(project.path('shared/config.yaml'), project.path('.acor/config.yaml'));
    const { data, error } = await project.envelope(['config', 'show', 'environment.cancel_grace_s']);
    assert.match(JSON.stringify(data ?? error), /:2[,}]/);
    // A folder of tools, with its error codes, may be elsewhere.
    renameSync(project.path('tools'), join(outside, 'tools'));
    writeFileSync(join(outside, 'tools', 'error_codes.yaml'), 'version: 1\nerrors: {}\n');
    symlinkSync(join(outside, 'tools'), project.path('tools'));
    const listed = await project.envelope(['list']);
    assert.notEqual(listed.error?.code, 'E_CONFIG_INVALID', JSON.stringify(listed.error));
  });
});

describe('a command that writes files of a project', { skip }, () => {
  const MANIFEST = 'name: quick\nversion: 1.0.0\n';
  const FLOW = ['workflow', 'template', '--name', 'nightly'];
  const cases: [what: string, link: string, words: string[], code: string][] = [
    ['a first tool', 'tools', ['init', '--template', 'bash'], 'E_APPROVAL_REQUIRED'],
    ['schemas', '.acor/schemas', ['init', '--template', 'bash'], 'E_PERMISSION'],
    ['schemas, also in a dry run', '.acor/schemas', ['init', '--dry-run'], 'E_PERMISSION'],
    ['a configuration', '.acor', ['init', '--template', 'bash'], 'E_APPROVAL_REQUIRED'],
    ['a record of agents', '.acor', ['init', '--agents', 'claude', '--agents-only'], 'E_PERMISSION'],
    ['a replaced file', '.acor/replaced', ['init', '--force'], 'E_PERMISSION'],
    ['a workflow', 'workflows', FLOW, 'E_PERMISSION'],
    ['a new tool', 'tools', ['template', 'bash', '--name', 'made'], 'E_APPROVAL_REQUIRED'],
    ['the files of a new tool', 'tools/made', ['template', 'bash', '--name', 'made'], 'E_PERMISSION'],
    ['a new tool in a named folder', 'more', ['template', 'bash', '--output', 'more'], 'E_PERMISSION'],
    ['the schema of a new tool', '.acor/schemas', ['template', 'bash', '--name', 'made'], 'E_PERMISSION'],
    ['an adopted manifest', 'more', ['adopt', 'uname', '--output', 'more'], 'E_PERMISSION'],
    ['the schema of an adopted one', '.acor/schemas', ['adopt', 'uname'], 'E_PERMISSION'],
    ['a learned manifest', 'more', ['learn', '--output', 'more/tool.yaml', 'quick'], 'E_PERMISSION'],
    [
      'a migrated tool',
      'more',
      ['compose', 'migrate', 'uname', '--call', '-a', '--output', 'more'],
      'E_PERMISSION',
    ],
  ];
  for (const [what, link, words, code] of cases)
    it(`(${what}) writes none of them when a link leads one out of the project`, async () => {
      using project = new TestProject({ tools: ['quick'], config: 'version: 1\nproject: {}\n' });
      const isNew = words[0] === 'init' && !link.startsWith('.acor/');
      if (isNew) for (const each of ['.acor', 'tools']) rmSync(project.path(each), { recursive: true });
      else project.write('tools/quick/tool.yaml', MANIFEST);
      if (link === '.acor/replaced')
        project.write('.acor/config.yaml', '# Written by `acor init`\nversion: 1\n');
      const target = mkdtempSync(join(outside, 'target-'));
      rmSync(project.path(link), { recursive: true, force: true });
      symlinkSync(target, project.path(link));
      const files = () =>
        readdirSync(project.root, { recursive: true }).filter(
          (each) => !/\.runs|user|data|home/.test(String(each)),
        );
      const before = files();
      const { error } = await project.envelope(words);
      assert.deepEqual(
        [error?.code, readdirSync(target), files()],
        [code, [], before],
        JSON.stringify(error),
      );
      assert.match(error.message, new RegExp(`${link}.* leads .*out`));
      // The control: without the link it writes.
      rmSync(project.path(link));
      if (words[0] === 'learn') return;
      const again = await project.envelope(words);
      assert.equal(again.ok, true, JSON.stringify(again.error));
    });

  it('writes through a link that a person has trusted', async () => {
    using project = new TestProject();
    const target = mkdtempSync(join(outside, 'trusted-'));
    rmSync(project.path('tools'), { recursive: true });
    symlinkSync(target, project.path('tools'));
    const links = linksOut(linkedFolders(configDefaults(), project.root), project.root);
    new TrustStore(project.environment()).write(project.root, links, { by: 'test', at: '' });
    const { ok, error } = await project.envelope(['template', 'bash', '--name', 'made']);
    assert.equal(ok, true, JSON.stringify(error));
    assert.ok(readdirSync(join(target, 'made')).includes('tool.yaml'));
  });
});
