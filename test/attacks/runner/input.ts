import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { TestProject } from '../../support/project.ts';
import { ProjectInProcess } from '../../support/project-in-process.ts';
import type { RunnerAttack } from './runner-attack.ts';

const SCRIPT = `#!/bin/bash\necho '{"type":"result","status":"ok"}'\n`;

/** ACOR rejects every path, and grants the path beside it. */
const paths: RunnerAttack = async () => {
  using project = new ProjectInProcess();
  mkdirSync(project.path('granted'));
  const asked = ['/', '/**', '/proc', '/sys/kernel', '/dev', '${WORKSPACE}/../..', '${PROJECT}/../**'];
  const spelled = [
    '/.',
    '/./**',
    '//*',
    '//proc/.',
    '/dev/../proc',
    '${PROJECT}/./chain',
    'root',
    'root/proc',
  ];
  const own = ['.runs', '.acor/**', 'data\0x', 'data\x1b[2J', '${HOME}/x', '~/x', 'to-own'];
  symlinkSync('/', project.path('root'));
  // A link through a link.
  symlinkSync('root', project.path('inner'));
  symlinkSync('inner/proc', project.path('chain'));
  symlinkSync('to-runs/x', project.path('to-own'));
  symlinkSync('.acor', project.path('to-runs'));
  mkdirSync(project.path('.acor/x'), { recursive: true });
  const refused = [...asked, ...spelled, ...own];
  const system = ['/etc', '/etc/.', '/usr/lib/**', '/var/run', '/home', 'root/etc'];
  for (const [index, path] of [...refused, '${PROJECT}/granted/**'].entries()) {
    for (const access of ['read', 'write']) {
      const name = `asks_${index}_${access}`;
      const permissions = { filesystem: { [access]: [path] } };
      project.write(`tools/${name}/tool.yaml`, JSON.stringify({ name, permissions }));
      project.write(`tools/${name}/cli.sh`, SCRIPT, 0o755);
    }
  }
  for (const path of system) {
    project.write(
      'tools/changes/tool.yaml',
      JSON.stringify({ name: 'changes', permissions: { level: 'standard', filesystem: { write: [path] } } }),
    );
    project.write('tools/changes/cli.sh', SCRIPT, 0o755);
    const { error } = await project.envelope(['run', 'changes', '--dry-run']);
    assert.deepEqual(
      [error?.code, /belongs to the system/.test(error?.message)],
      ['E_PERMISSION', true],
      path,
    );
  }
  const control = refused.length;
  for (let index = 0; index <= control; index++) {
    for (const access of ['read', 'write']) {
      const { ok, error, data } = await project.envelope(['run', `asks_${index}_${access}`, '--dry-run']);
      if (index === control) assert.deepEqual([ok, data.grants.length], [true, 1]);
      else
        assert.match(
          String(error?.code),
          /^E_(PERMISSION|MANIFEST_INVALID|POLICY_DENIED|APPROVAL_REQUIRED)$/,
        );
    }
  }
  assert.deepEqual(project.runIds(), []);
};

const NAMES = [
  ...[
    '../quick',
    '/quick',
    '-rf',
    'qu ick',
    'qu\u0131ck',
    'quıck',
    '.',
    '..',
    '',
    'quick/',
    'quick;ls',
    'a\nb',
  ],
  ...['x'.repeat(65), 'quick\u202e', 'ｑuick', '_quick', 'quick_'],
];

const names: RunnerAttack = async () => {
  using project = new ProjectInProcess({ tools: ['quick'] });
  for (const name of NAMES) {
    const { ok, error } = await project.envelope(['run', '--no-stream', '--', name]);
    assert.equal(ok, false, name);
    assert.match(error.code, /^E_(TOOL_NOT_FOUND|USAGE)$/, name);
  }
  // ACOR lists a folder of such a name as broken, and never runs it.
  for (const name of NAMES.filter((each) => /^[^/.]+$/.test(each))) {
    project.write(`tools/${name}/cli.sh`, SCRIPT, 0o755);
  }
  const { data } = await project.envelope(['list', '--limit', '100']);
  for (const tool of data.tools)
    assert.equal(tool.status, tool.name === 'quick' ? 'ok' : 'broken', tool.name);
  assert.deepEqual(project.runIds(), []);
  assert.equal((await project.run(['quick'])).end.state, 'completed');
};

