import { join } from 'node:path';
import { BACKENDS } from '../../src/core/sandbox/choose.ts';
import type { SandboxBackend } from '../../src/core/sandbox/sandbox.ts';
import { SandboxRig } from '../../test/support/sandbox-rig.ts';
import type { Bench, Row } from '../support/bench.ts';
import { interleavedMedians, timeMs } from '../support/measure.ts';
import { runProcess } from '../support/process.ts';

const ROUNDS = 30;
const BARE = ['/bin/bash', '-c', ':'];
/** What bubblewrap costs by itself, with nothing but new namespaces and the whole system. */
const BARE_BUBBLEWRAP = [
  ...[
    'bwrap',
    '--unshare-all',
    '--die-with-parent',
    '--ro-bind',
    '/',
    '/',
    '--proc',
    '/proc',
    '--dev',
    '/dev',
  ],
  ...['--tmpfs', '/tmp', ...BARE],
];

/** What each sandbox of this machine adds to the start and the end of a tool, over a bare spawn and over bubblewrap as it is. */
export const sandbox: Bench = {
  name: 'sandbox',
  summary: 'a tool in each sandbox',
  async run({ workplace }) {
    const backends = await backendsHere();
    const rig = await SandboxRig.make();
    const spawned = (argv: string[]) => async () =>
      (await runProcess({ argv, cwd: '/', env: workplace.env }, join(rig.root, 'bench-out'))).wallMs;
    try {
      const confined = backends.map(({ name, backend }) => [
        name,
        () => timeMs(async () => void (await rig.bash(backend, ':'))),
      ]);
      const hasBubblewrap = backends.some(({ name }) => name === 'bubblewrap');
      const figures = await interleavedMedians<string>(
        {
          bare: spawned(BARE),
          ...(hasBubblewrap && { 'bare bubblewrap': spawned(BARE_BUBBLEWRAP) }),
          ...Object.fromEntries(confined),
        },
        { rounds: ROUNDS, warmUps: 3 },
      );
      const row = (name: string, what: string, baseline: string): Row => ({
        what: `bash in ${name}`,
        unit: 'ms',
        acor: figures[name]!,
        baseline: { what, value: figures[baseline]! },
        target: null,
      });
      return backends.flatMap(({ name }) => [
        row(name, 'a bare spawn', 'bare'),
        ...(name === 'bubblewrap' ? [row(name, 'bubblewrap as it is', 'bare bubblewrap')] : []),
      ]);
    } finally {
      rig.remove();
    }
  },
};

async function backendsHere(): Promise<{ name: string; backend: SandboxBackend }[]> {
  const here: { name: string; backend: SandboxBackend }[] = [];
  for (const { name, load } of BACKENDS) {
    const backend = await load();
    const probe = await backend.probe();
    // Tried out once, as a project does.
    if (probe.available) here.push({ name, backend: { ...backend, probe: async () => probe } });
  }
  return here;
}
