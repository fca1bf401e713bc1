import { relative } from 'node:path';
import * as z from 'zod';
import { AppError } from '../../compose/app-error.ts';
import { AGENTS } from '../../core/authoring/agents/agents.ts';
import { findProject } from '../../core/config/find.ts';
import { findProgram } from '../../core/registry/find-program.ts';
import { CHECK_AGENTS, initAgents } from '../../protocol/next-steps.ts';
import { fixText } from '../command-forms.ts';
import { acorOperation } from '../define.ts';

const output = z.object({
  root: z.string(),
  agents: z.array(z.enum(AGENTS)).describe('The agents whose files the project has.'),
  program: z
    .string()
    .nullable()
    .describe('The program that agents start as `acor`; null when it is not on the PATH.'),
  files: z.array(
    z.object({
      path: z.string(),
      agents: z.array(z.enum(AGENTS)),
      state: z.enum(['current', 'missing', 'stale', 'changed', 'foreign', 'unreadable']),
      detail: z.string(),
      fix: z.string().nullable().describe('A command or an edit.'),
    }),
  ),
});

export const agentsCheck = acorOperation({
  name: 'agents.check',
  summary:
    'Compare the files that agents read with what this version of ACOR would write; each with its fix.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object({}),
  output,
  list: 'files',
  example: 'acor agents check',
  async run(_, ctx) {
    const [{ checkAgents }, { agentTexts }] = await Promise.all([
      import('../../core/authoring/agents/check-agents.ts'),
      import('./agents/agent-texts.ts'),
    ]);
    const { root } = findProject(ctx.cwd);
    const { agents, files } = checkAgents(root, await agentTexts(ctx.app.routes));
    const program = findProgram('acor', ctx.env) ?? null;
    const shown = files.map(({ path, agents: whose, state, detail, fix, next }) => ({
      path: relative(root, path),
      agents: whose,
      state,
      detail,
      fix: state === 'current' ? null : fixText({ fix, ...(next && { next }) }, ctx.app.commandOf),
    }));
    const data = { root, agents, program, files: shown };
    if (agents.length === 0) return { kind: 'data', data, next: [initAgents(AGENTS)] };
    // A file that a person changed on purpose is listed, but is not a failure.
    const faulty = shown.filter(({ state }) => state !== 'current' && state !== 'changed');
    const [first] = faulty;
    if (first === undefined) return { kind: 'data', data };
    const more = faulty.length > 1 ? ` (and ${faulty.length - 1} more)` : '';
    const error = new AppError('E_CONFIG_INVALID', `${first.path}: ${first.detail}${more}`, {
      hint: first.fix ?? '',
      next: [initAgents(agents), CHECK_AGENTS],
    });
    return { kind: 'failure', error, data };
  },
});
