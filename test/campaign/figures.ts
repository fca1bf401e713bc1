import type { RoundResult } from './round.ts';

/** What a campaign came to, in numbers. */
export interface Figures {
  seed: number;
  rounds: number;
  kills: number;
  missed: number;
  completed: number;
  resumes: number;
  byVictim: Record<string, number>;
  byPhase: Record<string, number>;
  violations: string[];
}

/** Adds up the rounds; each violation says how its round is played again. */
export function figuresOf(seed: number, results: readonly RoundResult[]): Figures {
  const kills = results.flatMap((result) => result.kills);
  return {
    seed,
    rounds: results.length,
    kills: kills.length,
    missed: results.reduce((sum, { missed }) => sum + missed, 0),
    completed: results.filter(({ completed }) => completed).length,
    resumes: results.reduce((sum, { resumes }) => sum + resumes, 0),
    byVictim: count(kills.map(({ victim }) => victim)),
    byPhase: count(kills.map(({ phase }) => phase)),
    violations: results.flatMap(({ plan, runId, problems }) =>
      problems.map(
        (problem) =>
          `round ${plan.number} (${runId}): ${problem}\n    npm run soak -- --seed ${seed} --round ${plan.number}`,
      ),
    ),
  };
}

/** The figures as a person reads them. */
export function figuresAsText(figures: Figures): string {
  const { seed, rounds, kills, missed, completed, resumes, byVictim, byPhase, violations } = figures;
  return [
    `seed ${seed}: ${kills} kills in ${rounds} rounds, ${resumes} resumes, ${completed} runs completed, ${violations.length} violations`,
    `  (${missed} more kills found no victim)`,
    ...table('killed', byVictim),
    ...table('when', byPhase),
    ...violations.map((violation) => `  VIOLATION ${violation}`),
    '',
  ].join('\n');
}

function table(title: string, counts: Readonly<Record<string, number>>): string[] {
  const rows = Object.entries(counts).sort(([, a], [, b]) => b - a);
  return [`  ${title}`, ...rows.map(([name, times]) => `    ${String(times).padStart(4)}  ${name}`)];
}

function count(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
