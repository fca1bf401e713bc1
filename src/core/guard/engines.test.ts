import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { reachedInTime } from '../../../test/support/in-time.ts';
import { type ProjectFolder, projectFolder } from '../../../test/support/project-folder.ts';
import { defaultManifest } from '../../protocol/default-manifest.ts';
import { nextTurn } from '../../util/pause.ts';
import type { EngineQuestion } from './engine.ts';
import { askCedar } from './engine-cedar.ts';
import { askCommand } from './engine-command.ts';

const BY = '/etc/acor/policy.yaml:2:9';
const ENV = { PATH: process.env.PATH, HOME: '/', TOKEN: 'not for engines' };

let folder: ProjectFolder;
beforeEach(() => {
  folder = projectFolder();
});
afterEach(() => folder.remove());

describe('a command that decides', () => {
  const ask = (script: string, timeoutMs = 20_000) =>
    askCommand(
      [folder.program('engine.sh', `#!/bin/bash\n${script}\n`), 'one', 'two'],
      question(),
      BY,
      ENV,
      timeoutMs,
    );

  it('allows', async () => {
    assert.deepEqual(await ask(`echo '{"allow":true}'`), []);
    assert.deepEqual(await ask(`echo '{"allow":true,"violations":[]}'`), []);
  });

  it('refuses with its own words, or in general', async () => {
    const said = `{"allow":false,"violations":[{"path":"permissions.level","asked":"standard","rule":"not on Fridays","fix":"Wait."}]}`;
    assert.deepEqual(await ask(`echo '${said}'`), [
      {
        path: 'permissions.level',
        asked: 'standard',
        allowed: null,
        by: BY,
        rule: 'not on Fridays',
        fix: 'Wait.',
      },
    ]);
    const [violation] = await ask(`echo '{"allow":false}'`);
    assert.match(violation!.rule, /does not allow it/);
    assert.equal((await ask(`echo '{"allow":true,"violations":["but"]}'`)).length, 1);
  });

  it('is given the question on stdin, its own arguments, and none of the caller’s secrets', async () => {
    const out = folder.at('asked');
    await ask(
      `cat > '${out}'; echo "$@" > '${out}.args'; env > '${out}.env'; pwd >> '${out}.args'; echo '{"allow":true}'`,
    );
    assert.deepEqual(JSON.parse(readFileSync(out, 'utf8')), question());
    assert.equal(readFileSync(`${out}.args`, 'utf8'), 'one two\n/\n');
    const given = readFileSync(`${out}.env`, 'utf8');
    assert.doesNotMatch(given, /TOKEN|not for engines/);
    assert.ok(given.split('\n').includes(`PATH=${ENV.PATH}`) && given.split('\n').includes('HOME=/'), given);
  });

  for (const [what, script, why] of [
    ['says nothing', 'true', /did not answer/],
    ['does not speak JSON', 'echo yes', /did not answer/],
    ['answers with something else', `echo '{"allow":"true"}'`, /did not answer/],
    ['says more than one thing', `echo '{"allow":true}'; echo '{"allow":true}'`, /did not answer/],
    ['fails, whatever it has said', `echo '{"allow":true}'; echo why >&2; exit 3`, /exit code 3: why/],
    ['dies', `echo '{"allow":true}'; kill -9 $$`, /SIGKILL/],
    ['floods', `yes '{"allow":true}'`, /too much/],
  ] as const) {
    it(`that ${what} allows nothing`, async () => {
      const violations = await ask(script);
      assert.equal(violations.length, 1);
      assert.match(violations[0]!.rule, why);
      assert.match(violations[0]!.rule, /is denied/);
      assert.equal(violations[0]!.by, BY);
    });
  }

  it('that does not end in time allows nothing, and is ended with what it has started', async () => {
    const pid = await reachedInTime(async (limitS) => {
      const [violation] = await ask(
        `sleep 3600 & echo $! > '${folder.at('pid')}'; echo '{"allow":true}'; wait`,
        limitS * 1000,
      );
      assert.ok(violation!.rule.includes(`within ${limitS} s`), violation!.rule);
      const written = existsSync(folder.at('pid')) ? readFileSync(folder.at('pid'), 'utf8').trim() : '';
      return written === '' ? undefined : written;
    });
    while (isAlive(pid)) await nextTurn();
  });

  it('that leaves a process behind has its answer taken, and the process ended', async () => {
    const left = `sleep 3600 >/dev/null 2>&1 & echo $! > '${folder.at('pid')}'; echo '{"allow":true}'`;
    assert.deepEqual(await ask(left), []);
    const pid = readFileSync(folder.at('pid'), 'utf8').trim();
    while (isAlive(pid)) await nextTurn();
  });

  it('that leaves a process behind in a session of its own leaves no open pipe to it', async () => {
    const pipes = () => readdirSync('/proc/self/fd').length;
    const before = pipes();
    const left = `setsid sleep 600 >&2 & echo $! > '${folder.at('pid')}'; echo '{"allow":true}'`;
    assert.deepEqual(await ask(left), []);
    while (pipes() > before) await nextTurn();
    process.kill(Number(readFileSync(folder.at('pid'), 'utf8')), 'SIGKILL');
  });

  it('may print as much as a megabyte, and no byte more', async () => {
    const answer = '{"allow":true}';
    const printed = (bytes: number) =>
      ask(`printf '${answer}'; head -c ${bytes - answer.length} /dev/zero | tr '\\0' ' '`);
    assert.deepEqual(await printed(1 << 20), []);
    assert.match((await printed((1 << 20) + 1))[0]!.rule, /too much/);
  });

  it('that is not there allows nothing', async () => {
    const [violation] = await askCommand(['/no/such/engine'], question(), BY, ENV);
    assert.match(violation!.rule, /could not be started/);
  });
});

