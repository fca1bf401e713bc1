import type { NextStep } from '../compose/next-step.ts';
import { commandOf } from './command-forms.ts';

/** A fix as data shows it: in words, then the commands that do it. */
export function fixText({ fix, next = [] }: { fix: string; next?: readonly NextStep[] }): string {
  return next.length === 0 ? fix : `${fix.replace(/\.$/, '')}: ${next.map(commandOf).join('; ')}`;
}
