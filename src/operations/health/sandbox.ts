import { join } from 'node:path';
import type { HealthCheck } from '../../compose/health-shape.ts';
import { BACKENDS, chooseBackend } from '../../core/sandbox/choose.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import type { Project } from '../acor-app.ts';

/** How tools are confined here, said plainly. */
export async function checkSandbox({ config, store }: Project): Promise<HealthCheck[]> {
  const mode = config.config.security.isolation;
  const { backend, probe } = await chooseBackend(mode, null);
  return [{ name: 'sandbox', status: 'ok', detail: `${backend.name}: ${probe.detail}` }];
}
