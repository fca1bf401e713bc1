import { AcorError } from '../../protocol/acor-error.ts';
import { SEE_HEALTH } from '../../protocol/next-steps.ts';
import type { ContainerSettings } from './backends/engine.ts';
import { ProbeCache } from './probe-cache.ts';
import type { Confinement, SandboxBackend, SandboxLaunch, SandboxProbe } from './sandbox.ts';

/** `required` demands the strongest kind, `preferred` takes the strongest available, `off` uses none. */
export type IsolationMode = 'required' | 'preferred' | 'off';

/** The part of the configuration section `security` that selects the sandbox. */
export interface SandboxPolicy {
  isolation: IsolationMode;
  container?: ContainerSettings | undefined;
}

/** A backend that is loaded on demand. */
interface Candidate {
  name: string;
  tier: number;
  /** The only operating system that it supports. */
  platform?: NodeJS.Platform;
  load(): Promise<SandboxBackend>;
}

/** All backends for automatic selection, the strongest first. */
export const BACKENDS: readonly Candidate[] = [
  {
    ...{ name: 'bubblewrap', tier: 1, platform: 'linux' },
    load: async () => (await import('./backends/bubblewrap.ts')).bubblewrap,
  },
  {
    ...{ name: 'landlock', tier: 2, platform: 'linux' },
    load: async () => (await import('./backends/landlock.ts')).landlock,
  },
  {
    ...{ name: 'seatbelt', tier: 2, platform: 'darwin' },
    load: async () => (await import('./backends/seatbelt.ts')).seatbelt,
  },
  { name: 'none', tier: 3, load: async () => (await import('./backends/none.ts')).none },
];

/** A backend with its probe result on this machine. */
export interface ChosenBackend {
  backend: SandboxBackend;
  probe: SandboxProbe;
  /** The stronger backends that are unavailable, and why. */
  skippedBackends: readonly { backend: SandboxBackend; probe: SandboxProbe }[];
  /** Invalidates the cached probe: the next run probes again. */
  forget(): void;
}

/**
 * Selects the backend for a run and probes it once; `cacheFolder`, the user's own, keeps the result. It fails rather than choosing less
 * than requested: only `off` selects no sandbox, and nothing replaces a requested container.
 */
export async function chooseBackend(wish: SandboxPolicy, cacheFolder: string | null): Promise<ChosenBackend> {
  const cache = new ProbeCache(cacheFolder);
  const skippedBackends: { backend: SandboxBackend; probe: SandboxProbe }[] = [];
  for (const { load } of candidatesFor(wish)) {
    const backend = await load();
    // Whether there is no sandbox needs no look at this machine, and no cache.
    const probe = await (backend.tier === 3 ? backend.probe() : cache.probe(backend));
    if (probe.available) {
      const forget = () => cache.forget(backend);
      return { backend: withKeptFilters(backend, cache), probe, skippedBackends, forget };
    }
    skippedBackends.push({ backend, probe });
  }
  throw unavailable(wish, skippedBackends);
}

/** Wraps a confinement so that it calls `forget` when the sandbox cannot be created. */
export function forgettingWhenBroken(confinement: Confinement, forget: () => void): Confinement {
  const watched = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      if (error instanceof AcorError && error.code === 'E_SANDBOX_UNAVAILABLE') forget();
      throw error;
    }
  };
  const watchedLaunch = (launch: SandboxLaunch): SandboxLaunch => ({
    ...launch,
    settle: (exit) => watched(() => launch.settle(exit)),
  });
  const { ahead } = confinement;
  return {
    ...confinement,
    launch: (options) => watchedLaunch(watched(() => confinement.launch(options))),
    ...(ahead && {
      ahead: {
        ...ahead,
        prepare(place) {
          const sandbox = watched(() => ahead.prepare(place));
          return { ...sandbox, launch: watchedLaunch(sandbox.launch) };
        },
      },
    }),
  };
}

function withKeptFilters(backend: SandboxBackend, cache: ProbeCache): SandboxBackend {
  return {
    ...backend,
    confine: (request, probe) => backend.confine(request, probe, (rules) => cache.filterOf(rules)),
  };
}

function candidatesFor({ isolation, container }: SandboxPolicy): readonly Pick<Candidate, 'load'>[] {
  if (isolation !== 'off' && container !== undefined) {
    return [{ load: async () => (await import('./backends/container.ts')).containerBackend(container) }];
  }
  return BACKENDS.filter(({ tier, platform = process.platform }) => {
    if (platform !== process.platform) return false;
    return isolation === 'off' ? tier === 3 : tier === 1 || (isolation === 'preferred' && tier === 2);
  });
}

function unavailable({ isolation }: SandboxPolicy, found: ChosenBackend['skippedBackends']): AcorError {
  const [first] = found;
  const tried = found.map(({ backend, probe }) => `${backend.name}: ${probe.detail}`).join('; ');
  const why = tried || `none of this strength is for ${process.platform}`;
  const fix = first?.probe.fix ?? 'See what this machine offers';
  return new AcorError(
    'E_SANDBOX_UNAVAILABLE',
    `security.isolation is '${isolation}', but this machine has no such sandbox (${why})`,
    {
      hint: `${fix}. To run tools that you trust without a sandbox, set security.isolation: 'off' in .acor/config.yaml.`,
      details: { tried: found.map(({ backend, probe }) => ({ backend: backend.name, ...probe })) },
      next: [SEE_HEALTH],
    },
  );
}
