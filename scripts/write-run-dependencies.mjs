// Writes package.json and package-lock.json of what compiling ACOR needs to a folder, with the versions and checksums of the
// project's lock file:
//   node scripts/write-run-dependencies.mjs FOLDER
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { dependenciesOf } from './run-dependencies.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = process.argv[2];
const packages = dependenciesOf(root);
const { name, version, dependencies } = packages[''];
const write = (file, content) => writeFileSync(join(folder, file), JSON.stringify(content));

mkdirSync(folder, { recursive: true });
write('package.json', { name, version, private: true, dependencies });
write('package-lock.json', { name, version, lockfileVersion: 3, requires: true, packages });
