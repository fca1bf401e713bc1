import type { AcorApp } from '../operations/acor-app.ts';

/** After a command that found no waiting process: starts one for later calls. */
export async function keepHost(app: AcorApp): Promise<void> {
  const { startHost } = await import('../core/host/start-host.ts');
  try {
    startHost(app.cwd, app.env);
  } catch {
    // The command has answered; a folder that cannot be written only means that there is no host.
  }
}
