import { execProgram, isAdHoc } from '../../protocol/names.ts';
import type { NextStep } from '../../protocol/next-steps.ts';
import { examplesOf, type Rule } from './proposal.ts';

const MIN_CALLS = 5;

/** Programs and scripts that run again and again, and have no manifest. */
export const programs: Rule = ({ runs, tools }) => {
  const adopted = new Set([...tools.values()].flatMap(({ command, entry }) => [command?.[0], entry]));
  const adHoc = runs.filter(({ tool }) => isAdHoc(tool) && !adopted.has(execProgram(tool) ?? tool));
  return [...Map.groupBy(adHoc, ({ tool }) => tool)]
    .filter(([, own]) => own.length >= MIN_CALLS)
    .map(([tool, own]) => {
      const program = execProgram(tool) ?? tool;
      return {
        kind: 'adopt',
        about: [program],
        what: `Make ${program} a tool, with declared arguments and its own limits.`,
        why: `It ran ${own.length} times without a manifest.`,
        runs: own.length,
        of: runs.length,
        examples: examplesOf(own),
        change: { kind: 'adopt', program },
        next: [adopt(program)],
      };
    });
};

function adopt(program: string): NextStep {
  return { operation: 'tool.adopt', input: { program }, why: 'Write its manifest from its help.' };
}
