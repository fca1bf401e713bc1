import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { type ProjectFolder, projectFolder } from '../../../test/support/project-folder.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import { approve as approveStep } from '../../protocol/next-steps.ts';
import { ContentDigests } from '../../util/content-digest.ts';
import { nextTurn } from '../../util/pause.ts';
import { sha256Of } from '../../util/sha256.ts';
import { loadConfig } from '../config/load.ts';
import type { PolicyLayer } from '../policy/policy-layer.ts';
import { Registry } from '../registry/registry.ts';
import { agentsMay } from './agents-may.ts';
import { executedBy, isNamedByApproval } from './approval-state.ts';
import { ApprovalStore } from './approvals.ts';
import { RunGuard } from './run-guard.ts';
import { digestOf } from './tool-digest.ts';

const CLI = '#!/bin/bash\necho hello\n';

let folder: ProjectFolder;
let env: Record<string, string>;
beforeEach(() => {
  folder = projectFolder({
    '.acor/config.yaml': '',
    'tools/t/cli.sh': CLI,
    'tools/t/tool.yaml': 'name: t\n',
  });
  env = { PATH: process.env.PATH ?? '', HOME: folder.folder('home') };
});
afterEach(() => folder.remove());

async function open(systemFile = folder.at('etc/policy.yaml')): Promise<RunGuard> {
  const config = await loadConfig({ cwd: folder.root, env });
  const tool = await Registry.open(config).find('t');
  return RunGuard.open(tool, { config, runsDir: folder.at('.runs'), env, cwd: folder.root, systemFile });
}

const LAYERS = {
  system: 'etc/policy.yaml',
  user: 'home/.config/acor/policy.yaml',
  project: '.acor/policy.yaml',
};

