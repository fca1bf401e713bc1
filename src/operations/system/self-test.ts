import { spawn } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import * as z from 'zod';
import { type HealthCheck, healthReport, reportAnswer } from '../../compose/health-shape.ts';
import { findProgram } from '../../core/registry/find-program.ts';
import { sdkPaths } from '../../core/registry/own-files.ts';
import { ownCommand } from '../../core/supervision/own-command.ts';
import { acorOperation } from '../define.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** The templates that run without a compiler, and the programs that can run them. */
const LANGUAGES = [
  ['bash', ['bash']],
  ['python', ['python3', 'python']],
  ['node', ['node']],
  ['typescript', ['bun', 'node']],
] as const;

const COMPLETED = 'completed';

export const selfTest = acorOperation({
  name: 'system.self-test',
  summary:
    'Prove this installation: create a project in a temporary folder, run tools in it, and verify the runs.',
  effect: 'writes',
  idempotent: true,
  rateLimit: null,
  input: z.object({}),
  output: healthReport,
  list: 'checks',
  example: 'acor self-test',
  async run(_, ctx) {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'acor-self-test-')));
    try {
      const checks = [await checkProject(folder, ctx.env)];
      for (const [language, programs] of LANGUAGES)
        checks.push(await checkLanguage(language, programs, folder, ctx.env));
      checks.push(await checkDetachedRun(checks, folder, ctx.env));
      checks.push(await checkStore(folder, ctx.env));
      return reportAnswer(checks);
    } finally {
      rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 });
    }
  },
});

async function checkProject(folder: string, env: Env): Promise<HealthCheck> {
  const { ok, data, answer } = await acor(['init'], folder, env);
  return ok ? passed('project', `created with ${data.changed} files`) : failed('project', answer);
}

async function checkLanguage(
  language: string,
  programs: readonly string[],
  folder: string,
  env: Env,
): Promise<HealthCheck> {
  const name = `tool.${language}`;
  const isOwn = language === 'typescript' && sdkPaths().ownBun !== null;
  if (!isOwn && programs.every((program) => findProgram(program, env) === undefined))
    return passed(name, `not tried: ${programs.join(' or ')} is not on the PATH`);
  const tool = `self_test_${language}`;
  const written = await acor(['template', language, '--name', tool], folder, env);
  if (!written.ok) return failed(name, written.answer);
  const { data, answer } = await acor(['run', tool, '--who', 'Ada', '--no-stream'], folder, env);
  const isRight = JSON.stringify(data?.result?.data) === '{"greetings":["Hello, Ada!"]}';
  return isRight ? passed(name, `${COMPLETED} in ${data.duration_s} s`) : failed(name, answer);
}

/** A run that outlives its command needs a supervisor in another process. */
async function checkDetachedRun(
  before: readonly HealthCheck[],
  folder: string,
  env: Env,
): Promise<HealthCheck> {
  const tool = before.find(
    ({ name, detail }) => name.startsWith('tool.') && detail.startsWith(COMPLETED),
  )?.name;
  if (tool === undefined) return passed('supervisor', 'not tried: no tool has completed');
  const started = await acor(
    ['run', tool.replace('tool.', 'self_test_'), '--who', 'Ada', '--detach'],
    folder,
    env,
  );
  if (!started.ok) return failed('supervisor', started.answer);
  const { data, answer } = await acor(['wait', started.data.run_id], folder, env);
  return data?.state === 'completed'
    ? passed('supervisor', 'ran a tool after its command had ended')
    : failed('supervisor', answer);
}

async function checkStore(folder: string, env: Env): Promise<HealthCheck> {
  const { ok, answer } = await acor(['verify'], folder, env);
  return ok ? passed('store', 'every run is sealed and in the ledger') : failed('store', answer);
}

/** Runs a command of this installation in a process of its own, as a user does. */
async function acor(args: readonly string[], cwd: string, env: Env) {
  const { argv, env: own } = ownCommand();
  const [program, ...first] = argv;
  const child = spawn(program, [...first, ...args], {
    cwd,
    env: { ...env, ...own },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const started = new Promise<void>((resolve, reject) => child.once('error', reject).once('spawn', resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), started]).catch(
    (error) => ['', String(error)] as const,
  );
  const answer = (stdout.trim() || stderr.trim()).slice(0, 1000);
  try {
    const { ok, data } = JSON.parse(stdout);
    return { ok: ok === true, data, answer };
  } catch {
    return { ok: false, data: undefined, answer };
  }
}

function passed(name: string, detail: string): HealthCheck {
  return { name, status: 'ok', detail };
}

function failed(name: string, answer: string): HealthCheck {
  return { name, status: 'blocked', detail: answer, fix: 'acor health' };
}
