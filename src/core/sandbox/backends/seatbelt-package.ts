import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { SEE_HEALTH } from '../../../protocol/next-steps.ts';
import { shellCommand } from '../../../util/shell-words.ts';

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
