/** The home folder: `HOME` of an environment, else the system's. `node:os` takes half a millisecond to load, so only a start without `HOME` does. */
export function homeFolder(env: Readonly<Record<string, string | undefined>> = {}): string {
  return env['HOME'] || process.getBuiltinModule('node:os').homedir();
}
