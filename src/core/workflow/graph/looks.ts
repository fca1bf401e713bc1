import type { GraphNode } from './graph-of.ts';
import type { StepState } from './step-states.ts';

/** Fill and border colour of each state. */
export const COLOURS: Readonly<Record<StepState, { fill: string; stroke: string }>> = {
  queued: { fill: '#f1f3f5', stroke: '#868e96' },
  running: { fill: '#d0ebff', stroke: '#1971c2' },
  waiting: { fill: '#fff3bf', stroke: '#e67700' },
  completed: { fill: '#d3f9d8', stroke: '#2b8a3e' },
  failed: { fill: '#ffe3e3', stroke: '#c92a2a' },
  cancelled: { fill: '#e9ecef', stroke: '#495057' },
  skipped: { fill: '#ffffff', stroke: '#adb5bd' },
};

/** Longer lines make the graph unreadable. */
const LONGEST_LINE = 60;

/** The lines of text in a node. */
export function linesOf({ step, does, when, isForeach, state }: GraphNode): string[] {
  return [
    step,
    ...(does === step ? [] : [does]),
    ...(isForeach ? ['for each item'] : []),
    ...(when === null ? [] : [`when ${when}`]),
    ...(state === null ? [] : [state]),
  ].map((line) => {
    const chars = [...line];
    return chars.length > LONGEST_LINE ? `${chars.slice(0, LONGEST_LINE - 1).join('')}…` : line;
  });
}
