import { Deliverer } from '../../core/outbox/deliver.ts';
import type { AcorApp } from '../acor-app.ts';

/** Delivers messages about runs, reminds and escalates until the signal aborts. `open` makes the app of each look, which sees every change. */
export function deliverForever(open: () => AcorApp, env: AcorApp['env'], signal: AbortSignal): Promise<void> {
  return new Deliverer({ open: () => open().project(), env, signal }).forever();
}