describe('the policy files', () => {
  it('of the system, the user and the project are read, the strongest first; without any nothing changes', async () => {
    assert.deepEqual((await open()).layers, []);
    for (const file of Object.values(LAYERS)) folder.write(file, 'max_level: standard\n');
    const { layers } = await open();
    assert.deepEqual(
      layers.map(({ source, file }) => [source, file]),
      Object.entries(LAYERS).map(([source, file]) => [source, folder.at(file)]),
    );
  });

  for (const [source, file] of Object.entries(LAYERS)) {
    it(`narrow what a tool may do, also that of the ${source} alone, with the line that does`, async () => {
      folder.write('tools/t/tool.yaml', 'name: t\npermissions:\n  commands: [git, curl]\n');
      await (await open()).authorizeTool();
      folder.write(file, 'version: 1\ncommands:\n  - git\n');
      const error = await refusal((await open()).authorizeTool());
      assert.equal(error.code, 'E_POLICY_DENIED');
      const [violation, ...others] = listed(error, 'violations');
      assert.deepEqual(others, []);
      assert.deepEqual(
        [violation!.path, violation!.asked, violation!.allowed, violation!.by],
        ['permissions.commands[1]', 'curl', ['git'], `${folder.at(file)}:3:3`],
      );
    });
  }

  it('are read the same from the cache, which a change of the file ends', async () => {
    folder.write('tools/t/tool.yaml', 'name: t\npermissions: { commands: [git] }\n');
    const file = folder.write(LAYERS.user, 'commands: [curl]\n');
    while (Date.now() < statSync(file).ctimeMs + 25) await nextTurn();
    const first = await refusal((await open()).authorizeTool());
    assert.equal(readdirSync(folder.at('home/.cache/acor/policy')).length, 1);
    assert.deepEqual((await refusal((await open()).authorizeTool())).details, first.details);
    folder.write(LAYERS.user, 'commands: [curl, git]\n');
    await (await open()).authorizeTool();
  });

  it('that are invalid are reported with every problem and its place, and allow no run', async () => {
    folder.write(LAYERS.user, 'max_levl: minimal\ncommands: git\n');
    folder.write(LAYERS.project, 'filesystem: { read: [data] }\ntools: { t: { tools: {} } }\n');
    const error = await refusal(open());
    assert.equal(error.code, 'E_CONFIG_INVALID');
    assert.deepEqual(
      listed(error, 'problems').map(({ file, line, column, rule }) => [file, line, column, rule]),
      [
        [folder.at(LAYERS.user), 1, 1, 'unknown-key'],
        [folder.at(LAYERS.user), 2, 11, 'type'],
        [folder.at(LAYERS.project), 1, 22, 'format'],
        [folder.at(LAYERS.project), 2, 15, 'unknown-key'],
      ],
    );
  });

  it('that cannot be read let nothing run either', async () => {
    for (const spoil of [
      () => symlinkSync('nowhere', folder.at(LAYERS.project)),
      () => folder.folder(LAYERS.project),
      () => folder.write(LAYERS.project, 'commands: &a [git]\nsecrets: *a\n'),
      () => folder.write(LAYERS.project, 'commands: []\ncommands: [git]\n'),
      () => folder.write(LAYERS.project, 'commands: !!js/function "function(){}"\n'),
      () => folder.write(LAYERS.project, `# ${'x'.repeat(256 * 1024)}\n`),
    ]) {
      spoil();
      assert.equal((await refusal(open())).code, 'E_CONFIG_INVALID', String(spoil));
      rmSync(folder.at(LAYERS.project), { recursive: true });
    }
  });

  it('of a project may neither approve nor have a program run, and those of others may', async () => {
    const texts = [
      `approved: [{ tool: t, digest: ${'a'.repeat(64)} }]\n`,
      `engine: command\ncommand: [${folder.program('engine', '#!/bin/sh\nexit 1\n')}]\n`,
    ];
    for (const text of texts) {
      folder.write(LAYERS.project, text);
      const error = await refusal(open());
      assert.match(error.message, /is not allowed in the policy of a project/);
      rmSync(folder.at(LAYERS.project));
      folder.write(LAYERS.user, text);
      assert.equal((await open()).layers.length, 1);
    }
  });

  it('name what goes with an engine, and a program by its whole path', async () => {
    for (const [text, rule] of [
      ['engine: command\n', 'engine-command'],
      ['engine: cedar\n', 'engine-cedar'],
      ['command: [/bin/true]\n', 'engine'],
      ['engine: command\ncommand: [opa]\n', 'absolute'],
    ] as const) {
      folder.write(LAYERS.user, text);
      assert.equal(listed(await refusal(open()), 'problems')[0]!.rule, rule, text);
    }
  });

  it('cut the limits of what runs to their ceilings', async () => {
    folder.write(LAYERS.user, 'limits: { timeout_s: 60 }\ntools: { t: { limits: { memory_mb: 100 } } }\n');
    const { tool } = await (await open()).authorizeTool();
    assert.deepEqual([tool.manifest.timeout_s, tool.manifest.resources], [60, { memory_mb: 100 }]);
  });

  it('are asked again when arguments and sandbox are known, with links resolved', async () => {
    folder.write(LAYERS.user, 'filesystem: { read: ["${PROJECT}/data"], write: [] }\nrequire_isolation: 2\n');
    folder.folder('data');
    folder.link('data/out', folder.folder('secret'));
    const guard = await open();
    await guard.authorizeTool();
    const grant = (path: string) => ({ path: folder.at(path), access: 'read' as const, input: 'in' });
    const run = { args: [], staged: [], tier: 1 };
    await guard.authorizeRun({ ...run, grants: [grant('data/x')] });
    const staged = [{ target: folder.at('data/new'), input: 'out' }];
    const grants = [grant('data/out/x'), grant('secret/x')];
    const error = await refusal(guard.authorizeRun({ ...run, grants, staged, tier: 3 }));
    assert.deepEqual(
      listed(error, 'violations').map(({ path }) => path),
      ['inputs.in', 'inputs.in', 'inputs.out', 'security.isolation'],
    );
  });
});

