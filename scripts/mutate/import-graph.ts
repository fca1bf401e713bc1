import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

const SPECIFIER = /(?:\bfrom|\bimport)\s*\(?\s*'(\.[^']+)'/g;

/** Which files of the project import which others. Late imports and imports of types count as well. */
export class ImportGraph {
  readonly #importers = new Map<string, string[]>();
  readonly #imports = new Map<string, string[]>();

  constructor(root: string, files: readonly string[]) {
    for (const file of files.filter((each) => each.endsWith('.ts'))) {
      const text = readFileSync(join(root, file), 'utf8');
      const imported = [...text.matchAll(SPECIFIER)].map((match) =>
        posix.join(posix.dirname(file), match[1]!),
      );
      this.#imports.set(file, imported);
      for (const each of new Set(imported))
        this.#importers.set(each, [...(this.#importers.get(each) ?? []), file]);
    }
  }

  importersOf(file: string): readonly string[] {
    return this.#importers.get(file) ?? [];
  }

  /** The files that import `file` directly or through others, nearest first, up to `steps` imports away. */
  importersWithin(file: string, steps: number): string[] {
    return reach(file, (each) => this.importersOf(each), steps);
  }

  /** Whether `file` is, or imports directly or through others, the file `wanted`. */
  doesReach(file: string, wanted: string): boolean {
    return file === wanted || reach(file, (each) => this.#imports.get(each) ?? [], 99).includes(wanted);
  }
}

function reach(from: string, next: (file: string) => readonly string[], steps: number): string[] {
  const found = new Set<string>();
  let edge = [from];
  for (let step = 0; step < steps && edge.length > 0; step++) {
    edge = edge.flatMap((file) => [...next(file)]).filter((file) => file !== from && !found.has(file));
    for (const file of edge) found.add(file);
  }
  return [...found];
}
