// Starts the command in Node. It is a file of its own because an older Node may fail to load any other one.

const LEAST = [22, 22] as const;

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major > LEAST[0] || (major === LEAST[0] && minor >= LEAST[1])) {
  await import('./main.ts');
} else {
  const error = {
    code: 'E_RUNTIME_MISSING',
    message: `ACOR's JavaScript needs Node.js ${LEAST.join('.')} or later; this is ${process.versions.node}`,
    hint: 'Install a later Node.js, or install ACOR with its optional packages: the compiled program needs no Node.js.',
    class: 'infra_error',
    retryable: false,
    action: 'Ask the user to install the runtime, then run it again.',
  };
  process.stdout.write(`${JSON.stringify({ ok: false, error, meta: { tool: 'acor', elapsed: 0 } })}\n`);
  process.exitCode = 2;
}
