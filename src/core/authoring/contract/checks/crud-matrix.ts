import { effectOfVerb } from '../effects.ts';
import { brokenBy, type Check, finding, helpEvidence, nameOf, notJudged } from '../finding.ts';
import { type Command, leaves } from '../surface.ts';

const CREATES = /^(?:add|create|new|insert|register|import|put|set)$/;
const READS =
  /^(?:list|ls|get|show|view|inspect|info|describe|status|find|search|read|check|verify|tree|history)$/;
const DELETES =
  /^(?:delete|remove|rm|rmi|drop|destroy|prune|purge|unset|unregister|uninstall|clear|reset|disable)$/;

export const crudMatrix: Check = {
  rule: 'crud-matrix',
  judge({ program, surface }) {
    const nouns = Map.groupBy(
      leaves(surface).filter(({ words }) => words.length > 1 && effectOfVerb(words.at(-2)!) === 'unknown'),
      ({ words }) => nameOf(words.slice(0, -1)),
    );
    const entities = [...nouns].filter(([, commands]) => has(commands, CREATES) || has(commands, DELETES));
    if (entities.length === 0) return notJudged('no group of commands creates or deletes anything');
    const isList = (noun: string) =>
      surface.commands.some(({ words, effect }) => nameOf(words) === noun && effect === 'reads');
    return brokenBy(
      entities.map(([noun, commands]) => {
        const holes = [
          ...(has(commands, READS) || isList(noun) ? [] : ['list']),
          ...(has(commands, CREATES) && !has(commands, DELETES) ? ['delete'] : []),
        ];
        if (holes.length === 0) return undefined;
        return finding({
          rule: 'crud-matrix',
          severity: 'medium',
          message: `'${noun}' has ${commands.map(({ words }) => words.at(-1)).join(', ')}, and no ${holes.join(', nor ')}`,
          commands: [noun],
          evidence: commands.map(({ words, summary }) => helpEvidence(surface, words, summary)),
          fix: `Add ${holes.map((verb) => `'${program} ${noun} ${verb}'`).join(' and ')}, or say in the help where it is done.`,
          surface: holes.map((verb) => ({
            change: 'add' as const,
            command: `${noun} ${verb}`,
            what: `completes '${noun}'`,
            breaks: false,
          })),
        });
      }),
    );
  },
};

function has(commands: readonly Command[], verbs: RegExp): boolean {
  return commands.some(({ words }) => verbs.test(words.at(-1)!));
}
