import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A folder of its own under the system's temp folder, removed with `remove()`. Paths are relative to it. */
export interface ProjectFolder {
  root: string;
  /** The absolute path of a file in it. */
  at(path: string): string;
  write(path: string, text: string | Uint8Array): string;
  /** A file with the mode bit x. */
  program(path: string, text: string): string;
  folder(path: string): string;
  link(path: string, target: string): string;
  remove(): void;
}

export function projectFolder(files: Readonly<Record<string, string>> = {}): ProjectFolder {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'acor-test-')));
  const at = (path: string) => join(root, path);
  const write = (path: string, text: string | Uint8Array) => {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), text);
    return at(path);
  };
  for (const [path, text] of Object.entries(files)) write(path, text);
  return {
    root,
    at,
    write,
    program(path, text) {
      write(path, text);
      chmodSync(at(path), 0o755);
      return at(path);
    },
    folder(path) {
      mkdirSync(at(path), { recursive: true });
      return at(path);
    },
    link(path, target) {
      mkdirSync(dirname(at(path)), { recursive: true });
      symlinkSync(target, at(path));
      return at(path);
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}
