import { AcorError } from '../../protocol/acor-error.ts';
import { bubblewrap } from './backends/bubblewrap.ts';
import { landlock } from './backends/landlock.ts';
import { none } from './backends/none.ts';
import { ProbeCache } from './probe-cache.ts';
import type { SandboxBackend, SandboxProbe } from './sandbox.ts';

/** `required` asks for the strongest kind, `preferred` takes the strongest that there is, `off` asks for none. */
export type IsolationMode = 'required' | 'preferred' | 'off';

/** All backends that are chosen by themselves, the strongest first. */
export const BACKENDS: readonly SandboxBackend[] = [bubblewrap, landlock, none];

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
  if (mode === 'off') return { backend: none, probe: await none.probe() };
  const candidates = BACKENDS.filter(({ tier }) => tier === 1 || (mode === 'preferred' && tier === 2));
  const cache = new ProbeCache(cacheFolder);
  const found: { backend: SandboxBackend; probe: SandboxProbe }[] = [];
  for (const backend of candidates) {
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
