// Starts the command in Node. It is a file of its own because an older Node may fail to load any other one.

import { problemOfNode } from '../util/least-node.ts';

const message = problemOfNode();
if (message === undefined) {
  await import('./main.ts');
} else {
  const error = {
    code: 'E_RUNTIME_MISSING',
    message,
    hint: 'Install a later Node.js, or install ACOR with its optional packages: the compiled program needs no Node.js.',
    class: 'infra_error',
    retryable: false,
    action: 'Ask the user to install the runtime, then run it again.',
  };
  process.stdout.write(`${JSON.stringify({ ok: false, error, meta: { tool: 'acor', elapsed: 0 } })}\n`);
  process.exitCode = 2;
}
