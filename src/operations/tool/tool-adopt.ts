import { basename, dirname, join, resolve } from 'node:path';
import * as z from 'zod';
import { toolsDirsOf } from '../../core/config/load.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import { TOOL_NAME, TOOL_NAME_RULE } from '../../protocol/names.ts';
import {
  describeTool,
  LIST_TOOLS,
  learnTool,
  type NextStep,
  SEE_CONFIG,
  VALIDATE,
} from '../../protocol/next-steps.ts';
import { acorOperation } from '../define.ts';
import { modelinesIn, writeSchema } from './manifest-schema.ts';

const draftShape = z.object({
  name: z.string(),
  command: z.array(z.string()),
  file: z.string().describe('The path of the manifest.'),
  inputs: z.int(),
  sources: z
    .array(z.object({ source: z.string(), inputs: z.array(z.string()) }))
    .describe('Which inputs came from which text; the manifest has it as comments.'),
  uncertain: z
    .array(z.object({ input: z.string(), check: z.string() }))
    .describe('What a person should check; the manifest has it as comments.'),
  left_out: z.array(z.string()).describe('Options that a manifest cannot express, and why.'),
  not_understood: z.array(z.string()).describe('Lines that look like options and could not be read.'),
  offered: z
    .array(
      z.object({
        key: z.enum(['extra_args', 'cwd']),
        value: z.union([z.literal(true), z.literal('project')]),
        why: z.string(),
      }),
    )
    .describe('Keys that a person may add to the manifest, which has them as comments.'),
  files: z.string().describe('Which files it finds when it runs.'),
  manifest: z.string().optional().describe('The content of the manifest, with --dry-run.'),
});

