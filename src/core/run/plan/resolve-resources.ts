import type { PermissionLevel } from '../../../protocol/manifest-permissions.ts';
import type { ResourceLimits } from '../../../protocol/resource-limits.ts';
import type { Lowered } from './run-plan.ts';

/** What a tool may use when neither its manifest nor the configuration says so (contract §9). What is not named has no limit. */
export const LEVEL_LIMITS: Readonly<Record<PermissionLevel, Readonly<ResourceLimits>>> = {
  minimal: {
    cpu_seconds: 60,
    memory_mb: 512,
    processes: 64,
    open_files: 256,
    disk_mb: 200,
    tmp_mb: 64,
  },
  standard: { processes: 512, open_files: 4096, tmp_mb: 64 },
  privileged: { processes: 4096, open_files: 4096 },
};

/**
 * The limits of a run: the manifest's, else the configuration's, else those of the tool's level; none above its ceiling. What has no
 * limit and has a ceiling is held to the ceiling.
 */
export function resolveResources(wanted: {
  level: PermissionLevel;
  manifest: Readonly<ResourceLimits>;
  config: Readonly<ResourceLimits>;
  ceilings: Readonly<ResourceLimits>;
}): { resources: ResourceLimits; lowered: Lowered[] } {
  const { level, manifest, config, ceilings } = wanted;
  const resources: ResourceLimits = { ...LEVEL_LIMITS[level], ...stated(config), ...stated(manifest) };
  const lowered: Lowered[] = [];
  for (const [what, allowed] of Object.entries(stated(ceilings)) as [keyof ResourceLimits, number][]) {
    const asked = resources[what];
    if (asked !== undefined && asked <= allowed) continue;
    resources[what] = allowed;
    if (manifest[what] !== undefined) {
      lowered.push({ what: `resources.${what}`, asked: manifest[what], allowed });
    }
  }
  return { resources, lowered };
}

/** A key that is there and has no value must not hide the one below it. */
function stated(limits: Readonly<ResourceLimits>): ResourceLimits {
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
}
