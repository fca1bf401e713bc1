import { AcorError } from '../../protocol/acor-error.ts';
import { ProbeCache } from './probe-cache.ts';
import type { SandboxBackend, SandboxProbe } from './sandbox.ts';

/** `required` asks for the strongest kind, `preferred` takes the strongest that there is, `off` asks for none. */
export type IsolationMode = 'required' | 'preferred' | 'off';

/** All backends that are chosen by themselves, the strongest first. Each is loaded when it is asked. */
export const BACKENDS: readonly { name: string; tier: number; load(): Promise<SandboxBackend> }[] = [
  { name: 'bubblewrap', tier: 1, load: async () => (await import('./backends/bubblewrap.ts')).bubblewrap },
  { name: 'landlock', tier: 2, load: async () => (await import('./backends/landlock.ts')).landlock },
  { name: 'none', tier: 3, load: async () => (await import('./backends/none.ts')).none },
];

/** A backend, and what is known of it on this machine. */
export interface ChosenBackend {
  backend: SandboxBackend;
  probe: SandboxProbe;
}

/**
 * The backend for a run, chosen by trying them out once; `cacheFolder` keeps what was found. Fails rather than giving less
 * than was asked for: no boundary is only ever given to those who ask for none.
 */
export async function chooseBackend(mode: IsolationMode, cacheFolder: string | null): Promise<ChosenBackend> {
  const isWanted = (tier: number) =>
    mode === 'off' ? tier === 3 : tier === 1 || (mode === 'preferred' && tier === 2);
  const cache = new ProbeCache(cacheFolder);
  const found: { backend: SandboxBackend; probe: SandboxProbe }[] = [];
  for (const { tier, load } of BACKENDS) {
    if (!isWanted(tier)) continue;
    const backend = await load();
    const probe = await cache.probe(backend);
    if (probe.available) return { backend, probe };
    found.push({ backend, probe });
  }
  throw unavailable(mode, found);
}

function unavailable(mode: IsolationMode, found: readonly ChosenBackend[]): AcorError {
  const [first] = found;
  const why = found.map(({ backend, probe }) => `${backend.name}: ${probe.detail}`).join('; ');
  const fix = first?.probe.fix ?? 'See: acor health';
  return new AcorError(
    'E_SANDBOX_UNAVAILABLE',
    `security.isolation is '${mode}', and there is no such sandbox here (${why})`,
    {
      hint: `${fix}. To run tools that you trust without a sandbox, set security.isolation: 'off' in .acor/config.yaml.`,
      details: { tried: found.map(({ backend, probe }) => ({ backend: backend.name, ...probe })) },
      next: ['acor health'],
    },
  );
}
