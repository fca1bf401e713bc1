import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { Fault } from './sample.ts';
import type { Verdict } from './try-fault.ts';

/** The verdicts of earlier runs in a file, one JSON text a line, so that a run that was stopped goes on where it was. */
export class VerdictFile {
  readonly #path: string;
  readonly #verdicts = new Map<string, Verdict>();

  constructor(path: string) {
    this.#path = path;
    if (!existsSync(path)) return;
    const lines = readFileSync(path, 'utf8').split('\n');
    for (const line of lines.filter((each) => each !== '')) {
      const { fault, verdict } = JSON.parse(line) as { fault: string; verdict: Verdict };
      this.#verdicts.set(fault, verdict);
    }
  }

  /** Undefined for a fault that survived, too: a test may have been written for it. */
  of(fault: Fault): Verdict | undefined {
    const verdict = this.#verdicts.get(keyOf(fault));
    return verdict?.word === 'survived' ? undefined : verdict;
  }

  add(fault: Fault, verdict: Verdict): void {
    appendFileSync(this.#path, `${JSON.stringify({ fault: keyOf(fault), verdict })}\n`);
  }
}

/** Without the line's number, so that a change above it does not matter. */
function keyOf({ file, before, after }: Fault): string {
  return `${file}: ${before} -> ${after}`;
}
