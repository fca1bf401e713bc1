import type { HealthCheck } from '../../compose/health-shape.ts';
import { BACKENDS, chooseBackend } from '../../core/sandbox/choose.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import type { Project } from '../acor-app.ts';

/** How tools are confined here, said plainly. */
export async function checkSandbox({ config }: Project): Promise<HealthCheck[]> {
  const mode = config.config.security.isolation;
  try {
    const backend = await chooseBackend(mode);
    const { detail } = await backend.probe();
    if (backend.tier < 3) return [{ name: 'sandbox', status: 'ok', detail: `${backend.name}: ${detail}` }];
    const status = mode === 'off' ? 'ok' : 'degraded';
    const fix =
      "Run only tools that you trust, and say so with security.isolation: 'off' in .acor/config.yaml.";
    return [
      {
        name: 'sandbox',
        status,
        detail: `${backend.name}: ${detail}`,
        ...(status === 'degraded' && { fix }),
      },
    ];
  } catch (error) {
    if (!(error instanceof AcorError)) throw error;
    const tried = BACKENDS.map(({ name }) => name).join(', ');
    return [
      {
        name: 'sandbox',
        status: 'blocked',
        detail: `${error.message} (tried: ${tried})`,
        fix: error.hint ?? '',
      },
    ];
  }
}
