import { createServer } from 'node:net';
import { tryOut } from './backends/try-out.ts';
import { planEgress } from './egress/egress-plan.ts';
import type { SandboxBackend, SandboxProbe } from './sandbox.ts';
import { trustedPath } from './trusted-program.ts';

/** Attacks that must fail in every sandbox, each a shell command that succeeds without one. */
const ATTACKS: Readonly<Record<string, string>> = {
  'writes to /usr': ': > /usr/.acor-self-test',
  'writes to /etc': ': > /etc/.acor-self-test',
  'lists the home of root': 'ls /root',
  'reads the password file': 'cat /etc/shadow',
  'reads the environment of the first process': 'cat /proc/1/environ',
  'changes the kernel': 'cat /proc/sys/kernel/core_pattern > /proc/sys/kernel/core_pattern',
  'has capabilities': 'grep -q "^CapEff:.*[1-9a-f]" /proc/self/status',
  'runs without a seccomp filter': 'grep -q "^Seccomp:.0" /proc/self/status',
  'is root': '[ "$(id -u)" = 0 ]',
  'has foreign descriptors': '[ -e /proc/self/fd/4 ] || [ -e /proc/self/fd/9 ]',
};

/** Runs the attacks in a real sandbox of this machine. Returns those that succeeded, or why they could not run. */
export async function selfTest(
  backend: SandboxBackend,
  probe: SandboxProbe,
): Promise<{ breaches: string[]; trouble: string | undefined }> {
  const lines = Object.entries(ATTACKS).map(
    ([what, attack]) => `( ${attack} ) > /dev/null 2>&1 && echo '${what}'`,
  );
  const script = [...lines, 'echo done'].join('\n');
  const { output, trouble } = await tryOut(
    async (request, options) =>
      (await backend.confine({ ...request, language: 'bash' }, probe)).launch(options),
    ['/bin/sh', '-c', script],
  );
  const words = output.split('\n').filter((line) => line !== '');
  if (trouble !== undefined) return { breaches: [], trouble };
  if (words.pop() !== 'done') return { breaches: [], trouble: 'the self-test did not finish' };
  return { breaches: words, trouble: undefined };
}

const NAME = 'health.test';
const WORD = 'through';

/**
 * Checks that a tool reaches exactly one allowed server of this machine. Returns the failure, or undefined when it
 * works.
 */
export async function tryEgress(backend: SandboxBackend, probe: SandboxProbe): Promise<string | undefined> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.end(WORD);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const allowed = `${NAME}:${port}`;
  const egress = planEgress('health', [allowed], {
    allow_private_egress: [allowed],
    egress_hosts: { [NAME]: '127.0.0.1' },
  });
  // The machine's own loopback address, and the address that replaces the name.
  const script = ['127, 0, 0, 1', '127, 1, 0, 1']
    .map((at) => `socket(S, 2, 1, 0); print <S> if connect(S, pack("S n C4 x8", 2, ${port}, ${at}));`)
    .join(' ');
  try {
    const { output, trouble } = await tryOut(
      async (request, options) =>
        (await backend.confine({ ...request, network: 'listed', egress }, probe)).launch(options),
      [trustedPath('perl'), '-e', script],
    );
    if (trouble !== undefined) return trouble;
    if (output === WORD) return undefined;
    return output === ''
      ? 'a host that was opened could not be reached'
      : 'a host that was not opened was reached';
  } finally {
    server.close();
  }
}
