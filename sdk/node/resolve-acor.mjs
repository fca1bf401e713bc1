// Loaded before a tool that Node runs, so that it can import 'acor/tool' without an install. An installed one goes first.
import { existsSync } from 'node:fs';
import * as module from 'node:module';

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
}
