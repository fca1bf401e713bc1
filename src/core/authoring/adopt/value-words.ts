import type { InputType } from '../../../protocol/input-types.ts';

/** The value names in help texts that imply a type that ACOR checks. */
const WORDS: Readonly<Record<Exclude<InputType, 'bool' | 'json' | 'string'>, readonly string[]>> = {
  path: [
    ...['file', 'files', 'filename', 'path', 'paths', 'dir', 'directory', 'folder', 'infile', 'outfile'],
    ...[
      'pathname',
      'logfile',
      'dest',
      'file_name',
      'target_directory',
      'configfile',
      'directories',
      'archive',
    ],
  ],
  int: [
    'n',
    'num',
    'number',
    'int',
    'integer',
    'count',
    'port',
    'fd',
    'uid',
    'gid',
    'pid',
    'depth',
    'width',
    'retries',
    'uint',
    'uint16',
    'uint32',
    'uint64',
    'int32',
    'int64',
    'lines',
    'cols',
    'levels',
  ],
  number: ['float', 'float32', 'float64', 'double', 'decimal', 'fraction'],
  duration: ['seconds', 'secs', 'sec'],
  url: ['url', 'uri'],
};

/** Words that name a value and are not values themselves. */
const OTHERS = new Set([
  ...['name', 'string', 'str', 'text', 'val', 'value', 'arg', 'pattern', 'regex', 'glob', 'host', 'hosts'],
  ...['commit', 'type', 'mode', 'size', 'list', 'key', 'user', 'group', 'level', 'pkg', 'package', 'command'],
  ...[
    'cmd',
    'date',
    'time',
    'spec',
    'expr',
    'format',
    'letters',
    'module',
    'mod',
    'opt',
    'option',
    'address',
  ],
  ...['token', 'template', 'id', 'extension', 'octal', 'octnum', 'hexadecimal', 'duration', 'bytes', 'stdin'],
  ...['strings', 'thing', 'word', 'program', 'prog', 'prefix', 'suffix', 'data', 'content', 'line', 'ip'],
]);

const ALL: ReadonlySet<string> = new Set([...Object.values(WORDS).flat(), ...OTHERS]);

/** Whether a word is the name of a value. */
export function isMetavar(word: string): boolean {
  return ALL.has(word.toLowerCase());
}

/** The type that the name of a value implies. In a compound name the last part decides. */
export function typeOfWord(name: string): InputType | undefined {
  if (/^#+$/.test(name)) return 'int';
  const words = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, ' ')
    .trim()
    .split(' ');
  const last = words.at(-1)!;
  if (words.includes('or')) return undefined;
  for (const [type, known] of Object.entries(WORDS)) {
    if (!known.includes(last) && !known.includes(words.join('_'))) continue;
    return type as InputType;
  }
  if (/(?:file|dir|path)$/.test(last)) return 'path';
  return undefined;
}
