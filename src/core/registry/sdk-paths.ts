import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folders of the SDKs that ACOR ships. */
export interface SdkPaths {
  packageRoot: string;
  sdkPython: string;
  sdkBash: string;
  /** The folder that contains `acor/tool`, for TypeScript and JavaScript. */
  sdkNode: string;
  /** The Bun that is installed with ACOR, if any. */
  bundledBun: string | null;
}

const MARK = join('sdk', 'python', 'acor', '__init__.py');

let found: SdkPaths | undefined;

/** Finds the package folder from the sources, or from the compiled binary, whose modules are in no real folder. */
export function sdkPaths(): SdkPaths {
  found ??= locate([import.meta.dirname, dirname(process.execPath)]);
  return found;
}

function locate(starts: string[]): SdkPaths {
  for (const start of starts) {
    for (let dir = start; ; dir = dirname(dir)) {
      if (existsSync(join(dir, MARK))) return pathsIn(dir);
      if (dir === dirname(dir)) break;
    }
  }
  throw new Error(`Internal: no ${MARK} above ${starts.join(' or ')}`);
}

function pathsIn(packageRoot: string): SdkPaths {
  const bun = join(packageRoot, 'node_modules', '.bin', process.platform === 'win32' ? 'bun.exe' : 'bun');
  return {
    packageRoot,
    sdkPython: join(packageRoot, 'sdk', 'python'),
    sdkBash: join(packageRoot, 'sdk', 'bash'),
    sdkNode: join(packageRoot, 'sdk', 'node'),
    bundledBun: existsSync(bun) ? bun : null,
  };
}
