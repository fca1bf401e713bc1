import type { AcorApp } from '../operations/acor-app.ts';

/** After a command that found no waiting process: starts one for later calls where the configuration wants it. */
export async function keepHost(app: AcorApp | undefined): Promise<void> {
  const project = await app?.openedProject?.catch(() => undefined);
  if (app === undefined || project?.config.config.host !== 'auto') return;
  const { startHost } = await import('../core/host/start-host.ts');
  try {
    startHost(app.cwd, app.env);
  } catch {
    // The command has answered; a folder that cannot be written only means that there is no host.
  }
}
