import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sdkPaths } from '../../../registry/sdk-paths.ts';

/** The functions of a Python module with their parameter names in order, without `*args` and `**kwargs`. */
export type Signatures = ReadonlyMap<string, readonly string[]>;

/** The emitters of the SDK, read from its own source. */
export function sdkSignatures(): Signatures {
  return signaturesIn(readFileSync(join(sdkPaths().sdkPython, 'acor', 'emitter.py'), 'utf8'));
}

/** The functions that a Python source defines, including methods. */
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
