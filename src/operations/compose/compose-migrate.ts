import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import * as z from 'zod';
import { captureCli } from '../../compose/capture-cli.ts';
import type { OperationContext, OperationResult } from '../../compose/operation.ts';
import { audit, judge, planAudit } from '../../core/authoring/contract/audit.ts';
import { observe } from '../../core/authoring/contract/observe.ts';
import type { Migration } from '../../core/authoring/migrate/plan-migration.ts';
import { toolsDirsOf } from '../../core/config/load.ts';
import { refuseWritingOut } from '../../core/config/stay-inside.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import { LIST_TOOLS, VALIDATE } from '../../protocol/next-steps.ts';
import type { AcorApp } from '../acor-app.ts';
import { acorOperation } from '../define.ts';
import { modelinesIn, writeSchema } from '../tool/manifest-schema.ts';
import { openProgram } from './open-program.ts';
import { toolsCli } from './tools-cli.ts';

const LIMITS = { depth: 2, commands: 60 };

const shared = {
  program: z.string().min(1).describe('A program on the PATH, or a path.'),
  call: z
    .array(z.string())
    .default([])
    .describe(
      'A call that becomes a tool: what every call has, then -- and the arguments of the recorded one, such as "log --format=%H -- --max-count 3".',
    ),
  primitives: z
    .string()
    .optional()
    .describe('A YAML file of such calls, with inputs, the form of the output, and error codes.'),
  output: z
    .string()
    .optional()
    .describe('The folder for the tools; by default the first of project.tools_dirs.'),
};

const findings = z.array(z.object({ rule: z.string(), severity: z.string(), message: z.string() }));

const migrationShape = z.object({
  program: z.string(),
  tools: z.array(
    z.object({
      name: z.string(),
      command: z.string().describe('Its words in the wrapper.'),
      call: z.array(z.string()).describe('The arguments that every call has.'),
      replaces: z.array(z.string()).describe('The words of the old command.'),
      output: z.string().describe('The declared form of its output.'),
      inputs: z.int(),
      recorded: z.array(z.string()).describe('The arguments of the recorded call.'),
      uncertain: z
        .array(z.object({ input: z.string(), check: z.string() }))
        .describe('What a person should check; the manifest has it as comments.'),
    }),
  ),
  files: z.array(z.object({ path: z.string(), text: z.string().optional() })),
  score: z.object({
    before: z.int().describe('Of the program, from 0 to 100.'),
    after: z.int().nullable().describe('Of the wrapper; null until it is written.'),
  }),
  resolved: findings.describe('Findings of the program that the wrapper does not have.'),
  remaining: findings.describe('Findings of the wrapper.'),
  not_raised: z
    .array(z.object({ what: z.string(), why: z.string() }))
    .describe('What the migration could not raise, and what would.'),
  coverage: z
    .object({ commands: z.int(), migrated: z.int() })
    .describe('How many commands the program has, and how many of them tools replace.'),
  plan_token: z.string().describe('Of the files: `compose migrate --plan` refuses to write others.'),
  dry_run: z.boolean(),
});

const description = {
  effect: 'writes',
  idempotent: false,
  rateLimit: null,
  output: migrationShape,
  positionals: ['program'],
  list: 'tools',
} as const;

export const composePlan = acorOperation({
  ...description,
  name: 'compose.plan',
  summary: 'Record the named calls of a program once, and show what its migration would write.',
  input: z.object(shared),
  example: 'acor compose plan git --call "log --format=%H -- --max-count 3"',
  run: (given, ctx) => migrate({ ...given, dry_run: true }, ctx),
});

export const composeMigrate = acorOperation({
  ...description,
  name: 'compose.migrate',
  summary:
    'Migrate a program: write a tool for each call, a wrapper, tests and notices, and judge the result.',
  input: z.object({
    ...shared,
    plan: z
      .string()
      .optional()
      .describe('The token of `compose plan`: nothing is written when it has changed.'),
    dry_run: z.boolean().default(false).describe('Show what would be written, as `compose plan` does.'),
  }),
  example: 'acor compose migrate git --primitives git.yaml',
  run: migrate,
});

interface Given {
  program: string;
  call: string[];
  primitives?: string | undefined;
  output?: string | undefined;
  plan?: string | undefined;
  dry_run: boolean;
}

