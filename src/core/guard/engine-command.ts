import { spawn } from 'node:child_process';
import type { Violation } from '../policy/decision.ts';
import { type EngineQuestion, engineViolation } from './engine.ts';

const TIMEOUT_MS = 5000;
const MAX_OUTPUT_BYTES = 1 << 20;

/** The environment variables that the program gets; all others are dropped. */
const VARIABLES = ['PATH', 'HOME', 'LANG', 'LC_ALL'];

/**
 * Asks a program: the question is JSON on its standard input, the answer `{"allow": bool, "violations": […]}` on its
 * standard output. Any failure of the program denies the run.
 */
export async function askCommand(
  [program, ...args]: readonly string[],
  question: EngineQuestion,
  by: string,
  env: Readonly<Record<string, string | undefined>>,
  timeoutMs: number = TIMEOUT_MS,
): Promise<Violation[]> {
  const answer = await run(program!, args, `${JSON.stringify(question)}\n`, env, timeoutMs);
  if ('trouble' in answer) return [failed(by, answer.trouble)];
  const decision = parse(answer.stdout);
  if (decision === undefined) return [failed(by, 'it did not answer with {"allow": true or false}')];
  const violations = decision.violations.map((each) => asViolation(each, by));
  if (decision.allow && violations.length === 0) return [];
  if (violations.length > 0) return violations;
  return [
    engineViolation(by, 'the policy command does not allow it', `Ask the author of the command at ${by}.`),
  ];
}

type Answer = { stdout: string } | { trouble: string };

function run(
  program: string,
  args: readonly string[],
  question: string,
  env: Readonly<Record<string, string | undefined>>,
  timeoutMs: number,
): Promise<Answer> {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: '/',
      env: Object.fromEntries(
        VARIABLES.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])),
      ),
      // A separate process group, so that everything it started can be killed.
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    let bytes = 0;
    let trouble: string | undefined;
    const stop = (why: string) => {
      trouble ??= why;
      try {
        process.kill(-child.pid!, 'SIGKILL');
      } catch {
        // Already ended, or never started.
      }
    };
    const timer = setTimeout(() => stop(`it did not answer within ${timeoutMs / 1000} s`), timeoutMs);
    const end = (answer: Answer) => {
      clearTimeout(timer);
      stop('the question is answered');
      child.stdout.destroy();
      child.stderr.destroy();
      resolve(answer);
    };
    child.stdin.on('error', () => {});
    child.stdin.end(question);
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      bytes += Buffer.byteLength(text);
      if (bytes > MAX_OUTPUT_BYTES) stop('it printed too much');
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(0, 500);
    });
    child.once('error', (error) => end({ trouble: `it could not be started: ${error.message}` }));
    // Not `close`: a background process of it may hold its stdout open.
    child.once('exit', (code, signal) => {
      const said = stderr.trim() === '' ? '' : `: ${stderr.trim()}`;
      if (code !== 0) trouble ??= `it ended with ${code === null ? signal : `exit code ${code}`}${said}`;
      if (trouble !== undefined) return end({ trouble });
      if (child.stdout.readableEnded) return end({ stdout });
      child.stdout.once('end', () => end(trouble === undefined ? { stdout } : { trouble }));
    });
  });
}

function parse(text: string): { allow: boolean; violations: unknown[] } | undefined {
  try {
    const { allow, violations = [] } = JSON.parse(text);
    return typeof allow === 'boolean' && Array.isArray(violations) ? { allow, violations } : undefined;
  } catch {
    return undefined;
  }
}

function asViolation(given: unknown, by: string): Violation {
  const { path, asked, allowed, rule, fix } = (
    typeof given === 'object' && given !== null ? given : { rule: given }
  ) as {
    [key: string]: unknown;
  };
  return {
    path: typeof path === 'string' ? path : 'tool.yaml',
    asked: asked ?? null,
    allowed: allowed ?? null,
    by,
    rule: typeof rule === 'string' ? rule : 'the policy command does not allow it',
    fix: typeof fix === 'string' ? fix : `Ask the author of the command at ${by}.`,
  };
}

function failed(by: string, trouble: string): Violation {
  return engineViolation(
    by,
    `the policy command did not decide, so the run is denied: ${trouble}`,
    `Fix the command at ${by}: it reads the question as JSON on stdin and prints {"allow":true} or {"allow":false}.`,
  );
}
