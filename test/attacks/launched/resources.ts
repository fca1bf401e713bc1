import type { ResourceLimits } from '../../../src/protocol/resource-limits.ts';
import { HOLD, PERL_HOLD, runLimited, SHARED_MEMORY } from '../../support/limited-run.ts';
import { isConfined, type Payload } from './payload.ts';

/** What passes a limit, the code that it ends with, and limits that let it through. `peakMb` is what it must have used before it may end. */
interface Excess {
  probe: string;
  script: string;
  small: ResourceLimits;
  large: ResourceLimits;
  code: string;
  peakMb?: number;
}

/** Uses so much processor time in a process of its own. */
const spin = (seconds: string) => `perl -e 'do { $i++ for 1..50000 } while (times)[0] < ${seconds}'`;

const HARMFUL: Readonly<Record<string, string>> = { FILES: '55000', SPIN: '20', CHAIN: '0.3' };
const HARMLESS: typeof HARMFUL = { FILES: '500', SPIN: '0.35', CHAIN: '0.05' };

const MEMORY = { small: { memory_mb: 60 }, large: { memory_mb: 400 }, code: 'E_MEMORY_LIMIT' };

const EXCESSES: Readonly<Record<number, readonly Excess[]>> = {
  23: [
    {
      probe: 'many processes',
      script: `for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 60 & done; ${HOLD}; kill $(jobs -p)`,
      small: { processes: 6 },
      large: { processes: 40 },
      code: 'E_PROCESS_LIMIT',
      peakMb: 1,
    },
  ],
  60: [
    {
      ...MEMORY,
      probe: 'one process',
      script: `perl -e '$x = "a" x 100_000_000; ${PERL_HOLD}'`,
      peakMb: 100,
    },
    {
      ...MEMORY,
      probe: 'many processes',
      script: `for i in 1 2 3; do perl -e '$x = "a" x 30_000_000; ${PERL_HOLD}' & done; wait`,
      peakMb: 90,
    },
    { ...MEMORY, probe: 'mapped and shared', script: SHARED_MEMORY, peakMb: 200 },
  ],
  61: [
    {
      probe: 'bytes for temporary files',
      script: `t=$(mktemp -d); head -c 9000000 /dev/zero > "$t/f" || exit 1; ${HOLD}; rm -r "$t"`,
      small: { tmp_mb: 4, disk_mb: 5, file_mb: 20 },
      large: { tmp_mb: 40, disk_mb: 60 },
      code: 'rc 1',
      peakMb: 1,
    },
    {
      probe: 'a million files',
      script: `export t=$(mktemp -d); perl -e 'for (1..FILES) { open F, q(>), qq($ENV{t}/$_) or die } ${PERL_HOLD}'; rm -r "$t"`,
      small: {},
      large: {},
      code: 'E_DISK_LIMIT',
      peakMb: 1,
    },
  ],
  62: [
    {
      probe: 'one file',
      script: 'head -c 3000000 /dev/zero > large',
      small: { file_mb: 1 },
      large: { file_mb: 20 },
      code: 'E_FILE_SIZE_LIMIT',
    },
    {
      probe: 'many files',
      script: `for i in {1..12}; do head -c 1000000 /dev/zero > f$i; done; ${HOLD}; rm -f f*`,
      small: { disk_mb: 8 },
      large: { disk_mb: 60 },
      code: 'E_DISK_LIMIT',
      peakMb: 1,
    },
  ],
  63: [
    {
      probe: 'one process',
      script: spin('SPIN'),
      small: { cpu_seconds: 0.3 },
      large: { cpu_seconds: 20 },
      code: 'E_CPU_LIMIT',
    },
    {
      probe: 'a chain of short processes',
      script: `for i in 1 2 3 4 5 6 7 8; do ${spin('CHAIN')}; done`,
      small: { cpu_seconds: 0.3 },
      large: { cpu_seconds: 20 },
      code: 'E_CPU_LIMIT',
    },
  ],
  65: [
    {
      probe: 'open files',
      script: `perl -e 'for (1..60) { open $f[$_], "<", "/dev/null" or die "$!\n" }'`,
      small: { open_files: 40 },
      large: { open_files: 200 },
      code: 'E_OPEN_FILES_LIMIT',
    },
  ],
};

/** Each comes to its code under a small limit; the control is that it comes to its end under a large one. */
export const resources: Readonly<Record<number, Payload>> = Object.fromEntries(
  Object.entries(EXCESSES).map(([number, excesses]) => [
    number,
    async ({ rig }, backend) => {
      const tried = [];
      for (const { probe, script, small, large, code, peakMb } of excesses) {
        const limits = isConfined(backend) ? small : large;
        // So much that it takes long to count where files are on a disk: the guard of the disk has a test of its own.
        if (backend.tier === 2 && script.includes('FILES')) continue;
        // The control passes no more than the small limit.
        const amounts = isConfined(backend) ? HARMFUL : HARMLESS;
        // Never release a script with a small limit: it would exit by itself.
        const isLetGo = backend.tier === 1 && code === 'rc 1';
        const peak = isConfined(backend) && !isLetGo ? 10_000 : peakMb;
        const { came } = await runLimited(
          rig,
          backend,
          script.replace(/FILES|SPIN|CHAIN/g, (name) => amounts[name]!),
          limits,
          peak,
        );
        rig.clean();
        const isHeld = came === code || (code === 'rc 1' && came === 'E_DISK_LIMIT');
        tried.push({ probe, harm: isConfined(backend) ? !isHeld : came === 'rc 0', word: came });
      }
      return tried;
    },
  ]),
);
