import { resolve } from 'node:path';
import * as z from 'zod';
import { TEMPLATES } from '../../core/authoring/scaffold/templates.ts';
import { describeTool, type NextStep, runTool, validateStrictly } from '../../protocol/next-steps.ts';
import { acorOperation } from '../define.ts';
import { plannedFile, shownFile } from './shapes.ts';

export const projectTemplate = acorOperation({
  name: 'project.template',
  summary: 'Write a tool to begin with: entry, manifest, selftest, a test and a README.',
  effect: 'writes',
  idempotent: false,
  rateLimit: null,
  input: z.object({
    language: z.enum(TEMPLATES).describe('The language of the tool.'),
    name: z.string().default('hello').describe('The name of the tool.'),
    output: z
      .string()
      .optional()
      .describe('The parent of the tool’s folder; by default tools/ of the project.'),
    dry_run: z.boolean().default(false).describe('List what would be written, and write nothing.'),
  }),
  output: z.object({
    name: z.string(),
    language: z.enum(TEMPLATES),
    folder: z.string(),
    dry_run: z.boolean(),
    files: z.array(plannedFile),
    notes: z.array(z.string()),
  }),
  positionals: ['language'],
  list: 'files',
  example: 'acor template python --name word_count',
  moreExamples: ['acor template rust --name resize --dry-run'],
  async run(input, ctx) {
    const { config } = await ctx.app.tools();
    const { newTool } = await import('../../core/authoring/scaffold/new-tool.ts');
    const { language, name } = input;
    const { folder, files, build, isFound } = await newTool(config, {
      template: language,
      name,
      env: ctx.env,
      dryRun: input.dry_run,
      onBuild: (command) => ctx.note(`Building the tool: ${command}`),
      ...(input.output !== undefined && { output: resolve(ctx.cwd, input.output) }),
    });
    const notes: string[] = [];
    if (!isFound)
      notes.push(
        'The project does not look for tools there. Add the folder to project.tools_dirs in .acor/config.yaml.',
      );
    if (build?.built === false)
      notes.push(`The tool is not built yet (${build.why}). Build it with: ${build.command}`);
    const shown = files.map((file) => shownFile(file, config.root, ctx.app.commandOf));
    return {
      kind: 'data',
      data: { name, language, folder, dry_run: input.dry_run, files: shown, notes },
      next:
        input.dry_run || !isFound
          ? []
          : nextOf(name, build?.built === false ? [{ command: build.command, why: 'Build the tool.' }] : []),
    };
  },
});

function nextOf(name: string, build: NextStep[]): NextStep[] {
  return [
    ...build,
    runTool(name, ['--who', 'Ada', '--times', '2']),
    describeTool(name),
    validateStrictly([name]),
  ];
}