const WORDS = [
  '; touch planted',
  '$(touch planted)',
  '`touch planted`',
  '| touch planted',
  '&& touch planted',
];

const argumentsOfTools: RunnerAttack = async () => {
  using project = new TestProject();
  project.write('tools/echoes/tool.yaml', 'name: echoes\nadapter: plain\n');
  project.write('tools/echoes/cli.py', 'import json, sys\nprint(json.dumps({"given": sys.argv[1:]}))\n');
  const words = [...WORDS, 'a\nb', '-rf', '--', '', '*', '~', '${HOME}', "'", '"', '\\', '\x1b[2J'];
  const { end, of } = await project.run(['echoes', '--', ...words]);
  assert.equal(end.state, 'completed');
  assert.deepEqual(JSON.parse(String(of('log')[0]!.msg)).given, words);
  const { data } = await project.envelope(['run', 'echoes', '--dry-run', '--', ...words]);
  assert.deepEqual(data.argv.slice(-words.length), words);
  assert.equal(existsSync(project.path('planted')), false);
  spawnSync('sh', ['-c', `echo ${WORDS[0]}`], { cwd: project.root });
  assert.equal(existsSync(project.path('planted')), true, 'a shell would have done it');
};

const VARIABLES = [
  ...[
    'LD_PRELOAD',
    'LD_LIBRARY_PATH',
    'NODE_OPTIONS',
    'BUN_OPTIONS',
    'PYTHONPATH',
    'PYTHONSTARTUP',
    'BASH_ENV',
  ],
  ...['GIT_SSH_COMMAND', 'GIT_CONFIG_GLOBAL', 'PERL5OPT', 'RUBYOPT', 'JAVA_TOOL_OPTIONS', 'SECRETS_DIR'],
];

const variables: RunnerAttack = async () => {
  using project = new TestProject();
  for (const name of [...VARIABLES, 'AWS_REGION']) {
    for (const env of [{ require: [name] }, { allow: [name] }, { set: { [name]: 'x' } }]) {
      const tool = `${name.toLowerCase()}_${Object.keys(env)[0]}`;
      project.write(`tools/${tool}/tool.yaml`, JSON.stringify({ name: tool, env }));
      project.write(`tools/${tool}/cli.sh`, SCRIPT, 0o755);
    }
  }
  const { data } = await project.envelope(['list', '--limit', '200']);
  assert.equal(data.tools.length, 3 * (VARIABLES.length + 1));
  for (const { name, status } of data.tools)
    assert.equal(status, name.startsWith('aws_region') ? 'ok' : 'broken', name);
};

const manifests: RunnerAttack = async () => {
  using project = new ProjectInProcess();
  const bomb = ['a: &a [x, x, x, x, x, x, x, x, x]'];
  for (const [was, is] of ['ab', 'bc', 'cd', 'de', 'ef', 'fg', 'gh'].map((pair) => [...pair]))
    bomb.push(`${is}: &${is} [${Array(9).fill(`*${was}`).join(', ')}]`);
  const texts: Record<string, string> = {
    bomb: bomb.join('\n'),
    alias: 'name: &n alias\ndescription: *n',
    twice: 'name: twice\nname: twice',
    tag: 'name: tag\ndescription: !!js/function "function () {}"',
    large: `name: large\n# ${'x'.repeat(256 * 1024)}`,
    proto: '__proto__: { name: x }\nname: proto',
    binary: '\0\x01\x02',
  };
  for (const [name, text] of Object.entries({ ...texts, sound: 'name: sound' })) {
    project.write(`tools/${name}/cli.sh`, SCRIPT, 0o755);
    project.write(`tools/${name}/tool.yaml`, `${text}\n`);
  }
  project.write('tools/linked/cli.sh', SCRIPT, 0o755);
  symlinkSync('/etc/hostname', project.path('tools/linked/tool.yaml'));
  const { data } = await project.envelope(['list', '--limit', '100']);
  assert.equal(data.tools.length, Object.keys(texts).length + 2);
  for (const { name, status } of data.tools) assert.equal(status, name === 'sound' ? 'ok' : 'broken', name);
  for (const name of [...Object.keys(texts), 'linked']) {
    const { error } = await project.envelope(['run', name, '--no-stream']);
    assert.equal(error.code, 'E_MANIFEST_INVALID', name);
  }
  assert.equal((await project.run(['sound'])).end.state, 'completed');
};

