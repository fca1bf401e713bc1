import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname, join, relative, resolve } from 'node:path';
import * as z from 'zod';
import type { OperationContext } from '../../compose/operation.ts';
import { findProgram } from '../../core/registry/find-program.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import type { AcorApp } from '../acor-app.ts';
import { acorOperation } from '../define.ts';
import { openProgram } from './open-program.ts';

export const composeCodemod = acorOperation({
  name: 'compose.codemod',
  summary: 'Write a command line on the kit for one on commander, yargs or oclif, which keeps working.',
  effect: 'writes',
  idempotent: false,
  rateLimit: null,
  input: z.object({
    source: z
      .string()
      .min(1)
      .describe('The file that starts the command line, or the folder of its package.'),
    name: z.string().optional().describe('The name of the command; by default that of the program.'),
    output: z
      .string()
      .optional()
      .describe('The folder for the modules; by default agent beside the program.'),
    kit: z.string().default('@acor/compose').describe('The package of the kit that they import.'),
    force: z.boolean().default(false).describe('Overwrite modules that exist.'),
    dry_run: z.boolean().default(false).describe('Show what would be written.'),
  }),
  output: z.object({
    library: z.enum(['commander', 'yargs', 'oclif']),
    program: z.string(),
    commands: z.array(
      z.object({
        command: z.string(),
        operation: z.string(),
        effect: z.enum(['reads', 'writes', 'destroys']).describe('A guess from its words: review it.'),
        replaces: z.array(z.string()).describe('The words of the old command.'),
      }),
    ),
    files: z.array(z.object({ path: z.string(), text: z.string().optional() })),
    dry_run: z.boolean(),
  }),
  positionals: ['source'],
  list: 'commands',
  example: 'acor compose codemod ./src/cli.ts --dry-run',
  async run({ source: path, name: given, output, kit, force, dry_run }, ctx: OperationContext<AcorApp>) {
    const [{ cliSourceOf }, { readOldCommands }, { writeCli }] = await Promise.all([
      import('../../core/authoring/codemod/cli-source.ts'),
      import('../../core/authoring/codemod/old-commands.ts'),
      import('./write-cli.ts'),
    ]);
    // Its definition is loaded, which is code of the program.
    await ctx.app.authorize({ name: 'run.start', effect: 'writes' }, { tool: path });
    const source = cliSourceOf(path, ctx.cwd);
    const { place } = await openProgram(runtimeOf(source.file, ctx), ctx);
    const program = await readOldCommands(source, place);
    const name = given ?? (program.name || basename(source.file, extname(source.file)));
    const folder = output === undefined ? join(dirname(source.file), 'agent') : resolve(ctx.cwd, output);
    const old = relative(folder, source.file);
    const { commands, files } = writeCli(program, {
      old: old.startsWith('.') ? old : `./${old}`,
      name,
      version: program.version || source.version,
      summary: program.summary || source.summary,
      kit,
    });
    const targets = files.map((each) => ({ path: join(folder, each.name), text: each.text }));
    const there = targets.filter(({ path: each }) => existsSync(each)).map(({ path: each }) => each);
    if (there.length > 0 && !force && !dry_run)
      throw new AcorError('E_USAGE', `these files exist already: ${there.join(', ')}`, {
        hint: 'Pass --force to overwrite them, or --output with another folder.',
        details: { files: there },
      });
    if (!dry_run) {
      mkdirSync(folder, { recursive: true });
      for (const each of targets) writeFileSync(each.path, each.text);
    }
    return {
      kind: 'data',
      data: {
        library: program.library,
        program: name,
        commands,
        files: targets.map((each) => ({
          path: relative(ctx.cwd, each.path),
          ...(dry_run && { text: each.text }),
        })),
        dry_run,
      },
    };
  },
});

/** The runtime that loads the program: TypeScript with Bun where it is, because old versions of Node cannot. */
function runtimeOf(file: string, ctx: OperationContext<AcorApp>): string {
  const isTypeScript = /\.[mc]?tsx?$/.test(file);
  return isTypeScript && findProgram('bun', ctx.env) !== undefined ? 'bun' : 'node';
}
