import { createServer } from 'node:net';
import { tryOut } from '../backends/try-out.ts';
import type { SandboxBackend, SandboxProbe } from '../sandbox.ts';
import { trustedPath } from '../trusted-program.ts';
import { planEgress } from './egress-plan.ts';

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
