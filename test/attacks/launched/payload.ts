import type { SandboxBackend } from '../../../src/core/sandbox/sandbox.ts';
import type { Probe, ProbeGround } from '../probe-ground.ts';

/** One way to try an attack, and whether it came through. */
export type AttemptOutcome = Omit<Probe, 'attack'> & {
  /** Why this machine cannot show the harm, where it cannot. */
  cannot?: string;
};

/** Tries an attack that needs a sandbox of its own, in that of one backend, or in none as the control. */
export type Payload = (ground: ProbeGround, backend: SandboxBackend) => Promise<AttemptOutcome[]>;

/** Whether a backend is a boundary, and so no control. */
export function isConfined({ tier }: SandboxBackend): boolean {
  return tier < 3;
}
