import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sdkPaths } from '../../../registry/sdk-paths.ts';

/** Functions of a Python module, and the names of their parameters in order, those that take the rest left out. */
export type Signatures = ReadonlyMap<string, readonly string[]>;

/** The emitters of the SDK, as its own source has them. */
export function sdkSignatures(): Signatures {
  return signaturesIn(readFileSync(join(sdkPaths().sdkPython, 'acor', 'emitter.py'), 'utf8'));
}

/** The functions that a Python source defines, methods included. */
export function signaturesIn(source: string): Signatures {
  const found = new Map<string, string[]>();
  for (const [, name, parameters] of source.matchAll(/^[ \t]*def (\w+)\(([^)]*)\)/gm)) {
    const names = parameters!
      .split(',')
      .map((each) => each.replace(/[:=].*/s, '').trim())
      .filter((each) => each !== '' && each !== 'self' && !each.startsWith('*'));
    found.set(name!, names);
  }
  return found;
}