/** Programs with the names that ACOR starts itself are first on the PATH, in the working directory and beside the tool. */
const plantedPrograms: RunnerAttack = async () => {
  using project = new TestProject({ tools: ['quick'] });
  const marker = project.path('planted');
  for (const name of ['bwrap', 'perl', 'sh', 'mkfifo', 'setpriv', 'nsenter', 'bun', 'node']) {
    for (const folder of ['evil', '.', 'tools/quick'])
      project.write(`${folder}/${name}`, `#!/bin/bash\n: > ${marker}\nexit 1\n`, 0o755);
  }
  const env = { PATH: `${project.path('evil')}:.:${process.env['PATH']}` };
  // The caller chooses the shell that starts the launcher, and the interpreter of a tool's first line.
  const { end } = await project.run(['quick'], { env });
  assert.deepEqual([end.state, existsSync(marker)], ['completed', false]);
  spawnSync('bwrap', [], { env, cwd: project.root });
  assert.equal(existsSync(marker), true, 'the control: a search along the PATH finds it');
};

const policy: RunnerAttack = async () => {
  using project = new TestProject({ tools: ['quick'] });
  const manifest = {
    name: 'asks_much',
    secrets: ['TOKEN'],
    resources: { memory_mb: 9000 },
    permissions: {
      commands: ['curl'],
      filesystem: { read: ['/srv/data'], write: ['/srv/out'] },
      network: { egress_allow: ['evil.example:443', '*.wild.example:443'] },
    },
  };
  project.write('tools/asks_much/tool.yaml', JSON.stringify(manifest));
  project.write('tools/asks_much/cli.sh', SCRIPT, 0o755);
  project.write(
    'tools/asks_all/tool.yaml',
    JSON.stringify({ name: 'asks_all', permissions: { level: 'privileged' } }),
  );
  project.write('tools/asks_all/cli.sh', SCRIPT, 0o755);
  const home = project.path('home');
  const env = { HOME: home, XDG_CONFIG_HOME: `${home}/.config` };
  project.write(
    'home/.config/acor/policy.yaml',
    'commands: []\nfilesystem: { read: [], write: [] }\nnetwork: { egress_allow: [] }\nsecrets: []\n',
  );
  // A project may narrow what its user allows, but not widen it.
  project.write(
    '.acor/policy.yaml',
    'commands: [curl]\nnetwork: { egress_allow: ["*"] }\nsecrets: [TOKEN]\n',
  );
  const { code, error } = await project.envelope(['policy', 'check', 'asks_much'], { env });
  assert.deepEqual([code, error.details.allowed], [2, false]);
  const violated = new Set(
    error.details.violations.map(({ path }: { path: string }) => path.replace(/\[\d+\]$/, '')),
  );
  for (const path of ['permissions.commands', 'permissions.network.egress_allow', 'secrets'])
    assert.ok(violated.has(path), `${path} is not among ${[...violated]}`);
  for (const access of ['read', 'write'])
    assert.ok(violated.has(`permissions.filesystem.${access}`), `${access}: ${[...violated]}`);
  for (const name of ['asks_much', 'asks_all']) {
    const run = await project.envelope(['run', name, '--no-stream'], { env });
    assert.equal(run.code, 2);
    assert.match(run.error.code, /^E_(POLICY_DENIED|APPROVAL_REQUIRED|PERMISSION)$/);
  }
  assert.deepEqual(project.runIds(), []);
  assert.equal((await project.run(['quick'], { env })).end.state, 'completed');
};

export const input: Readonly<Record<number, RunnerAttack>> = {
  14: paths,
  66: names,
  67: argumentsOfTools,
  68: variables,
  69: manifests,
  72: plantedPrograms,
  73: policy,
};
