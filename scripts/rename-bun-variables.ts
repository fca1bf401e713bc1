import { readFileSync, writeFileSync } from 'node:fs';
import { AS_BUN_VARIABLES } from '../src/core/registry/languages/typescript.ts';

// Bun obeys variables also in a program that it has compiled, and has no build option against it: BUN_OPTIONS loads any code into the
// program, BUN_BE_BUN turns it into Bun. This script renames both variables in the program:
//   rename-bun-variables.ts PROGRAM
// It leaves programs for macOS and Windows as they are: a change would break the signature, and the result was never started.

const ELF = Buffer.from('\x7fELF', 'latin1');
const [BE_BUN, OWN_NAME] = AS_BUN_VARIABLES;
const NEW_NAMES: Readonly<Record<string, string>> = {
  // No variable has a name that begins with NUL.
  BUN_OPTIONS: '\0UN_OPTIONS',
  // ACOR runs TypeScript tools with the Bun inside it.
  [BE_BUN]: OWN_NAME,
};

const [program] = process.argv.slice(2);
if (program === undefined) throw new Error('usage: rename-bun-variables.ts PROGRAM');
const bytes = readFileSync(program);
if (bytes.subarray(0, ELF.length).equals(ELF)) {
  for (const [name, newName] of Object.entries(NEW_NAMES)) rename(name, newName);
  writeFileSync(program, bytes);
}

/** Bun's own code comes first in the program, and holds the name as a C string. */
function rename(name: string, newName: string): void {
  if (newName.length !== name.length) throw new Error(`'${newName}' must be as long as '${name}'`);
  const at = bytes.indexOf(Buffer.from(`\0${name}\0`));
  if (at === -1)
    throw new Error(`${program} has no '${name}': look how this version of Bun reads the variable`);
  bytes.write(newName, at + 1, 'latin1');
}
