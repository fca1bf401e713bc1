import type { NextStep } from '../compose/next-step.ts';
import { commandOf } from './command-forms.ts';

/** A fix as data shows it: in words, if there are any, then the commands that do it. */
export function fixText({ fix, next = [] }: { fix: string | null; next?: readonly NextStep[] }): string {
  const commands = next.map(commandOf).join('; ');
  if (fix === null || commands === '') return fix ?? commands;
  return `${fix.replace(/\.$/, '')}: ${commands}`;
}
