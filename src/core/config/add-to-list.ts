import { readFileSync } from 'node:fs';
import { AcorError } from '../../protocol/acor-error.ts';
import { editYaml, valueAt } from './edit-yaml.ts';
import { replaceFile } from './replace-file.ts';
import { parseYaml } from './yaml-file.ts';

/** Adds a text to a list of a YAML file; comments and order stay. Throws E_MANIFEST_INVALID when there is something else in its place. */
export async function addToList(file: string, path: readonly string[], text: string): Promise<void> {
  const before = readFileSync(file, 'utf8');
  const list = valueAt((await parseYaml(file, before)).value, path);
  if (list !== undefined && !Array.isArray(list)) {
    throw new AcorError('E_MANIFEST_INVALID', `${path.join('.')} of ${file} is not a list`, {
      hint: 'Write it as a list.',
    });
  }
  replaceFile(file, await editYaml(before, { path, add: text }));
}
