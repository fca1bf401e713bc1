import { existsSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { newSpanId } from '../../../util/ids.ts';
import type { SandboxProbe } from '../sandbox.ts';
import { loadSeatbelt } from './seatbelt-package.ts';
import { type Launch, tryOut } from './try-out.ts';

/** Tests whether Seatbelt can confine tools here, by running attacks in it. */
export async function probeSeatbelt(launch: Launch): Promise<SandboxProbe> {
  if (process.platform !== 'darwin') return { available: false, detail: 'seatbelt is for macOS' };
  const outside = join(homedir(), `.acor-probe-${newSpanId()}`);
  try {
    loadSeatbelt();
    const { output, trouble } = await tryOut(launch, [
      '/bin/sh',
      '-c',
      ': > here && echo works; : > "$0"',
      outside,
    ]);
    if (trouble !== undefined || output !== 'works\n') {
      return { available: false, detail: trouble ?? 'a tool in it cannot write to its workspace' };
    }
    if (existsSync(outside)) return { available: false, detail: 'a tool in it writes where it must not' };
    return { available: true, detail: 'works here, and is unverified: ACOR is not tested on macOS' };
  } catch (error) {
    if (!(error instanceof AcorError)) throw error;
    return { available: false, detail: error.message, ...(error.hint && { fix: error.hint }) };
  } finally {
    rmSync(outside, { force: true });
  }
}
