import { closeSync, openSync, readSync } from 'node:fs';
import { parseYaml, type YamlFile } from '../config/yaml-file.ts';

/** ACOR reads a manifest only at the beginning of a file. */
const MAX_BYTES = 16_384;
const MARK = /^(?:#|\/\/) acor:(?=\s|$)/;

/**
 * The manifest in the comments at the top of a script: lines such as `# acor: name: greet` or `// acor: name: greet`. Places are those of
 * the script. Undefined when it has none.
 */
export async function readHeaderManifest(path: string): Promise<YamlFile | undefined> {
  const text = headerOf(path);
  return text === undefined ? undefined : parseYaml(path, text, { aliases: false });
}

/** The header as YAML of the same lines and columns: spaces replace what is before the manifest. */
function headerOf(path: string): string | undefined {
  const lines: string[] = [];
  let isFound = false;
  for (const line of startOf(path).split('\n')) {
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
