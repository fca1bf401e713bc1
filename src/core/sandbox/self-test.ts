import { tryOut } from './backends/try-out.ts';
import type { SandboxBackend, SandboxProbe } from './sandbox.ts';

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