export const toolAdopt = acorOperation({
  name: 'tool.adopt',
  summary: 'Make a tool of an installed program, or of a script: draft its manifest from its --help.',
  effect: 'writes',
  idempotent: false,
  rateLimit: null,
  input: z.object({
    program: z
      .string()
      .min(1)
      .describe(
        'A name on the PATH, or a path. The manifest of a script in a tools folder is written beside it.',
      ),
    subcommand: z
      .array(z.string().regex(/^[A-Za-z0-9]/, 'must be a word, not an option'))
      .default([])
      .describe('A subcommand of the program, such as: acor adopt git commit'),
    recursive: z.boolean().default(false).describe('One tool for each subcommand.'),
    depth: z.int().min(1).max(5).default(1).describe('How many levels of subcommands --recursive goes down.'),
    name: z
      .string()
      .regex(TOOL_NAME, TOOL_NAME_RULE)
      .optional()
      .describe("The tool's name; by default that of the program and its subcommand."),
    output: z
      .string()
      .optional()
      .describe('The folder for the tools; by default the first of project.tools_dirs.'),
    dry_run: z.boolean().default(false).describe('Show the manifests, and write nothing.'),
  }),
  output: z.object({
    drafts: z.array(draftShape),
    dry_run: z.boolean(),
    isolation: z.string().describe('The sandbox in which ACOR ran the program for its help.'),
    asked: z.array(z.array(z.string())).describe('Every call of the program that ACOR made.'),
    passed_over: z.array(z.object({ command: z.array(z.string()), why: z.string() })),
  }),
  positionals: ['program', 'subcommand'],
  list: 'drafts',
  example: 'acor adopt grep --dry-run',
  moreExamples: [
    'acor adopt git commit',
    'acor adopt tools/report/cli.py',
    'acor adopt git --recursive --output tools',
  ],
  async run(input, ctx) {
    const { config, registry } = await ctx.app.tools();
    const [{ loadRuntime }, { placeOf }, { scriptOf }, { FOUND_FILES, checkDrafts, writeDrafts }] =
      await Promise.all([
        import('../../core/process/load-runtime.ts'),
        import('../../core/authoring/adopt/place.ts'),
        import('../../core/authoring/adopt/script.ts'),
        import('../../core/authoring/adopt/draft-manifest.ts'),
      ]);
    const folder = input.output === undefined ? toolsDirsOf(config)[0]! : resolve(ctx.cwd, input.output);
    const runtime = await loadRuntime();
    const script = await scriptOf(input.program, { config, registry, cwd: ctx.cwd, env: ctx.env });
    if (script !== null) refuseForScript(input);
    const surroundings = { script, config, runtime, cwd: ctx.cwd, env: ctx.env };
    const { place, programFor, reads } = await placeOf(input.program, surroundings);
    const { drafts, asked, passed_over } =
      script === null
        ? await (await import('../../core/authoring/adopt/adopt.ts')).adopt(
            place,
            {
              ...input,
              programFor: (name: string) => programFor(join(folder, name)),
              modelineFor: await modelinesIn(config.root, folder),
              reads,
            },
            ctx.signal,
          )
        : await (await import('../../core/authoring/adopt/adopt-script.ts')).adoptScript(place, script, {
            name: input.name,
            modeline: (await modelinesIn(config.root, dirname(dirname(script.file))))(
              basename(dirname(script.file)),
            ),
          });
    const placed = drafts.map((draft) => ({
      ...draft,
      file: script?.file ?? join(folder, draft.name, 'tool.yaml'),
    }));
    const rivals = (await registry.list()).filter(
      ({ name, dir, entry }) =>
        placed.some((draft) => draft.name === name) &&
        (script === null || (dir !== script.dir && entry !== script.path)),
    );
    if (rivals.length > 0) throw nameTaken(rivals.map(({ name }) => name));
    if (!input.dry_run) {
      checkDrafts(placed, config);
      // First, so that no modeline names a schema that could not be written.
      await writeSchema(config.root);
      writeDrafts(placed);
    }
    const [first] = placed;
    const isFound = script !== null || toolsDirsOf(config).includes(folder);
    return {
      kind: 'data',
      data: {
        drafts: placed.map(({ manifest, needsInput: _, ...draft }) => ({
          ...draft,
          files: FOUND_FILES,
          ...(input.dry_run && { manifest }),
        })),
        dry_run: input.dry_run,
        isolation: place.sandbox.backend.name,
        asked,
        passed_over,
      },
      next: input.dry_run
        ? [adoptionOf(input)]
        : first !== undefined && isFound
          ? [
              VALIDATE,
              describeTool(first.name),
              // Without the inputs that only the caller knows, they would be refused.
              ...(first.needsInput ? [] : [previewRun(first.name), learnTool(first.name)]),
            ]
          : [SEE_CONFIG],
    };
  },
});

function adoptionOf({
  program,
  subcommand,
  recursive,
  depth,
  name,
  output,
}: {
  program: string;
  subcommand: string[];
  recursive: boolean;
  depth: number;
  name?: string | undefined;
  output?: string | undefined;
}): NextStep {
  const input = { program, subcommand, ...(recursive && { recursive, depth }), name, output };
  return { operation: 'tool.adopt', input, why: 'Write the tools.' };
}

function previewRun(tool: string): NextStep {
  return {
    operation: 'run.start',
    input: { tool, args: ['--dry-run'] },
    why: 'See what a run of it would do.',
  };
}

/** The place of a script decides where its manifest is. */
function refuseForScript({
  subcommand,
  recursive,
  output,
}: {
  subcommand: string[];
  recursive: boolean;
  output?: string | undefined;
}): void {
  const given = [
    ...(subcommand.length > 0 ? ['a subcommand'] : []),
    ...(recursive ? ['--recursive'] : []),
    ...(output !== undefined ? ['--output'] : []),
  ];
  if (given.length === 0) return;
  throw new AcorError(
    'E_USAGE',
    `a script of the project is adopted as one tool, without ${given.join(' and ')}`,
    {
      hint: 'Leave it out: the manifest is written beside the script.',
    },
  );
}

function nameTaken(names: readonly string[]): AcorError {
  return new AcorError('E_USAGE', `this project already has a tool of that name: ${names.join(', ')}`, {
    hint: 'Choose another name with --name: two tools of one name are both invalid.',
    details: { names },
    next: [LIST_TOOLS],
  });
}
