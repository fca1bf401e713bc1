import { basename } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { findProgram } from '../find-program.ts';
import type { Language } from './language.ts';
import { nodeCommand } from './node.ts';

const EXTENSIONS = ['.ts', '.mts'];

/**
 * TypeScript without a build: runs with the Bun installed with ACOR, else with Bun or Node from the PATH. Tools can
 * import the SDK without an install.
 */
export const typescript: Language = {
  name: 'typescript',
  extensions: EXTENSIONS,
  detect: (file) => EXTENSIONS.includes(file.extension) || file.interpreter === 'bun',
  runtime({ tool, env, sdk }) {
    const found = sdk.bundledBun ?? findProgram('bun', env) ?? findProgram('node', env);
    if (found !== undefined) return found;
    throw new AcorError(
      'E_RUNTIME_MISSING',
      `tool '${tool}' is written in TypeScript, but neither bun nor node is on the PATH`,
      {
        hint: 'Install Bun from https://bun.sh/, or Node.js 22.18 or later from https://nodejs.org/',
        details: { runtime: 'bun' },
      },
    );
  },
  command(runtime, context) {
    if (basename(runtime) !== 'bun') return nodeCommand(runtime, context);
    // Prevents Bun from downloading missing packages.
    return {
      argv: [runtime, '--no-install', context.entry],
      runtime,
      env: { NODE_PATH: context.sdk.sdkNode },
    };
  },
};