describe('Cedar policies', () => {
  const ask = (text: string, changes: Partial<EngineQuestion> = {}) =>
    askCedar(
      'acor.cedar',
      folder.write('acor.cedar', text).replace('acor.cedar', 'policy.yaml'),
      { ...question(), ...changes },
      BY,
    );

  it('allow what they permit, by what is asked for', async () => {
    const text = `permit(principal, action == Action::"run", resource) when { context.level == "standard" };`;
    assert.deepEqual(await ask(text), []);
    const manifest = defaultManifest('t');
    const [violation] = await ask(text, { manifest });
    assert.match(violation!.rule, /no policy of .*acor\.cedar permits it/);
  });

  it('see the paths of the manifest and those of the arguments, by access', async () => {
    const { manifest } = question();
    const filesystem = { read: ['/srv/declared'], write: ['/srv/kept'] };
    const asked: Partial<EngineQuestion> = {
      manifest: { ...manifest, permissions: { ...manifest.permissions, filesystem } },
      grants: [
        { path: '/srv/in', access: 'read', input: 'in' },
        { path: '/srv/out', access: 'write', input: 'out' },
      ],
    };
    const permit = (context: string) => `permit(principal, action, resource) when { ${context} };`;
    const paths = `context.read == ["/srv/declared", "/srv/in"] && context.write == ["/srv/kept", "/srv/out"]`;
    assert.deepEqual(await ask(permit(paths), asked), []);
    assert.equal((await ask(permit(paths))).length, 1);
  });

  it('refuse what one of them forbids, and name it', async () => {
    const text = `permit(principal, action, resource);
@id("no-uploads") forbid(principal == Tool::"t", action, resource) when { context.hosts.contains("up.example.com:443") };
forbid(principal, action, resource) when { context.read.contains("/srv/in") && context.args.contains("[secret]") };`;
    const rules = (await ask(text)).map(({ rule }) => rule).sort();
    assert.equal(rules.length, 2);
    assert.match(rules[0]!, /policy '?no-uploads'? .*forbids it/);
    assert.match(rules[1]!, /policy 3 .*forbids it/);
  });

  it('allow nothing when one of them cannot be read or evaluated, which Cedar itself passes over', async () => {
    const broken =
      'permit(principal, action, resource); forbid(principal, action, resource) when { context.nosuch == 1 };';
    for (const [text, why] of [
      ['permit(principal, action;', /do not hold/],
      [broken, /policy 2 .*cannot be evaluated/],
    ] as const) {
      const [violation] = await ask(text);
      assert.match(violation!.rule, why);
    }
    const [violation] = await askCedar('missing.cedar', folder.at('policy.yaml'), question(), BY);
    assert.match(violation!.rule, /cannot be read \(ENOENT\)/);
  });

  it('allow nothing where the engine is not installed, and say how to install it', async () => {
    const file = folder
      .write('acor.cedar', 'permit(principal, action, resource);')
      .replace('acor.cedar', 'policy.yaml');
    assert.deepEqual(await askCedar('acor.cedar', file, question(), BY), []);
    const [violation] = await askCedar('acor.cedar', file, question(), BY, folder.root);
    assert.match(violation!.rule, /policy engine cedar is not installed/);
    assert.match(violation!.fix, /npm install --prefix '.*' @cedar-policy\/cedar-wasm$/);
  });

  it('are not asked of a package that the project brings along', async () => {
    const trace = folder.at('trace');
    folder.write(
      'node_modules/@cedar-policy/cedar-wasm/nodejs/index.js',
      `require('node:fs').writeFileSync(${JSON.stringify(trace)}, 'x');`,
    );
    await ask('permit(principal, action, resource);');
    assert.equal(existsSync(trace), false);
  });
});

function question(): EngineQuestion {
  const manifest = defaultManifest('t');
  const permissions = {
    ...manifest.permissions,
    level: 'standard' as const,
    network: { egress_allow: ['up.example.com:443'] },
  };
  return {
    tool: 't',
    manifest: { ...manifest, permissions },
    args: ['--key', '[secret]'],
    grants: [{ path: '/srv/in', access: 'read', input: 'in' }],
    cwd: '/project',
    caller: 'an-agent',
  };
}

function isAlive(pid: string): boolean {
  return existsSync(`/proc/${pid}`) && !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
}
