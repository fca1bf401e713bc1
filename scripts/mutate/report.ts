import type { Tried } from './run-faults.ts';

export function report(tried: readonly Tried[]): string {
  return tried.map((each) => `${linesOf(each).join('\n')}\n`).join('');
}

/** A fault that does not compile, or that changes nothing, says nothing about the tests, so neither counts. */
export function score(tried: readonly Tried[]): { caught: number; survived: number; percent: number } {
  const caught = tried.filter(({ verdict }) => verdict.word === 'caught').length;
  const survived = tried.filter(({ verdict }) => verdict.word === 'survived').length;
  const percent = caught + survived === 0 ? 0 : Math.floor((100 * caught) / (caught + survived));
  return { caught, survived, percent };
}

function linesOf({ number, fault, verdict }: Tried): string[] {
  const head = `${number}. ${verdict.word}: ${fault.file}:${fault.line} (${fault.operator})`;
  const change = [`     - ${fault.before}`, `     + ${fault.after}`];
  switch (verdict.word) {
    case 'caught':
      return [head, ...change, `     by ${verdict.note}`];
    case 'survived':
      return [head, ...change, `     tests: ${verdict.tests.join(' ') || 'none is near'}`];
    default:
      return [head, ...change, `     ${verdict.note}`];
  }
}
