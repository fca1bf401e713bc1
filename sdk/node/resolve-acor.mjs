// Loaded before a tool that Node runs, so that it can import or require 'acor/tool' without an install. An installed one goes first.
import { existsSync } from 'node:fs';
import * as module from 'node:module';
import { fileURLToPath } from 'node:url';

const built = new URL('../../dist/lib/tool/index.js', import.meta.url);
// The sources need a Node that strips types (22.18 or later).
const own = (existsSync(built) ? built : new URL('./acor/tool.ts', import.meta.url)).href;

if (module.registerHooks) {
  module.registerHooks({
    resolve(specifier, context, next) {
      if (specifier !== 'acor/tool') return next(specifier, context);
      try {
        return next(specifier, context);
      } catch {
        return { url: own, shortCircuit: true };
      }
    },
  });
} else if (module.register) {
  const resolve = `export async function resolve(specifier, context, next) {
    if (specifier !== 'acor/tool') return next(specifier, context);
    return next(specifier, context).catch(() => ({ url: ${JSON.stringify(own)}, shortCircuit: true }));
  }`;
  module.register(`data:text/javascript,${encodeURIComponent(resolve)}`);
  // Such hooks are not asked for a `require`.
  const { Module } = module;
  const resolveFilename = Module._resolveFilename;
  Module._resolveFilename = (specifier, ...context) => {
    if (specifier !== 'acor/tool') return resolveFilename(specifier, ...context);
    try {
      return resolveFilename(specifier, ...context);
    } catch {
      if (process.features.require_module) return fileURLToPath(own);
      throw new Error(
        `this Node.js ${process.version} cannot require an ES module, as acor/tool is: install Node.js 20.19, 22.12 or later, or write in an async function: const acor = await import('acor/tool')`,
      );
    }
  };
}
