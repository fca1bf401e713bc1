import { join } from 'node:path';
import * as z from 'zod';
import { usageError } from '../../compose/app-error.ts';
import { AGENTS } from '../../core/authoring/agents/agents.ts';
import type { Initialised } from '../../core/authoring/scaffold/init-project.ts';
import type { PlannedFile } from '../../core/authoring/scaffold/planned-file.ts';
import { TEMPLATES } from '../../core/authoring/scaffold/templates.ts';
import { writeFiles } from '../../core/authoring/scaffold/write-files.ts';
import { findProgram } from '../../core/registry/find-program.ts';
import {
  CHECK_AGENTS,
  createTool,
  describeTool,
  FIX_SAFELY,
  LIST_TOOLS,
  type NextStep,
  runTool,
  validateStrictly,
} from '../../protocol/next-steps.ts';
import type { AcorApp } from '../acor-app.ts';
import { acorOperation } from '../define.ts';
import { plannedFile, shownFile } from './shapes.ts';

/** What is written of the project itself with `--agents-only`. */
const NOTHING: Initialised = { files: [], tool: null, above: null, build: null };

export const projectInit = acorOperation({
  name: 'project.init',
  summary:
    'Make this folder a project: configuration, the ./tool shortcut, ignore rules, a first tool that runs.',
  effect: 'writes',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    template: z
      .enum(TEMPLATES)
      .optional()
      .describe('The language of the first tool; by default python if it is installed, else bash.'),
    from_existing: z
      .boolean()
      .default(false)
      .describe('Convert a project with tools/run.py and tools/<name>/cli.py, so that ACOR runs its tools.'),
    agents: z
      .string()
      .optional()
      .describe(
        'Also write the files by which these agents find ACOR: claude, codex, gemini, separated by commas.',
      ),
    agents_only: z
      .boolean()
      .default(false)
      .describe('With --agents: write only those files, no configuration and no tool.'),
    force: z
      .boolean()
      .default(false)
      .describe('Replace files that ACOR wrote and that were changed; .acor/replaced/ keeps the old ones.'),
    dry_run: z.boolean().default(false).describe('Show what would happen to each file, and write nothing.'),
  }),
  output: z.object({
    root: z.string(),
    dry_run: z.boolean(),
    changed: z.int().describe('How many files were written, changed or moved.'),
    files: z.array(plannedFile),
    tool: z.string().nullable().describe('The first tool, if one was written.'),
    notes: z.array(z.string()),
  }),
  list: 'files',
  example: 'acor init',
  moreExamples: [
    'acor init --agents claude --agents-only',
    'acor init --template bash --dry-run',
    'acor init --from-existing',
    'acor init --agents claude,codex,gemini',
  ],
  async run(input, ctx) {
    const { initProject } = await import('../../core/authoring/scaffold/init-project.ts');
    // Report a mistake in the flag before writing anything.
    const forAgents = input.agents === undefined ? undefined : await planForAgents(input.agents, input, ctx);
    if (input.agents_only && forAgents === undefined)
      throw usageError([
        {
          parameter: 'agents_only',
          message: '--agents-only needs --agents',
          fix: `Add --agents ${AGENTS.join(',')}, or some of them.`,
        },
      ]);
    const done = input.agents_only
      ? NOTHING
      : await initProject({
          root: ctx.cwd,
          env: ctx.env,
          force: input.force,
          fromExisting: input.from_existing,
          dryRun: input.dry_run,
          onBuild: (command) => ctx.note(`Building the tool: ${command}`),
          ...(input.template !== undefined && { template: input.template }),
        });
    if (forAgents !== undefined && !input.dry_run) writeFiles(forAgents.files, ctx.cwd);
    const files = [...done.files, ...(forAgents?.files ?? [])].map((file) =>
      shownFile(file, ctx.cwd, ctx.app.commandOf),
    );
    const data = {
      root: ctx.cwd,
      dry_run: input.dry_run,
      changed: files.filter(({ action }) => !['keep', 'unchanged', 'could_not'].includes(action)).length,
      files,
      tool: done.tool?.name ?? null,
      notes: [...notesOf(done, ctx.cwd, ctx.env), ...(forAgents?.notes ?? [])],
    };
    return { kind: 'data', data, next: input.dry_run ? [] : nextOf(done, input) };
  },
});

function notesOf(
  { above, build, files }: Initialised,
  root: string,
  env: Readonly<Record<string, string | undefined>>,
): string[] {
  const notes: string[] = [];
  if (above !== null)
    notes.push(
      `${root} is inside the project ${above}. Commands in ${root} use the new project: its tools, its runs.`,
    );
  if (build?.built === false)
    notes.push(`The first tool is not built yet (${build.why}). Build it with: ${build.command}`);
  if (files.some(({ path }) => path === join(root, 'tool')) && !isFound(env))
    notes.push(
      'acor is not on the PATH, where ./tool looks for it. Link it into a folder of the PATH, such as ~/.local/bin, or set ACOR to its path.',
    );
  return notes;
}

/** Where `./tool` finds acor, but for the dependencies of the project. */
function isFound(env: Readonly<Record<string, string | undefined>>): boolean {
  return Boolean(env['ACOR']) || findProgram('acor', env) !== undefined;
}

function nextOf(
  { tool, build }: Initialised,
  { from_existing: isMoved, agents }: { from_existing: boolean; agents?: string | undefined },
): NextStep[] {
  const check = agents === undefined ? [] : [CHECK_AGENTS];
  if (tool === null) return [LIST_TOOLS, ...(isMoved ? [FIX_SAFELY, validateStrictly([])] : []), ...check];
  return [
    ...(build?.built === false ? [{ command: build.command, why: 'Build the tool.' }] : []),
    runTool(tool.name, ['--who', 'Ada']),
    describeTool(tool.name),
    createTool(tool.template, 'my_tool'),
    ...check,
  ];
}

async function planForAgents(
  agents: string,
  { force }: { force: boolean },
  { app, cwd, env }: { app: AcorApp; cwd: string; env: Readonly<Record<string, string | undefined>> },
): Promise<{ files: PlannedFile[]; notes: string[] }> {
  const [{ readAgents }, { planAgents }, { agentTexts }] = await Promise.all([
    import('../../core/authoring/agents/agents.ts'),
    import('../../core/authoring/agents/plan-agents.ts'),
    import('./agents/agent-texts.ts'),
  ]);
  const names = readAgents(agents);
  const files = planAgents(cwd, names, await agentTexts(app.routes), { force });
  const notes = [
    'Agents use project settings only after a person trusts the folder; each agent asks for that.',
  ];
  if (findProgram('acor', env) === undefined)
    notes.push(
      'acor is not on the PATH, where agents look for it. Link it into a folder of the PATH, such as ~/.local/bin.',
    );
  return { files, notes };
}
