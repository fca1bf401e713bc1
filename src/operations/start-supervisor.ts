import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import type { RunRequest } from '../core/runner/services.ts';
import { AcorError } from '../protocol/acor-error.ts';

/** What a supervisor of its own is told on its standard input; `stdin` is what the caller had on its own. */
export type SupervisorRequest = Omit<RunRequest, 'readStdin'> & { stdin?: string };

/** What it says, in one line, before it goes on alone. */
export type SupervisorReply =
  | { run_id: string }
  | {
      error: {
        code: string;
        message: string;
        hint?: string;
        details?: Record<string, unknown>;
        next?: string[];
      };
    };

/** Variables that a supervisor itself needs; what the tool may see of the caller's environment travels in the request. */
const OWN_VARIABLES = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TMPDIR', 'XDG_CACHE_HOME', 'XDG_CONFIG_HOME'];

/**
 * Starts a run under a supervisor of its own, in a session of its own, so that it lives on whatever becomes of this
 * process, its terminal and its process group. Returns the id of the run once it has begun; throws what kept it from it.
 */
export async function startSupervisor(request: SupervisorRequest): Promise<string> {
  const [program, ...args] = ownCommand();
  const env = Object.fromEntries(
    OWN_VARIABLES.flatMap((name) => (request.env[name] === undefined ? [] : [[name, request.env[name]]])),
  );
  const child = spawn(program!, [...args, 'supervise'], {
    cwd: '/',
    env,
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const failed = new Promise<never>((_, reject) => {
    child.once('error', (error) => reject(lost(error.message)));
  });
  child.stdin.on('error', () => {});
  child.stdin.end(JSON.stringify(request));
  const reply = await Promise.race([firstLine(child.stdout), failed]);
  child.stdout.destroy();
  child.unref();
  if ('run_id' in reply) return reply.run_id;
  const { code, message, hint, details, next } = reply.error;
  throw new AcorError(code, message, {
    ...(hint && { hint }),
    ...(details && { details }),
    ...(next && { next }),
  });
}

/** How this very program is started: the compiled one by itself, the sources by the Bun that runs them. */
function ownCommand(): string[] {
  if (import.meta.dirname.startsWith('/$bunfs')) return [process.execPath];
  const root = join(dirname(import.meta.dirname), '..');
  const main = join(root, 'src', 'cli', 'main.ts');
  return [
    process.execPath,
    '--no-env-file',
    `--config=${join(root, 'bunfig.toml')}`,
    // Bun takes the paths of a tsconfig.json in the working directory for its own.
    `--tsconfig-override=${join(root, 'tsconfig.json')}`,
    main,
  ];
}

async function firstLine(stream: NodeJS.ReadableStream): Promise<SupervisorReply> {
  let text = '';
  for await (const chunk of stream) {
    text += chunk;
    const end = text.indexOf('\n');
    if (end !== -1) return JSON.parse(text.slice(0, end));
  }
  throw lost('it ended without a word');
}

function lost(why: string): AcorError {
  return new AcorError('E_SPAWN_FAILED', `the supervisor of the run could not be started: ${why}`, {
    hint: 'See: acor health',
    next: ['acor health'],
  });
}
