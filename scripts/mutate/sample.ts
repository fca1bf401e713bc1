import { SeededRandom } from '../../test/support/seeded-random.ts';
import type { Compiler } from './compiler.ts';
import { type Edit, findPlaces, type Place } from './find-places.ts';

export interface Fault {
  file: string;
  line: number;
  operator: string;
  edit: Edit;
  before: string;
  after: string;
}

/** Every place of the files, in an order that depends only on the sources and the seed, with one fault for each. */
export async function shuffledFaults(
  files: readonly string[],
  compiler: Compiler,
  seed: number,
): Promise<Fault[]> {
  const random = new SeededRandom(seed);
  const faults: Fault[] = [];
  for (const file of [...files].sort()) {
    const source = await compiler.sourceFile(file);
    for (const place of findPlaces(source)) faults.push(faultAt(file, source.text, place, random));
  }
  for (let last = faults.length - 1; last > 0; last--) {
    const other = random.below(last + 1);
    [faults[last], faults[other]] = [faults[other]!, faults[last]!];
  }
  return faults;
}

export function withFault(text: string, { start, end, text: replacement }: Edit): string {
  return text.slice(0, start) + replacement + text.slice(end);
}

function faultAt(file: string, text: string, place: Place, random: SeededRandom): Fault {
  const edit = random.pick(place.edits);
  const lineStart = text.lastIndexOf('\n', edit.start - 1) + 1;
  const lineEnd = text.indexOf('\n', edit.end);
  const after = text.slice(lineStart, edit.start) + edit.text + text.slice(edit.end, lineEnd);
  return {
    file,
    line: text.slice(0, edit.start).split('\n').length,
    operator: place.operator,
    edit,
    before: inOneLine(text.slice(lineStart, lineEnd)),
    after: inOneLine(after),
  };
}

function inOneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