async function migrate(
  given: Given,
  ctx: OperationContext<AcorApp>,
): Promise<OperationResult<z.output<typeof migrationShape>>> {
  const [{ planMigration }, { readPrimitives }] = await Promise.all([
    import('../../core/authoring/migrate/plan-migration.ts'),
    import('../../core/authoring/migrate/primitives.ts'),
  ]);
  // Recording starts runs.
  await ctx.app.authorize({ name: 'run.start', effect: 'writes' }, { tool: given.program });
  const declared = await readPrimitives(given.primitives, given.call, ctx.cwd);
  const [{ config }, services] = await Promise.all([ctx.app.project(), ctx.app.services()]);
  const opened = await openProgram(given.program, ctx);
  const request = { program: given.program, limits: LIMITS, given: [], allow: [] };
  const planned = await planAudit(opened.place, request, ctx.signal);
  const name = basename(given.program);
  const observed = await observe(opened.place, name, planned.surface, planned.calls, ctx.signal);
  const before = judge(observed);
  const toolsDir = given.output === undefined ? toolsDirsOf(config)[0]! : resolve(ctx.cwd, given.output);
  const migration = await planMigration(
    {
      ...opened,
      toolsDir,
      folder: join(config.root, '.acor', 'compose', name),
      modelineFor: await modelinesIn(config.root, toolsDir),
    },
    observed,
    declared,
    { services, cwd: ctx.cwd, env: ctx.env },
    ctx.signal,
  );
  const isEmpty = migration.tools.length === 0;
  if (isEmpty && !given.dry_run) throw nothingToMigrate(given.program, migration);
  await refuseTaken(migration, ctx);
  if (given.plan !== undefined && given.plan !== migration.token) throw planChanged(given.program);
  if (!given.dry_run) {
    await writeSchema(config.root);
    write(migration);
  }
  const after = given.dry_run ? undefined : await judgeWrapper(name, opened.place, ctx);
  const left = new Set(after?.findings.map(({ rule }) => rule));
  const { files, token, ...report } = migration;
  const again = {
    program: given.program,
    call: given.call,
    primitives: given.primitives,
    output: given.output,
  };
  return {
    kind: 'data',
    data: {
      ...report,
      files: files.map(({ path, text }) => ({
        path: relative(ctx.cwd, path),
        ...(given.dry_run && { text }),
      })),
      score: { before: before.score.value, after: after?.score.value ?? null },
      resolved: after === undefined ? [] : before.findings.filter(({ rule }) => !left.has(rule)).map(brief),
      remaining: after?.findings.map(brief) ?? [],
      plan_token: token,
      dry_run: given.dry_run,
    },
    next: given.dry_run
      ? isEmpty
        ? []
        : [{ operation: 'compose.migrate', input: { ...again, plan: token }, why: 'Write exactly this.' }]
      : [
          VALIDATE,
          { operation: 'compose.call', input: { program: name, args: ['tools'] }, why: 'See its commands.' },
        ],
  };
}

/** The audit of the wrapper. Each of its calls is a run with its own sandbox. */
async function judgeWrapper(
  name: string,
  place: Parameters<typeof audit>[0],
  ctx: OperationContext<AcorApp>,
) {
  const { app, cwd, env } = ctx;
  const { registry } = await app.project();
  const tools = (await registry.list()).filter(({ manifest }) => manifest.category === name);
  const cli = toolsCli(name, { app, tools });
  const wrapper = {
    ...place,
    call: async (args: readonly string[]) => {
      const { exit, ...texts } = await captureCli(cli, args, { cwd, env, signal: ctx.signal });
      return { args, ...texts, rc: exit, signal: null, trouble: null };
    },
  };
  const request = { program: name, limits: LIMITS, given: [], allow: [] };
  return audit(wrapper, request, await planAudit(wrapper, request, ctx.signal), undefined, ctx.signal);
}

function brief({ rule, severity, message }: { rule: string; severity: string; message: string }) {
  return { rule, severity, message };
}

async function refuseTaken({ files, tools }: Migration, ctx: OperationContext<AcorApp>): Promise<void> {
  const there = files.map(({ path }) => path).filter((path) => existsSync(path));
  const { config, registry } = await ctx.app.tools();
  for (const { path } of files) refuseWritingOut(path, config);
  const names = tools.map(({ name }) => name);
  const taken = (await registry.list()).map(({ name }) => name).filter((name) => names.includes(name));
  if (there.length === 0 && taken.length === 0) return;
  throw new AcorError('E_USAGE', `the project has these already: ${[...taken, ...there].join(', ')}`, {
    hint: 'ACOR overwrites nothing: remove them first, or name the primitives differently.',
    details: { files: there, tools: taken },
    next: [LIST_TOOLS],
  });
}

function nothingToMigrate(program: string, { not_raised }: Migration): AcorError {
  return new AcorError('E_USAGE', `no call of ${program} was named that can become a tool`, {
    hint: 'Name a call that succeeds here, as in --call "log --format=%H -- --max-count 3".',
    details: { not_raised },
    next: [
      { operation: 'compose.plan', input: { program }, why: 'See the commands that tools could replace.' },
    ],
  });
}

function planChanged(program: string): AcorError {
  return new AcorError('E_USAGE', 'the migration would write other files than the plan of this token', {
    hint: 'Look at the plan again.',
    next: [{ operation: 'compose.plan', input: { program }, why: 'See what would be written now.' }],
  });
}

function write({ files }: Migration): void {
  for (const { path, text, mode = 0o644 } of files) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { flag: 'wx', mode });
  }
}
