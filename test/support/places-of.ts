import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from './project.ts';

/** Where in the store of runs, or in what was shown, one of the texts stands. The names of files are not looked at. */
export function placesOf(texts: readonly string[], project: TestProject, shown: string): string[] {
  const files = (
    readdirSync(project.runsDir, { recursive: true, withFileTypes: true }) as {
      isFile(): boolean;
      parentPath: string;
      name: string;
    }[]
  )
    .filter((entry) => entry.isFile())
    .map((entry) => ({
      path: join(entry.parentPath, entry.name),
      bytes: readFileSync(join(entry.parentPath, entry.name)),
    }));
  const all = [...files, { path: 'the output', bytes: Buffer.from(shown) }];
  return texts.flatMap((text) =>
    all.filter(({ bytes }) => bytes.includes(text)).map(({ path }) => `${text} in ${path}`),
  );
}
