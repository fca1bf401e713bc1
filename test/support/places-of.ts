import { filesWith } from './files-with.ts';
import type { TestProject } from './project.ts';

/** Where in the store of runs, or in what was shown, one of the texts stands; looks once the supervisors of ended runs have exited. */
export async function placesOf(
  texts: readonly string[],
  project: TestProject,
  shown: string,
): Promise<string[]> {
  await project.supervisorsExited();
  const inStore = filesWith(texts, project.runsDir).map(({ text, path }) => `${text} in ${path}`);
  return [...inStore, ...texts.filter((text) => shown.includes(text)).map((text) => `${text} in the output`)];
}
