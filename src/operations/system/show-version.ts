import type { OperationContext, OperationResult } from '../../compose/operation.ts';
import { ACOR_VERSION } from '../../util/version.ts';
import type { AcorApp } from '../acor-app.ts';
import { plainCommand } from '../define.ts';
import type { VersionDetails } from './version-shape.ts';

/** The version alone, or with everything that it depends on. */
export async function showVersion(
  { detailed }: { detailed: boolean },
  { cwd, env }: OperationContext<AcorApp>,
): Promise<OperationResult<{ version: string } & Partial<VersionDetails>>> {
  if (!detailed) return { kind: 'data', data: { version: ACOR_VERSION } };
  const { versionDetails } = await import('./version-details.ts');
  return { kind: 'data', data: { version: ACOR_VERSION, ...(await versionDetails({ cwd, env })) } };
}

export const plainVersion = plainCommand('system.version', showVersion);
