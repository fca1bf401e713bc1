import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { AcorApp } from '../acor-app.ts';

/** The folder of the project's skills, each a folder with a SKILL.md; undefined without one. */
export async function skillsFolder(app: AcorApp): Promise<string | undefined> {
  await app.authorize({ name: 'skill.list', effect: 'reads' }, {});
  const { config } = await app.project();
  const folder = join(config.root, '.acor', 'skills');
  return existsSync(folder) ? folder : undefined;
}
