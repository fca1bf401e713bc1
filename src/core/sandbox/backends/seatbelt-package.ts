import { existsSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { SEE_HEALTH } from '../../../protocol/next-steps.ts';
import { newSpanId } from '../../../util/ids.ts';
import { shellCommand } from '../../../util/shell-words.ts';
import type { SandboxProbe } from '../sandbox.ts';
import { type Launch, tryOut } from './try-out.ts';

const PACKAGE = '@anthropic-ai/sandbox-runtime';

/** The used part of the package's configuration. */
export interface SeatbeltConfig {
  network: { allowedDomains: string[]; deniedDomains: string[] };
  filesystem: { denyRead: string[]; allowRead: string[]; allowWrite: string[]; denyWrite: string[] };
}

/** The used part of the package. */
export interface SandboxManager {
  initialize(config: SeatbeltConfig): Promise<void>;
  wrapWithSandboxArgv(
    command: string,
    shell: string,
    config: SeatbeltConfig,
    abort: undefined,
    cwd: string,
    options: { commandId: string },
  ): Promise<{ argv: readonly string[] }>;
}

/** Resolved from ACOR's own folder: a project could contain a package of the same name. */
export function loadSeatbelt(
  starts: readonly string[] = [import.meta.dirname, dirname(process.execPath)],
): SandboxManager {
  let own: string | undefined;
  for (const start of starts) {
    for (let dir = start; ; dir = dirname(dir)) {
      const file = join(dir, 'node_modules', PACKAGE, 'dist', 'index.js');
      if (existsSync(file))
        return (createRequire(file)(file) as { SandboxManager: SandboxManager }).SandboxManager;
      if (own === undefined && existsSync(join(dir, 'package.json'))) own = dir;
      if (dir === dirname(dir)) break;
    }
  }
  throw new AcorError(
    'E_SANDBOX_UNAVAILABLE',
    `the package ${PACKAGE}, which the sandbox on macOS needs, is not installed`,
    { hint: shellCommand(['npm', 'install', '--prefix', own ?? '.', PACKAGE]), next: [SEE_HEALTH] },
  );
}

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
