import { AcorError } from '../../protocol/acor-error.ts';
import { none } from './backends/none.ts';
import type { SandboxBackend } from './sandbox.ts';

/** `required` asks for a real boundary, `preferred` takes the strongest that there is, `off` asks for none. */
export type IsolationMode = 'required' | 'preferred' | 'off';

/** All backends, the strongest first. */
export const BACKENDS: readonly SandboxBackend[] = [none];

/** The backend for a run, chosen by probing. Fails rather than giving less than was asked for. */
export async function chooseBackend(mode: IsolationMode): Promise<SandboxBackend> {
  for (const backend of BACKENDS) {
    if (mode === 'off' ? backend.name !== 'none' : mode === 'required' && backend.tier === 3) continue;
    if ((await backend.probe()).available) return backend;
  }
  throw new AcorError(
    'E_SANDBOX_UNAVAILABLE',
    `security.isolation is '${mode}', and no sandbox is available here`,
    {
      hint: "Set security.isolation to 'preferred' to run with what there is, or see: acor health",
      next: ['acor health'],
    },
  );
}