describe('an approval', () => {
  beforeEach(() => folder.write('tools/t/tool.yaml', 'name: t\npermissions: { level: privileged }\n'));

  async function approve(): Promise<void> {
    const config = await loadConfig({ cwd: folder.root, env });
    const { digest, files } = await executedBy(await Registry.open(config).find('t'), { config, env });
    const given = { by: 'someone', at: '2026-01-01T00:00:00.000Z' };
    new ApprovalStore(env).write({ version: 1, root: folder.root, tool: 't', digest, files, ...given });
  }

  const approvals = () => folder.at('home/.local/share/acor/approvals');
  const file = () => join(approvals(), readdirSync(approvals())[0]!);

  it('lets a privileged tool run, which nothing else does', async () => {
    const error = await refusal((await open()).authorizeTool());
    assert.equal(error.code, 'E_APPROVAL_REQUIRED');
    assert.match(String(error.hint), /^A person must approve it at a terminal\./);
    assert.deepEqual(error.next, [approveStep('t')]);
    await approve();
    const { approval } = await (await open()).authorizeTool();
    assert.deepEqual([approval?.by, approval?.at], ['someone', '2026-01-01T00:00:00.000Z']);
    assert.match(String(approval?.digest), /^[0-9a-f]{64}$/);
  });

  it('of a tool that is built holds for the program that runs, too', async () => {
    folder.write('tools/g/cli.go', 'package main\n');
    const built = folder.program('tools/g/bin/cli', '#!/bin/sh\n');
    const config = await loadConfig({ cwd: folder.root, env });
    const before = digestOf(await Registry.open(config).find('g'));
    assert.deepEqual(
      before.files.map(({ name }) => name),
      ['cli.go', 'bin/cli'],
    );
    folder.program('tools/g/bin/cli', '#!/bin/sh\nexit 1\n');
    assert.notEqual(digestOf(await Registry.open(config).find('g')).digest, before.digest, built);
  });

  it('of a tool in a registry covers its manifest, which is elsewhere', async () => {
    const config = await loadConfig({ cwd: folder.root, env });
    const tool = {
      ...(await Registry.open(config).find('t')),
      manifestPath: folder.write('t.yaml', 'name: t\n'),
    };
    const before = digestOf(tool);
    folder.write('t.yaml', 'name: t\n\n');
    assert.notEqual(digestOf(tool).digest, before.digest);
  });

  for (const [what, change, changed] of [
    [
      'the manifest',
      () => folder.write('tools/t/tool.yaml', 'name: t\npermissions: { level: privileged }\n\n'),
      'tool.yaml',
    ],
    ['the entry', () => folder.write('tools/t/cli.sh', `${CLI}#\n`), 'cli.sh'],
  ] as const) {
    it(`ends with any change of ${what}, and says so`, async () => {
      await approve();
      change();
      const error = await refusal((await open()).authorizeTool());
      assert.equal(error.code, 'E_APPROVAL_REQUIRED');
      assert.match(
        error.message,
        new RegExp(`by someone of 2026.* because ${changed.replace('.', '\\.')} changed$`),
      );
      assert.deepEqual(error.details?.changed, [changed]);
    });
  }

  it('is for one project, one tool', async () => {
    await approve();
    const store = new ApprovalStore(env);
    assert.equal(store.read('/elsewhere', 't'), undefined);
    assert.equal(store.read(folder.root, 'u'), undefined);
    assert.equal(store.list(folder.root).length, 1);
    assert.equal(store.remove(folder.root, 't'), true);
    assert.equal(store.remove(folder.root, 't'), false);
    await refusal((await open()).authorizeTool());
  });

  it('that was copied to the name of another project is not believed', async () => {
    await approve();
    const store = new ApprovalStore(env);
    const original = file();
    const copy = { ...store.read(folder.root, 't')!, root: '/elsewhere' };
    store.write(copy);
    const [name] = readdirSync(approvals()).filter((each) => !original.endsWith(each));
    assert.deepEqual(store.read('/elsewhere', 't'), copy);
    copyFileSync(original, join(approvals(), name!));
    assert.equal(store.read('/elsewhere', 't'), undefined);
  });

  it('is kept where only its giver may look', async () => {
    await approve();
    assert.deepEqual([statSync(approvals()).mode & 0o777, statSync(file()).mode & 0o777], [0o700, 0o600]);
  });

  for (const [what, spoil] of [
    ['others may write to', () => chmodSync(file(), 0o666)],
    ['lies in a folder that others may write to', () => chmodSync(approvals(), 0o777)],
    ['is a link', () => replaceByLink(file())],
    ['is not JSON', () => folder.write(file().slice(folder.root.length), '{')],
    [
      'is of another tool',
      () =>
        folder.write(
          file().slice(folder.root.length),
          readFileSync(file(), 'utf8').replace('"tool":"t"', '"tool":"u"'),
        ),
    ],
  ] as const) {
    it(`that ${what} is not believed`, async () => {
      await approve();
      await (await open()).authorizeTool();
      spoil();
      assert.equal((await refusal((await open()).authorizeTool())).code, 'E_APPROVAL_REQUIRED');
    });
  }

  function replaceByLink(path: string): void {
    folder.write('copy.json', readFileSync(path, 'utf8'));
    chmodSync(folder.at('copy.json'), 0o600);
    rmSync(path);
    symlinkSync(folder.at('copy.json'), path);
  }

  it('is not kept where others may write', async () => {
    folder.folder('home/.local/share/acor/approvals');
    chmodSync(approvals(), 0o777);
    assert.equal((await refusal(approve())).code, 'E_STORAGE');
    assert.deepEqual(readdirSync(approvals()), []);
  });

  it('may stand in the policy of the system or the user, for the very same files', async () => {
    const config = await loadConfig({ cwd: folder.root, env });
    const { digest } = await executedBy(await Registry.open(config).find('t'), { config, env });
    for (const source of ['system', 'user'] as const) {
      folder.write(LAYERS[source], `approved:\n  - { tool: t, digest: ${digest} }\n`);
      const { approval } = await (await open()).authorizeTool();
      assert.deepEqual(approval, { digest, by: `${folder.at(LAYERS[source])}:2:5`, at: null });
      rmSync(folder.at(LAYERS[source]));
    }
    folder.write(LAYERS.user, `approved: [{ tool: t, digest: ${'a'.repeat(64)} }]\n`);
    await refusal((await open()).authorizeTool());
  });

  it('is not given by a policy that approves nothing', async () => {
    for (const source of ['system', 'user', 'project'] as const)
      folder.write(LAYERS[source], 'limits: { timeout_s: 60 }\n');
    assert.equal((await refusal((await open()).authorizeTool())).code, 'E_APPROVAL_REQUIRED');
  });

  it('is not needed for a tool that is not privileged', async () => {
    folder.write('tools/t/tool.yaml', 'name: t\n');
    assert.deepEqual(await (await open()).approval(), { state: 'not_needed' });
  });

  it('of a tool with a command holds for the files of its folder that the command names', async () => {
    const manifest = (command: string) =>
      `name: t\npermissions: { level: privileged }\ncommand: ${command}\n`;
    folder.write('tools/t/tool.yaml', manifest('[bash, cli.sh, no-file]'));
    await approve();
    const { approval } = await (await open()).authorizeTool();
    assert.equal(approval?.by, 'someone');
    folder.write('tools/t/cli.sh', `${CLI}#\n`);
    assert.deepEqual((await refusal((await open()).authorizeTool())).details?.changed, ['cli.sh']);
  });

  for (const [what, change, changed] of [
    ['a module beside the entry', () => folder.write('tools/t/helper.py', 'x\n'), 'helper.py'],
    ['a file in a folder of the tool', () => folder.write('tools/t/data/rules', 'x\n'), 'data/rules'],
    [
      'a library that the tools share',
      () => folder.write('tools/_lib/shared.sh', 'x\n'),
      'tools/_lib/shared.sh',
    ],
    [
      'a script outside that its command names',
      () => folder.write('scripts/run.sh', 'x\n'),
      'scripts/run.sh',
    ],
    ['its interpreter', () => folder.program('bin/runs', '#!/bin/sh\n:\n'), 'bin/runs'],
  ] as const)
    it(`ends with a change of ${what}`, async () => {
      folder.write('scripts/run.sh', ':\n');
      folder.program('bin/runs', '#!/bin/sh\n');
      folder.write('tools/_lib/shared.sh', ':\n');
      folder.write(
        'tools/t/tool.yaml',
        'name: t\npermissions: { level: privileged }\ncommand: [../../bin/runs, ../../scripts/run.sh]\n',
      );
      await approve();
      assert.equal((await (await open()).authorizeTool()).approval?.by, 'someone');
      change();
      const { details } = await refusal((await open()).authorizeTool());
      assert.ok(String(details?.changed).endsWith(changed), String(details?.changed));
    });

  const interpreter = (path: string, text = '#!/bin/sh\nexec /bin/sh "$@"\n') => folder.program(path, text);
  for (const [what, { manifest, before, change, changed, control }] of Object.entries<{
    manifest: () => string;
    before: () => void;
    change: () => void;
    changed: RegExp;
    /** A change of something that the start does not execute. */
    control: () => void;
  }>({
    'a script that its command names from the project in which it starts': {
      manifest: () => 'cwd: project\ncommand: [sh, scripts/deploy.sh]\n',
      before: () => folder.write('scripts/deploy.sh', ':\n'),
      change: () => folder.write('scripts/deploy.sh', 'x\n'),
      changed: /scripts\/deploy\.sh$/,
      control: () => folder.write('scripts/other.sh', 'x\n'),
    },
    'a program that another starts from the project': {
      manifest: () => 'cwd: project\ncommand: [env, bin/wrap, a]\n',
      before: () => interpreter('bin/wrap'),
      change: () => interpreter('bin/wrap', '#!/bin/sh\n:\n'),
      changed: /bin\/wrap$/,
      control: () => interpreter('bin/other'),
    },
    'the interpreter in the first line of a program that its command names': {
      manifest: () => 'cwd: project\ncommand: [env, bin/wrap]\n',
      before: () => {
        interpreter('bin/interp');
        interpreter('bin/wrap', `#!${folder.at('bin/interp')}\n`);
      },
      change: () => interpreter('bin/interp', '#!/bin/sh\n:\n'),
      changed: /bin\/interp$/,
      control: () => interpreter('bin/other'),
    },
    'a file behind an equals sign': {
      manifest: () => `command: [sh, "--require=${folder.at('scripts/hook.js')}", cli.sh]\n`,
      before: () => folder.write('scripts/hook.js', ':\n'),
      change: () => folder.write('scripts/hook.js', 'x\n'),
      changed: /scripts\/hook\.js$/,
      control: () => folder.write('scripts/other.js', 'x\n'),
    },
    'a file in a folder that its command names': {
      manifest: () => `command: [python3, ${folder.at('pkg')}]\n`,
      before: () => folder.write('pkg/__main__.py', 'pass\n'),
      change: () => folder.write('pkg/__main__.py', 'x\n'),
      changed: /pkg\/__main__\.py$/,
      control: () => folder.write('other/__main__.py', 'x\n'),
    },
    'a file directly in the project, when its command names the project': {
      manifest: () => 'cwd: project\ncommand: [python3, .]\n',
      before: () => folder.write('__main__.py', 'pass\n'),
      change: () => folder.write('__main__.py', 'x\n'),
      changed: /__main__\.py$/,
      control: () => folder.write('data/rows', 'x\n'),
    },
    'a file in a folder to which a link in its folder leads': {
      manifest: () => 'command: [sh, cli.sh]\n',
      before: () => {
        folder.write('shared/dep.py', 'pass\n');
        folder.link('shared/back', '..');
        folder.link('tools/t/lib', '../../shared');
      },
      change: () => folder.write('shared/dep.py', 'x\n'),
      changed: /shared\/dep\.py$/,
      control: () => folder.write('other/dep.py', 'x\n'),
    },
  }))
    it(`ends with a change of ${what}`, async () => {
      folder.write('data/rows', '1\n');
      before();
      folder.write('tools/t/tool.yaml', `name: t\npermissions: { level: privileged }\n${manifest()}`);
      await approve();
      control();
      assert.equal((await (await open()).authorizeTool()).approval?.by, 'someone', 'the control');
      change();
      const { code, details } = await refusal((await open()).authorizeTool());
      assert.equal(code, 'E_APPROVAL_REQUIRED');
      assert.match(String(details?.changed), changed);
    });

  it('ends with a change of the interpreter in the first line of its entry, and names each file once', async () => {
    rmSync(folder.at('tools/t'), { recursive: true });
    interpreter('bin/interp');
    folder.program('tools/t/cli', `#!${folder.at('bin/interp')}\n`);
    folder.write('tools/t/tool.yaml', 'name: t\npermissions: { level: privileged }\n');
    await approve();
    assert.equal((await (await open()).authorizeTool()).approval?.by, 'someone');
    interpreter('bin/interp', '#!/bin/sh\n:\n');
    const { details } = await refusal((await open()).authorizeTool());
    assert.deepEqual(details?.changed, [folder.at('bin/interp')]);
    const names = listed({ details: { problems: details?.files } } as unknown as AcorError, 'problems').map(
      ({ name }) => String(name),
    );
    assert.deepEqual(
      names.filter((name) => /(^|\/)cli$/.test(name)),
      ['cli'],
    );
  });

  it('ends with a virtual environment that is put beside the tool or the tools', async () => {
    rmSync(folder.at('tools/t'), { recursive: true });
    folder.write('tools/t/tool.yaml', 'name: t\npermissions: { level: privileged }\n');
    folder.write('tools/t/cli.py', 'pass\n');
    for (const place of ['tools/t/venv', 'tools/shared_venv']) {
      await approve();
      assert.equal((await (await open()).authorizeTool()).approval?.by, 'someone', place);
      folder.program(`${place}/bin/python`, '#!/bin/sh\n');
      folder.write(`${place}/pyvenv.cfg`, '');
      assert.equal((await refusal((await open()).authorizeTool())).code, 'E_APPROVAL_REQUIRED');
      rmSync(folder.at(place), { recursive: true });
    }
  });

  it('of a tool that is not built yet is of its source alone', async () => {
    folder.write('tools/g/cli.go', 'package main\n');
    const config = await loadConfig({ cwd: folder.root, env });
    const { files } = digestOf(await Registry.open(config).find('g'));
    assert.deepEqual(
      files.map(({ name }) => name),
      ['cli.go'],
    );
  });

  it('covers each byte of a large file', async () => {
    const bytes = Buffer.alloc((1 << 20) + 1, 'x');
    folder.write('large', String(bytes));
    assert.equal(sha256Of(folder.at('large')), createHash('sha256').update(bytes).digest('hex'));
  });

  it('does not reach past a policy', async () => {
    await approve();
    folder.write(LAYERS.user, 'max_level: standard\n');
    assert.equal((await refusal((await open()).authorizeTool())).code, 'E_POLICY_DENIED');
  });

  it('does not hold for a manifest that only the cache of discovery has', async () => {
    await approve();
    const config = await loadConfig({ cwd: folder.root, env });
    const tool = await Registry.open(config).find('t');
    const forged = {
      ...tool,
      manifest: { ...tool.manifest, env: { require: [], allow: [], set: { X: '1' } } },
    };
    const request = { config, runsDir: folder.at('.runs'), env, cwd: folder.root, systemFile: '/none' };
    assert.equal(
      (await refusal((await RunGuard.open(forged, request)).authorizeTool())).code,
      'E_MANIFEST_INVALID',
    );
    await (await RunGuard.open(tool, request)).authorizeTool();
  });
});

