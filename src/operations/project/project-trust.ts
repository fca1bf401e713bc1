import { realpathSync } from 'node:fs';
import * as z from 'zod';
import type { LoadedConfig } from '../../core/config/load.ts';
import { type StoredTrust, TrustStore, trustDigest } from '../../core/config/trust.ts';
import type { Widening } from '../../core/config/widening.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import { type NextStep, TRUST } from '../../protocol/next-steps.ts';
import { userName } from '../../util/users.ts';
import { acorOperation } from '../define.ts';

const LIST_SETTINGS: NextStep = {
  operation: 'project.trust',
  input: { list: true },
  why: 'List what the configuration widens.',
};

/** What a person types to trust a project. */
const WORD = 'trust';

export const projectTrust = acorOperation({
  name: 'project.trust',
  summary:
    "Trust what this project's configuration widens: a person reads each setting, and types a word. Without trust it has no effect.",
  effect: 'writes',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    list: z.boolean().default(false).describe('List what the configuration widens, and change nothing.'),
    revoke: z.boolean().default(false).describe('Revoke the trust.'),
    dry_run: z
      .boolean()
      .default(false)
      .describe('Show what would be trusted or revoked, and change nothing.'),
  }),
  output: z.object({
    root: z.string(),
    file: z.string().nullable(),
    state: z
      .enum(['not_needed', 'trusted', 'untrusted', 'revoked'])
      .describe('not_needed: the configuration widens nothing.'),
    by: z.string().nullable(),
    at: z.string().nullable(),
    settings: z.array(
      z.object({
        key: z.string(),
        where: z.string(),
        asked: z.unknown(),
        without: z.unknown().describe('The value that applies without trust.'),
        means: z.string(),
        leads_to: z
          .array(z.string())
          .optional()
          .describe('Where its folders really are. The trust is valid while they are there.'),
        is_new: z.boolean().describe('Whether it has changed since a person trusted this project.'),
      }),
    ),
  }),
  list: 'settings',
  example: 'acor trust',
  moreExamples: ['acor trust --list', 'acor trust --revoke'],
  async run(input, ctx) {
    const config = await configOf(ctx.cwd, ctx.env);
    const { widenings } = config.trust;
    const store = new TrustStore(ctx.env);
    const given = store.read(config.root);
    // Like approve --list, it changes nothing whatever stands beside it: the policy takes it for reading.
    if (input.revoke && !input.list) {
      if (!input.dry_run) store.remove(config.root);
      return { kind: 'data', data: answer(config, 'revoked', undefined) };
    }
    if (widenings.length === 0) return { kind: 'data', data: answer(config, 'not_needed', undefined) };
    if (config.trust.isTrusted) return { kind: 'data', data: answer(config, 'trusted', given) };
    if (input.list || input.dry_run) return { kind: 'data', data: answer(config, 'untrusted', given) };
    const { settings } = answer(config, 'untrusted', given);
    // Only a person may trust: an agent must not remove its own limits.
    if (ctx.person === null) {
      throw new AcorError(
        'E_APPROVAL_REQUIRED',
        `no person has trusted what ${config.file ?? config.root} widens`,
        {
          hint: 'A person must read the settings and trust them at a terminal. Or set them in your own configuration, or in ACOR_* variables.',
          details: { root: realpathSync(config.root), file: config.file, settings },
          next: [LIST_SETTINGS],
        },
      );
    }
    const typed = await ctx.person.askForText(question(config, given), `To trust it, type ${WORD}`);
    if (typed !== WORD) throw notTrusted(`'${WORD}' was not typed`);
    if (trustDigest((await configOf(config.root, ctx.env)).trust.widenings) !== trustDigest(widenings))
      throw notTrusted('it changed while you were reading it');
    store.write(config.root, widenings, { by: userName(), at: new Date().toISOString() });
    return { kind: 'data', data: answer(config, 'trusted', store.read(config.root)) };
  },
});

/** Also where a link is not trusted yet, which refuses every other command. */
async function configOf(
  cwd: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<LoadedConfig> {
  const { loadConfig } = await import('../../core/config/load.ts');
  return loadConfig({ cwd, env, acceptLinks: true });
}

function answer(
  { root, file, trust }: LoadedConfig,
  state: 'not_needed' | 'trusted' | 'untrusted' | 'revoked',
  given: StoredTrust | undefined,
) {
  const settings = trust.widenings.map(({ expanded: _, ...each }) => ({
    ...each,
    is_new: isNew(each, given),
  }));
  const { by = null, at = null } = state === 'trusted' ? (given ?? {}) : {};
  return { root: realpathSync(root), file, state, by, at, settings };
}

function isNew({ key, asked, leads_to }: Widening, given: StoredTrust | undefined): boolean {
  const text = JSON.stringify([key, asked, leads_to]);
  const seen = given?.settings.map((each) => JSON.stringify([each.key, each.value, each.leads_to]));
  return seen?.includes(text) !== true;
}

/** The difference that the person reads: what applies now, and what would apply. */
function question({ root, file, trust }: LoadedConfig, given: StoredTrust | undefined): string[] {
  return [
    `Trust the configuration of ${realpathSync(root)}?`,
    '',
    `${file ?? 'A link'} gives tools more than your own configuration does:`,
    ...trust.widenings.flatMap((each) => [
      '',
      `${each.key}${given !== undefined && isNew(each, given) ? ' (changed since you trusted this project)' : ''}`,
      `- ${JSON.stringify(each.without)}`,
      `+ ${JSON.stringify(each.asked)}`,
      ...(each.leads_to ?? []).map((place) => `  leads to ${place}`),
      `  ${each.means}`,
    ]),
    '',
    'Your trust covers these values. When one of them changes, ACOR ignores them and you are asked again.',
  ];
}

function notTrusted(why: string): AcorError {
  return new AcorError('E_APPROVAL_REQUIRED', `the configuration was not trusted: ${why}`, {
    hint: `To trust it, a person types ${WORD} at the prompt.`,
    next: [TRUST],
  });
}
