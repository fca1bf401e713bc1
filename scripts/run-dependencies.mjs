import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Development dependencies whose code is in the program: Bun itself, and what the dashboard is bundled from. */
const IN_THE_PROGRAM = ['bun', 'htm', 'preact', '@preact/signals'];

/** What compiling ACOR needs and the program then contains, as the entries of the lock file by path; `''` is the project itself. */
export function dependenciesOf(root) {
  const read = (file) => JSON.parse(readFileSync(join(root, file), 'utf8'));
  const { name, version, dependencies, devDependencies } = read('package.json');
  const bundled = IN_THE_PROGRAM.map((each) => [each, devDependencies[each]]);
  const wanted = { ...dependencies, ...Object.fromEntries(bundled) };
  const { packages } = read('package-lock.json');
  const kept = { '': { name, version, dependencies: wanted } };
  const open = Object.keys(wanted).map((each) => `node_modules/${each}`);
  for (const path of open) {
    if (kept[path] !== undefined || packages[path] === undefined) continue;
    const { dev, devOptional, ...entry } = packages[path];
    kept[path] = entry;
    const isOptional = (each) => entry.peerDependenciesMeta?.[each]?.optional === true;
    const peers = Object.keys(entry.peerDependencies ?? {}).filter((each) => !isOptional(each));
    const needed = [entry.dependencies, entry.optionalDependencies].flatMap((each) =>
      Object.keys(each ?? {}),
    );
    // A package is in the folder of the one that needs it, or at the top.
    for (const each of [...needed, ...peers]) {
      const nested = `${path}/node_modules/${each}`;
      open.push(packages[nested] === undefined ? `node_modules/${each}` : nested);
    }
  }
  return kept;
}
