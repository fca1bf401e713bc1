import { basename, join } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { findProgram } from '../find-program.ts';
import type { Language, RuntimeContext } from './language.ts';
import { nodeCommand } from './node.ts';

const EXTENSIONS = ['.ts', '.mts'];
/**
 * The variables that make the compiled `acor` run as Bun: Bun's own name, and the name that it has in the Linux program, where `acor`
 * ignores Bun's (`scripts/rename-bun-variables.ts`).
 */
export const AS_BUN_VARIABLES = ['BUN_BE_BUN', 'ACOR_AS_BN'] as const;

const INSTALL = 'Install Bun from https://bun.sh/, or Node.js 22.18 or later from https://nodejs.org/';

/**
 * TypeScript without a build: runs with the Bun installed with ACOR, else with Bun or Node from the PATH. Tools can
 * import the SDK without an install.
 */
export const typescript: Language = {
  name: 'typescript',
  extensions: EXTENSIONS,
  detect: (file) => EXTENSIONS.includes(file.extension) || file.interpreter === 'bun',
  async runtime({ tool, env, sdk }) {
    const bun = sdk.ownBun?.program ?? findProgram('bun', env);
    if (bun !== undefined) return bun;
    const node = findProgram('node', env);
    if (node !== undefined) return checkedNode(node, tool, env);
    throw new AcorError(
      'E_RUNTIME_MISSING',
      `tool '${tool}' is written in TypeScript, but neither bun nor node is on the PATH`,
      {
        hint: INSTALL,
        details: { runtime: 'bun' },
      },
    );
  },
  command(runtime, context) {
    const { ownBun, sdkNode, sdkWarm } = context.sdk;
    const isAcor = ownBun?.isAcor === true && runtime === ownBun.program;
    if (!isAcor && basename(runtime) !== 'bun') return nodeCommand(runtime, context);
    // The preloaded file removes the variables, so that a tool can start `acor`.
    const asBun = isAcor ? [`--preload=${join(sdkNode, 'forget-bun.mjs')}`] : [];
    const variables = isAcor ? AS_BUN_VARIABLES.map((name) => [name, '1']) : [];
    return {
      // Prevents Bun from downloading missing packages.
      argv: [runtime, '--no-install', ...asBun, context.entry],
      runtime,
      warm: [runtime, '--no-install', `--preload=${join(sdkWarm, 'start.cjs')}`, ...asBun, context.entry],
      env: { NODE_PATH: sdkNode, ...Object.fromEntries(variables) },
    };
  },
};

async function checkedNode(node: string, tool: string, env: RuntimeContext['env']): Promise<string> {
  const { tooOldForTypeScript } = await import('./node-version.ts');
  const version = await tooOldForTypeScript(node, env);
  if (version === undefined) return node;
  throw new AcorError(
    'E_RUNTIME_MISSING',
    `tool '${tool}' is written in TypeScript, which Node.js ${version.slice(1)} (${node}) cannot run`,
    { hint: INSTALL, details: { runtime: 'node', version } },
  );
}