describe('without a policy', () => {
  it('a host with a wildcard is refused, and one that is named in full is not', async () => {
    const asking = (host: string) =>
      folder.write('tools/t/tool.yaml', `name: t\npermissions: { network: { egress_allow: ['${host}'] } }\n`);
    asking('*.example.com:443');
    assert.equal((await refusal((await open()).authorizeTool())).code, 'E_POLICY_DENIED');
    asking('api.example.com:443');
    assert.equal((await (await open()).authorizeTool()).approval, null);
  });

  it('every program at once is refused, and one that is named is not', async () => {
    const asking = (command: string) =>
      folder.write('tools/t/tool.yaml', `name: t\npermissions: { commands: ['${command}'] }\n`);
    asking('*');
    assert.equal((await refusal((await open()).authorizeTool())).code, 'E_POLICY_DENIED');
    asking('git');
    assert.equal((await (await open()).authorizeTool()).approval, null);
  });

  it('agents may decide nothing', async () => {
    assert.equal(await agentsMay('allow_host', { root: folder.root, env }), false);
  });
});

describe('what agents may decide', () => {
  const may = () => agentsMay('allow_host', { root: folder.root, env });

  it('is said by the user, never by the project alone', async () => {
    folder.write(LAYERS.project, 'agents_may: [allow_host]\n');
    assert.equal(await may(), false);
    folder.write(LAYERS.user, 'agents_may: [allow_host]\n');
    assert.equal(await may(), true);
  });

  it('is said by the only file that there is', async () => {
    folder.write(LAYERS.user, 'agents_may: [allow_host]\n');
    assert.equal(await may(), true);
  });

  it('is taken back by every file that says something else', async () => {
    folder.write(LAYERS.user, 'agents_may: [allow_host]\n');
    folder.write(LAYERS.project, 'agents_may: []\n');
    assert.equal(await may(), false);
  });
});

