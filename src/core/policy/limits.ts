import type { Config } from '../../protocol/config-file.ts';
import type { Manifest } from '../../protocol/manifest.ts';
import type { PolicyRules } from '../../protocol/policy-file.ts';
import type { Asked, Violation } from './decision.ts';
import type { PlacedRules } from './policy-layer.ts';

const RESOURCES = ['cpu_seconds', 'memory_mb', 'processes', 'file_mb', 'open_files'] as const;

type LimitKey = keyof NonNullable<PolicyRules['limits']>;
type Wanted = [path: string, key: LimitKey, asked: number | undefined];

/** Limits that a manifest or the caller requests above a ceiling. */
export function ceilingViolations({ manifest, timeoutS }: Asked, { rules, at }: PlacedRules): Violation[] {
  const { limits = {} } = rules;
  const wanted: Wanted[] = [
    ['timeout_s', 'timeout_s', manifest.timeout_s],
    ['--timeout', 'timeout_s', timeoutS],
    ['max_output_size', 'max_output_size', manifest.max_output_size],
    ...RESOURCES.map((key): Wanted => [`resources.${key}`, key, manifest.resources[key]]),
  ];
  return wanted.flatMap(([path, key, asked]) => {
    const ceiling = limits[key];
    if (ceiling === undefined || asked === undefined || asked <= ceiling) return [];
    return {
      path,
      asked,
      allowed: ceiling,
      by: at(`limits.${key}`),
      // A caller without a command line has a parameter of that name.
      rule: `${path.replace('--', '')} ${asked} is above the ceiling of ${ceiling}`,
      fix: `Request ${ceiling} or less, or raise limits.${key} at ${at(`limits.${key}`)}.`,
    };
  });
}

/** The manifest with its unset limits set to the ceilings; the configured defaults apply where they are lower. */
export function withinCeilings(
  manifest: Manifest,
  rules: readonly PolicyRules[],
  { environment, security }: Config,
): Manifest {
  const cut = (own: number | undefined, fallback: number | undefined, key: LimitKey) => {
    const ceilings = rules.flatMap(({ limits }) => limits?.[key] ?? []);
    if (own !== undefined || ceilings.length === 0) return own;
    return Math.min(fallback ?? Number.POSITIVE_INFINITY, ...ceilings);
  };
  const timeoutS = cut(manifest.timeout_s, environment.timeout_s, 'timeout_s');
  const outputBytes = cut(manifest.max_output_size, environment.max_output_size, 'max_output_size');
  const resources = RESOURCES.map((key) => [
    key,
    cut(manifest.resources[key], security.resource_limits[key as keyof typeof security.resource_limits], key),
  ]);
  return {
    ...manifest,
    ...(timeoutS !== undefined && { timeout_s: timeoutS }),
    ...(outputBytes !== undefined && { max_output_size: outputBytes }),
    resources: Object.fromEntries(resources.filter(([, value]) => value !== undefined)),
  };
}
