import { inShort, recordOf } from './json-object.ts';

/** What an agent's tool works on, by the usual names of its inputs; the first that is there counts. */
const SUBJECTS = [
  'command',
  'file_path',
  'absolute_path',
  'notebook_path',
  'path',
  'dir_path',
  'pattern',
  'query',
  'url',
  'description',
  'prompt',
  'skill',
];

/** The input of an agent's tool in words, instead of raw JSON: what it works on, else its first text. */
export function actionWords(input: unknown): string {
  const fields = recordOf(input);
  const texts = [...SUBJECTS.map((name) => fields[name]), ...Object.values(fields)];
  const text = texts.find((each) => typeof each === 'string' && each.trim() !== '');
  return text === undefined ? '' : inShort(text);
}
