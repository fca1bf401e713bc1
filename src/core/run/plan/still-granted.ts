import type { RunRecord } from '../../../protocol/run-record.ts';
import { isInside, realPathOf } from '../../../util/real-path.ts';
import { grantRoots, systemFolderOf } from '../../registry/path-grants.ts';
import { declaredGrants } from '../../registry/tool-grants.ts';
import type { PlanServices } from './check-tool.ts';
import { ownFolders } from './resolve-call.ts';

/**
 * Says why a place that an ended run wrote could not be granted for writing now; undefined when it could. Since the run, the configuration,
 * the trust in the project or the manifest may have changed, and a link may have taken the place of a folder.
 */
export async function stillGranted(
  services: PlanServices,
  { tool }: Pick<RunRecord, 'tool'>,
  { cwd, env }: { cwd: string; env: Readonly<Record<string, string | undefined>> },
): Promise<(path: string) => string | undefined> {
  const { config } = services;
  const hidden = ownFolders(services, env).map((path) => realPathOf(path, cwd).path);
  const roots = grantRoots(config, cwd);
  const declared = await declaredPlaces();
  return (path) => {
    const own = hidden.find((each) => isInside(path, each) || isInside(each, path));
    if (own !== undefined) return `ACOR keeps its own files in ${own}`;
    const system = systemFolderOf(path);
    if (system !== undefined) return `${system} belongs to the system`;
    if ([...roots, ...declared].some((each) => isInside(path, each))) return undefined;
    return `it is outside of ${roots.join(', ')}, and the manifest of '${tool}' does not name it`;
  };

  async function declaredPlaces(): Promise<string[]> {
    try {
      const found = await services.registry.find(tool, { args: [], cwd, env });
      const grants = declaredGrants(found, { projectRoot: config.root, hidden });
      return grants.filter(({ access }) => access === 'write').map(({ path }) => path);
    } catch {
      // The tool is gone, or its manifest grants nothing any more.
      return [];
    }
  }
}
