import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { planEgress } from '../egress/egress-plan.ts';
import type { SandboxRequest } from '../sandbox.ts';
import { harmless, seatbelt, seatbeltConfig } from './seatbelt.ts';
import { loadSeatbelt } from './seatbelt-package.ts';

describe('seatbelt, as far as it can be tried without a Mac,', () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'acor-seatbelt-')));
  const at = (path: string) => join(root, path);
  for (const folder of [
    '.acor',
    '.runs/r-1/work',
    '.runs/r-1/secrets',
    '.runs/r-other',
    'data',
    'tools/t',
    'out',
  ])
    mkdirSync(at(folder), { recursive: true });
  writeFileSync(at('README'), '');
  after(() => rmSync(root, { recursive: true }));

  const request: SandboxRequest = {
    ...{
      runId: 'r-1',
      argv: ['/bin/bash', '-c', ':'],
      level: 'minimal',
      runtime: '/bin/bash',
      language: 'bash',
    },
    toolDir: at('tools/t'),
    folders: {
      writable: [at('.runs/r-1/work')],
      readable: [at('.runs/r-1/secrets')],
      work: at('.runs/r-1/work'),
    },
    ...{ libraries: [], commands: null, path: '/usr/bin', network: 'none', limits: {} },
    grants: [
      { path: at('data'), access: 'read' },
      { path: at('out'), access: 'write' },
    ],
    hidden: [at('.acor'), at('.runs')],
  };

  it('closes everything and opens what a tool is given', () => {
    const { filesystem, network } = seatbeltConfig(request);
    assert.deepEqual(filesystem.denyRead, ['/']);
    assert.deepEqual(filesystem.allowWrite.sort(), [at('.runs/r-1/work'), at('out')].sort());
    const own = filesystem.allowRead.filter((path) => path.startsWith(root));
    const given = ['.runs/r-1/secrets', '.runs/r-1/work', 'data', 'out', 'tools/t'].map(at);
    assert.deepEqual(own.sort(), given.sort());
    assert.deepEqual(network, { allowedDomains: [], deniedDomains: [] });
    assert.ok(filesystem.denyWrite.includes('/tmp/claude'), 'all that the package starts share it');
  });

  it('leaves ACOR’s own folders out of a granted project', () => {
    const grants = [{ path: root, access: 'read' as const }];
    const { allowRead } = seatbeltConfig({ ...request, grants }).filesystem;
    assert.ok(allowRead.includes(at('README')));
    for (const closed of ['', '.acor', '.runs', '.runs/r-1', '.runs/r-other'])
      assert.equal(allowRead.includes(join(root, closed)), false, closed);
  });

  it('opens the hosts of a manifest with their ports, and no other', () => {
    const egress = planEgress('t', ['example.com:443'], {
      ...{ allow_network_egress: false, allow_private_egress: [], egress_hosts: {} },
    } as unknown as Parameters<typeof planEgress>[2]);
    const { network } = seatbeltConfig({ ...request, network: 'listed', egress });
    assert.deepEqual(network.allowedDomains, ['example.com:443']);
  });

  it('hands nothing of a tool’s environment to the shell outside that would act on it', () => {
    const env = {
      BASH_ENV: 'x',
      'BASH_FUNC_env%%': '() { x; }',
      DYLD_INSERT_LIBRARIES: 'x',
      LANG: 'C',
      RUN_ID: 'r-1',
    };
    assert.deepEqual(harmless(env), { LANG: 'C', RUN_ID: 'r-1' });
  });

  it('names the command that installs its package, which is not here', async () => {
    writeFileSync(at('package.json'), '{}');
    assert.throws(() => loadSeatbelt([at('tools/t')]), {
      code: 'E_SANDBOX_UNAVAILABLE',
      hint: `npm install --prefix ${root} @anthropic-ai/sandbox-runtime`,
    });
    if (process.platform !== 'darwin') assert.equal((await seatbelt.probe()).available, false);
  });
});