describe('a tool in a list', () => {
  const named = (approved: string[] = []) =>
    isNamedByApproval('t', {
      root: folder.root,
      env,
      layers: [
        {
          source: 'user',
          file: '/policy.yaml',
          policy: { approved: approved.map((tool) => ({ tool, sha256: 'x' })) },
        } as unknown as PolicyLayer,
      ],
    });

  it('counts as approved by a policy or by a person, and by nothing else', () => {
    assert.equal(named(['u']), false);
    assert.equal(named(['t']), true);
    const given = { by: 'someone', at: '2026-01-01T00:00:00.000Z' };
    new ApprovalStore(env).write({
      version: 1,
      root: folder.root,
      tool: 't',
      digest: 'x',
      files: [],
      ...given,
    });
    assert.equal(named(), true);
  });
});

describe('a digest of content', () => {
  it('does not take a folder that cannot be opened for one that does not exist', () => {
    symlinkSync('circle', folder.at('circle'));
    const digests = new ContentDigests({ bytes: 1, files: 1 }, () => false);
    assert.equal(digests.of(folder.at('none/x')), undefined);
    assert.throws(() => digests.of(folder.at('circle/x')), { code: 'ELOOP' });
  });

  it('compares by size what is above its bound, and says where', () => {
    folder.write('data/a', '1');
    folder.write('data/b', '2');
    const within = new ContentDigests({ bytes: 2, files: 2 }, () => false);
    within.of(folder.at('data'));
    assert.deepEqual(within.comparedBySize, []);
    for (const bound of [
      { bytes: 2, files: 1 },
      { bytes: 1, files: 2 },
    ]) {
      const above = new ContentDigests(bound, () => false);
      above.of(folder.at('data'));
      assert.deepEqual(above.comparedBySize, [folder.at('data')]);
    }
  });
});

async function refusal(work: Promise<unknown>): Promise<AcorError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof AcorError, `not refused: ${error}`);
  assert.equal(existsSync(folder.at('.runs/ledger.jsonl')), false);
  return error;
}

function listed({ details }: AcorError, key: 'violations' | 'problems'): Record<string, unknown>[] {
  assert.ok(Array.isArray(details?.[key]));
  return details[key];
}
