import { join } from 'node:path';
import { requireRuntime } from '../find-program.ts';
import type { Language, RuntimeContext, ToolCommand } from './language.ts';

const EXTENSIONS = ['.js', '.mjs', '.cjs'];

/** JavaScript on Node. Tools can import the SDK without an install. */
export const node: Language = {
  name: 'node',
  extensions: EXTENSIONS,
  detect: (file) => EXTENSIONS.includes(file.extension) || file.interpreter === 'node',
  runtime({ tool, env }) {
    return requireRuntime('node', env, {
      message: `tool '${tool}' is written in JavaScript, but node is not on the PATH`,
      hint: 'Install Node.js 20.6 or later from https://nodejs.org/',
    });
  },
  command: nodeCommand,
};

/** The command that runs an entry with Node, so that it can import `acor/tool`. */
export function nodeCommand(runtime: string, { entry, sdk }: RuntimeContext): ToolCommand {
  const acor = `--import=${join(sdk.sdkNode, 'resolve-acor.mjs')}`;
  const warm = `--require=${join(sdk.sdkWarm, 'start.cjs')}`;
  return { argv: [runtime, acor, entry], runtime, env: {}, warm: [runtime, warm, acor, entry] };
}
