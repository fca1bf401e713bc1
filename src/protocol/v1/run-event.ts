import type * as z from 'zod';
import type { RUNNER_EVENTS } from './runner-events.ts';
import type { TASK_MESSAGES } from './task-messages.ts';
import type { TOOL_MESSAGES } from './tool-messages.ts';

type AllEvents = typeof TOOL_MESSAGES & typeof TASK_MESSAGES & typeof RUNNER_EVENTS;

/** An event of a run for a reader, discriminated by `type`. A tool may also write types that are unknown here. */
export type RunEvent = { [T in keyof AllEvents]: z.output<AllEvents[T]> & { seq: number } }[keyof AllEvents];
