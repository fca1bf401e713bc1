import type { CliApp } from '../compose/cli-app.ts';
import { safeLine } from '../compose/terminal-text.ts';
import { writeOut } from '../compose/write-out.ts';
import type { Authorize } from '../core/ports/principal.ts';
import { errorInfo } from '../protocol/error-codes.ts';
import { ACOR_VERSION } from '../util/version.ts';
import { AcorApp, type Surfaces } from './acor-app.ts';
import { ROUTES } from './index.ts';

/** ACOR's command line: its operations and how they are called. */
export function acorCli({ surfaces, authorize }: AcorCliOptions = {}): CliApp<AcorApp> {
  let opened: AcorApp | undefined;
  return {
    name: 'acor',
    version: ACOR_VERSION,
    summary: 'Runs command-line tools for AI agents: checked, supervised, limited, recorded.',
    routes: ROUTES,
    beginWith: 'explain',
    meant: async ([tool, ...args], { cwd, env }) => {
      const { toolCall } = await import('./tool/tool-call.ts');
      return toolCall(
        new AcorApp({ routes: ROUTES, cwd, env, note: () => {}, surfaces, authorize }),
        tool!,
        args,
      );
    },
    errorInfo: (code) => opened?.errorInfo(code) ?? errorInfo(code),
    openContext(_globals, io) {
      const note = (line: string) => void writeOut(io.stderrFd, `${safeLine(line)}\n`).catch(() => false);
      opened = new AcorApp({ routes: ROUTES, cwd: io.cwd, env: io.env, note, surfaces, authorize });
      return opened;
    },
  };
}

export interface AcorCliOptions {
  /** The servers that commands can start. */
  surfaces?: Surfaces;
  authorize?: Authorize;
}
