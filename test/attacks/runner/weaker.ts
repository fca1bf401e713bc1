import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bubblewrap } from '../../../src/core/sandbox/backends/bubblewrap.ts';
import { landlock } from '../../../src/core/sandbox/backends/landlock.ts';
import { needsMounts, ProjectWithMounts } from '../../support/mount-namespace.ts';
import { readRun } from '../../support/project.ts';
import type { RunnerAttack } from './runner-attack.ts';

const BWRAP = '/usr/bin/bwrap';
const VALUE = 'sk-the-real-value-0923-of-the-key';

/** What only bubblewrap can do, as a manifest asks for it. */
const MANIFESTS: Readonly<Record<string, string>> = {
  injects: 'secrets: [{ name: API_TOKEN, as: env, inject: { hosts: [api.test] } }]',
  rules: 'permissions: { network: { egress_allow: [{ host: api.test, methods: [GET] }] } }',
  names: 'permissions: { network: { egress_allow: [api.test:443] } }',
  reviews: 'permissions: { filesystem: { write: [{ path: site, mode: review }] } }',
};
const WRITES = 'permissions: { filesystem: { write: [site] } }';
const CONFIG =
  'version: 1\nenvironment: { cancel_grace_s: 0.3 }\nsecurity: { egress_hosts: { api.test: 127.0.0.1 } }\n';

const refuses: RunnerAttack = async () => {
  if ('skip' in needsMounts) return needsMounts.skip;
  if (process.getuid?.() !== 0)
    return 'only root can hide bubblewrap and still own the programs of the sandbox';
  for (const { name, probe } of [bubblewrap, landlock]) {
    const { available, detail } = await probe();
    if (!available) return `${name} is not available here (${detail})`;
  }
  using project = await ProjectWithMounts.open({ config: CONFIG });
  project.write('site/a.txt', 'one\n');
  for (const [name, manifest] of Object.entries({ ...MANIFESTS, writes: WRITES })) {
    project.write(`tools/${name}/tool.yaml`, `name: ${name}\nversion: 1.0.0\nadapter: plain\n${manifest}\n`);
    project.write(
      `tools/${name}/cli.sh`,
      '#!/bin/bash\necho started; env; cat "$SECRETS_DIR"/* 2> /dev/null; true\n',
    );
  }
  await project.acor(['secret', 'set', 'API_TOKEN'], { stdin: VALUE });
  const run = async (name: string) => readRun(await project.acor(['run', name]));
  for (const name of Object.keys(MANIFESTS)) {
    const { end, stdout } = await run(name);
    assert.equal(end.state, 'completed', `the control: ${name}: ${stdout}`);
  }
  const before = project.runIds().length;
  project.shell(`mount --bind /dev/null ${BWRAP}`);
  for (const name of Object.keys(MANIFESTS)) {
    const { code, error } = await project.envelope(['run', name, '--no-stream']);
    assert.deepEqual([code, error?.code], [2, 'E_SANDBOX_UNAVAILABLE'], name);
  }
  const reviewed = await project.envelope(['run', 'writes', '--review', '--no-stream']);
  assert.equal(reviewed.error?.code, 'E_SANDBOX_UNAVAILABLE');
  assert.equal(project.runIds().length, before, 'nothing has started');
  const { end, of } = await run('writes');
  const { backend } = of('runner_start')[0]!.isolation as { backend: string };
  assert.deepEqual([backend, end.state], ['landlock', 'completed'], 'the control: nothing else is refused');
  for (const id of readdirSync(project.runsDir).filter((name) => name.startsWith('r-')))
    assert.ok(!readFileSync(join(project.runsDir, id, 'events.jsonl'), 'utf8').includes(VALUE));
  return undefined;
};

export const weaker: Readonly<Record<number, RunnerAttack>> = { 96: refuses };
