import { closeSync, openSync, readSync } from 'node:fs';
import { parseYaml, type YamlFile } from '../config/yaml-file.ts';

/** ACOR reads a manifest only at the beginning of a file. */
const MAX_BYTES = 16_384;
const NO_KEYS = {
  rule: 'type',
  message: 'the header manifest has no keys',
  fix: 'Write a key, a colon and a value after each mark, such as "# acor: name: greet".',
};
const MARK = /^(?:#|\/\/) acor:(?=\s|$)/;

/**
 * The manifest in the comments at the top of a script: lines such as `# acor: name: greet` or `// acor: name: greet`. Places are those of
 * the script. Undefined when it has none.
 */
export async function readHeaderManifest(path: string): Promise<YamlFile | undefined> {
  const text = headerOf(path);
  if (text === undefined) return undefined;
  const yaml = await parseYaml(path, text, { aliases: false });
  if (yaml.problems.length > 0 || isMap(yaml.value)) return yaml;
  const line = text.split('\n').findIndex((each) => each.trim() !== '') + 1;
  return { ...yaml, problems: [{ file: path, line, column: 1, ...NO_KEYS }] };
}

function isMap(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The header as YAML of the same lines and columns: spaces replace what is before the manifest. */
function headerOf(path: string): string | undefined {
  const lines: string[] = [];
  let isFound = false;
  for (const line of startOf(path).split(/\r?\n/)) {
    const mark = MARK.exec(line)?.[0];
    if (mark === undefined && line.trim() !== '' && !/^(?:#|\/\/)/.test(line)) break;
    isFound ||= mark !== undefined;
    lines.push(mark === undefined ? '' : ' '.repeat(mark.length) + line.slice(mark.length));
  }
  return isFound ? lines.join('\n') : undefined;
}

function startOf(path: string): string {
  const buffer = Buffer.alloc(MAX_BYTES);
  const fd = openSync(path, 'r');
  try {
    return buffer.toString('utf8', 0, readSync(fd, buffer, 0, MAX_BYTES, 0));
  } finally {
    closeSync(fd);
  }
}
