import { readFileSync } from 'node:fs';
import { AcorError } from '../../protocol/acor-error.ts';
import { editYaml, valueAt } from './edit-yaml.ts';
import { replaceFile } from './replace-file.ts';
import { parseYaml } from './yaml-file.ts';

const LEVEL = ['permissions', 'level'];

/**
 * Adds texts to a list of the permissions of a manifest; comments and order stay. A level that is too low for them becomes `standard`. Throws
 * E_MANIFEST_INVALID when there is something that is not a list.
 */
export async function allowInManifest(
  file: string,
  path: readonly string[],
  texts: readonly string[],
): Promise<void> {
  let text = readFileSync(file, 'utf8');
  const { value } = await parseYaml(file, text);
  const list = valueAt(value, path);
  if (list !== undefined && !Array.isArray(list)) {
    throw new AcorError('E_MANIFEST_INVALID', `${path.join('.')} of ${file} is not a list`, {
      hint: 'Write it as a list.',
    });
  }
  for (const each of texts.filter((one) => !list?.includes(one)))
    text = await editYaml(text, { path, add: each });
  if (valueAt(value, LEVEL) === 'minimal') text = await editYaml(text, { path: LEVEL, value: 'standard' });
  replaceFile(file, text);
}
