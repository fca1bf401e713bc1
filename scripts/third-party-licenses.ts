import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dependenciesOf } from './run-dependencies.mjs';

const LICENSE_FILE = /^(licen[cs]e|copying|notice)/i;

/**
 * The licences of the packages whose code is in the bundle and in the compiled program, each with its whole text; or of the named ones.
 */
export function thirdPartyLicenses(root: string, names?: readonly string[]): string {
  const packages =
    names?.map((name) => `node_modules/${name}`) ??
    Object.keys(dependenciesOf(root)).filter((path) => path !== '' && !path.includes('@oven/'));
  const parts = packages.sort().map((path) => {
    const { name, version, license } = JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8'));
    return [`${name} ${version} (${license})`, ...textsOf(root, path)].join('\n\n');
  });
  return `ACOR contains these packages.\n\n${parts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}

function textsOf(root: string, path: string): string[] {
  // Its packages contain the program only.
  if (path === 'node_modules/bun')
    return [
      'Part of the compiled program only. Licences of Bun and its parts: https://bun.com/docs/project/license',
    ];
  const files = readdirSync(join(root, path)).filter((name) => LICENSE_FILE.test(name));
  if (files.length === 0) throw new Error(`${path} has no licence file`);
  return files.map((name) => readFileSync(join(root, path, name), 'utf8').trim());
}
