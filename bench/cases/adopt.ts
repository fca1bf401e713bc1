import { type Score, scoreCorpus } from '../support/adopt-score.ts';
import type { Bench, Row } from '../support/bench.ts';

const MIN_FOUND = 0.97;
const MIN_TYPES = 0.9;

/** How many options of real help texts `acor adopt` reads, and how many of them rightly, beside what a person reads there. */
export const adopt: Bench = {
  name: 'adopt',
  summary: 'reading the help texts of programs',
  async run() {
    const scores = scoreCorpus();
    const sum = (of: (score: Score) => number) => scores.reduce((total, score) => total + of(score), 0);
    const expected = sum((score) => score.expected);
    const row = (what: string, acor: number, of: number): Row => ({
      what,
      unit: 'options',
      acor,
      baseline: { what: 'read by a person', value: of },
      target: null,
    });
    const found = sum((score) => score.found);
    const types = sum((score) => score.typesRight);
    const falseOnes = sum((score) => score.falseOnes.length);
    return [
      ...scores.flatMap(({ program, style, ...score }) => [
        row(`${program} (${style}): found`, score.found, score.expected),
        row(`${program} (${style}): value, type and choices right`, score.typesRight, score.expected),
      ]),
      {
        ...row(`${scores.length} programs: found`, found, expected),
        target: { text: `${MIN_FOUND} of them`, met: found >= MIN_FOUND * expected },
      },
      {
        ...row(`${scores.length} programs: value, type and choices right`, types, expected),
        target: { text: `${MIN_TYPES} of them`, met: types >= MIN_TYPES * expected },
      },
      row(
        `${scores.length} programs: default right`,
        sum((score) => score.defaultsRight),
        expected,
      ),
      {
        ...row(`${scores.length} programs: false ones`, falseOnes, expected),
        target: { text: 'none', met: falseOnes === 0 },
      },
    ];
  },
};
