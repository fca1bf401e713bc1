import type { NextStep } from '../compose/next-step.ts';
import { commandOf } from './command-forms.ts';

/** Writes a fix as one text for data: the words, if any, then the commands. */
export function fixText({ fix, next = [] }: { fix: string | null; next?: readonly NextStep[] }): string {
  const commands = next.map(commandOf).join('; ');
  if (fix === null || commands === '') return fix ?? commands;
  return `${fix.replace(/\.$/, '')}: ${commands}`;
}
