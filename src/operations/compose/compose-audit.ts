import { resolve } from 'node:path';
import * as z from 'zod';
import { AppError } from '../../compose/app-error.ts';
import type { OperationContext } from '../../compose/operation.ts';
import type { Audit, AuditPlan } from '../../core/authoring/contract/audit.ts';
import type { Finding } from '../../core/authoring/contract/finding.ts';
import { RULES, SEVERITIES, type Severity } from '../../core/authoring/contract/rules.ts';
import type { Target } from '../../core/authoring/contract/target.ts';
import { splitCommand } from '../../util/shell-words.ts';
import type { AcorApp } from '../acor-app.ts';
import { acorOperation } from '../define.ts';

const severity = z.enum(SEVERITIES);

const evidence = z.object({
  command: z.string().describe('The call, or the line of a source.'),
  stream: z.enum(['stdout', 'stderr', 'exit', 'help', 'source']),
  bytes: z.string().describe('The bytes with which it begins, control characters as \\x1b.'),
});

const findingShape = z.object({
  rule: z.string(),
  severity,
  message: z.string(),
  section: z.string().describe('The section of the contract.'),
  source: z.string().describe('The requirement as the contract has it.'),
  impact: z.string().describe('What it costs an agent.'),
  commands: z.array(z.string()).describe('The commands or flags that it is about.'),
  evidence: z.array(evidence).describe('At most three.'),
  fix: z.string(),
  is_new: z.boolean().describe('Whether the baseline does not have it.'),
});

export const auditShape = z.object({
  program: z.string(),
  isolation: z.string().describe('The sandbox in which the program ran; none when only sources were read.'),
  findings: z.array(findingShape).describe('The worst first.'),
  counts: z.object({ critical: z.int(), high: z.int(), medium: z.int(), low: z.int() }),
  score: z.object({
    value: z.int().describe('From 0 to 100: earned of all weights that could be judged.'),
    earned: z.number(),
    of: z.number(),
    lines: z.array(
      z.object({
        rule: z.string(),
        weight: z.number(),
        earned: z.number().nullable().describe('Null when there was nothing to judge.'),
        why: z.string(),
      }),
    ),
  }),
  surface_plan: z.array(
    z.object({
      change: z.enum(['add', 'change', 'split', 'deprecate']),
      command: z.string(),
      what: z.string(),
      breaks: z.boolean().describe('Whether callers of today notice it.'),
      rule: z.string(),
    }),
  ),
  compatibility_plan: z
    .array(
      z.object({
        phase: z.enum(['add', 'split', 'announce', 'switch', 'remove']),
        what: z.string(),
        commands: z.array(z.string()),
        wrapper: z.string(),
        window: z.string(),
      }),
    )
    .describe('In the order of the rollout.'),
  validation: z
    .array(
      z.object({
        rule: z.string(),
        task: z.string(),
        script: z.string().describe('POSIX sh; it exits with 0 once the program passes.'),
        needs: z.array(z.string()),
      }),
    )
    .describe('Tasks for an agent that prove the findings resolved.'),
  commands: z.array(z.object({ command: z.string(), effect: z.string(), has_help: z.boolean() })),
  unread: z.int().describe('How many further commands the help names.'),
  calls: z
    .array(
      z.object({
        purpose: z.string(),
        args: z.array(z.string()),
        rc: z.int().nullable(),
        trouble: z.string().nullable(),
      }),
    )
    .describe('Every call of the program besides those for its help.'),
  dry_run: z.boolean(),
});

type AuditData = z.output<typeof auditShape>;

const input = z.object({
  target: z
    .string()
    .min(1)
    .describe(
      'A program on the PATH, the path of a program or of a source file, or a folder with one of them.',
    ),
  call: z
    .array(z.string())
    .default([])
    .describe('A further call whose answer is judged as data, such as "items list --limit 1".'),
  allow: z
    .array(z.string())
    .default([])
    .describe('A command that may be called although its help says that it changes something.'),
  depth: z.int().min(1).max(4).default(2).describe('How many levels of commands are read.'),
  commands: z.int().min(1).max(500).default(60).describe('At most so many commands are read.'),
  baseline: z
    .string()
    .optional()
    .describe('The saved JSON answer of an earlier audit: only findings that it does not have count.'),
  fail_on: severity
    .optional()
    .describe('Fail when there is a finding of this severity or worse; with --baseline the default is low.'),
  format: z.enum(['json', 'text', 'sarif']).optional().describe('sarif: for a code host.'),
  dry_run: z
    .boolean()
    .default(false)
    .describe('Ask only for help, and list the calls that the audit would make.'),
});

export const composeAudit = acorOperation({
  name: 'compose.audit',
  summary:
    'Judge a command line by the contract for programs that agents use: run it in the sandbox, and read its source.',
  effect: 'writes',
  idempotent: true,
  rateLimit: null,
  input,
  output: auditShape,
  positionals: ['target'],
  list: 'findings',
  example: 'acor compose audit git',
  moreExamples: [
    'acor compose audit ./dist/mytool --call "items list" --fail-on high',
    'acor compose audit . --baseline audit.json --format sarif',
  ],
  async run(given, ctx) {
    const [{ targetOf }, { readBaseline, isKnown }] = await Promise.all([
      import('../../core/authoring/contract/target.ts'),
      import('../../core/authoring/contract/baseline.ts'),
    ]);
    const target = targetOf(given.target, ctx.cwd);
    const baseline =
      given.baseline === undefined ? undefined : readBaseline(resolve(ctx.cwd, given.baseline));
    const { audit, isolation } = await judged(target, given, ctx);
    const findings = audit.findings.map((each) =>
      shown(each, baseline === undefined || !isKnown(each, baseline)),
    );
    const data = {
      ...audit,
      isolation,
      findings,
      counts: countsOf(findings),
      dry_run: given.dry_run,
      calls: audit.calls.map((each) => ({ ...each, args: [...each.args] })),
    };
    const failOn = given.fail_on ?? (baseline === undefined ? undefined : 'low');
    const failing = findings.filter(
      (each) => each.is_new && failOn !== undefined && isAtLeast(each.severity, failOn),
    );
    if (given.format === 'sarif') {
      const [{ sarifOf }, { ACOR_VERSION }] = await Promise.all([
        import('../../core/authoring/contract/sarif.ts'),
        import('../../util/version.ts'),
      ]);
      const document = sarifOf(
        audit.findings.filter((_, at) => findings[at]!.is_new),
        target.uri,
        ACOR_VERSION,
      );
      return { kind: 'document', data, document, ...(failing.length > 0 && { programExit: 1 }) };
    }
    const [first] = failing;
    if (first === undefined) return { kind: 'data', data };
    return { kind: 'failure', error: refusal(first, failing.length), data };
  },
});

/** The arguments that say how a target is judged. */
type Settings = Pick<z.output<typeof input>, 'call' | 'allow' | 'depth' | 'commands' | 'dry_run'>;

/** Runs the program of a target and reads its sources. */
async function judged(
  target: Target,
  settings: Settings,
  ctx: OperationContext<AcorApp>,
): Promise<{ audit: Audit; isolation: string }> {
  const [{ audit, judgeSources, planAudit }, { readSources }] = await Promise.all([
    import('../../core/authoring/contract/audit.ts'),
    import('../../core/authoring/contract/read-sources.ts'),
  ]);
  const sources = target.sources === null ? undefined : readSources(target.sources);
  if (target.program === null) {
    if (sources !== undefined) return { audit: judgeSources(target.name, sources), isolation: 'none' };
    throw new AppError('E_USAGE', `'${target.name}' has no program and no source that ACOR reads`, {
      hint: 'Name a program, or a file in TypeScript, JavaScript, Python, Go or Rust.',
    });
  }
  const { openProgram } = await import('./open-program.ts');
  const { place } = await openProgram(target.program, ctx);
  const request = {
    program: target.program,
    limits: { depth: settings.depth, commands: settings.commands },
    given: settings.call.map(wordsOf),
    allow: settings.allow,
  };
  const plan = await planAudit(place, request, ctx.signal);
  refuseChanges(plan, settings.allow);
  return {
    audit: settings.dry_run
      ? unjudged(target.name, plan)
      : await audit(place, request, plan, sources, ctx.signal),
    isolation: place.sandbox.backend.name,
  };
}

/** A named call of a command that changes something needs `--allow`. */
function refuseChanges({ calls }: AuditPlan, allow: readonly string[]): void {
  const changing = calls.find(
    ({ purpose, command }) =>
      purpose === 'given' &&
      (command?.effect === 'writes' || command?.effect === 'destroys') &&
      !allow.includes(command.words.join(' ')),
  );
  if (changing === undefined) return;
  const words = changing.command!.words.join(' ');
  throw new AppError('E_USAGE', `the help of '${words}' says that it changes something`, {
    hint: `Allow it with --allow '${words}'. It runs in the sandbox, without a network and in an empty folder.`,
  });
}

/** The calls of a plan, without a judgement. */
function unjudged(program: string, { surface, calls }: AuditPlan): Audit {
  return {
    program,
    findings: [],
    score: { value: 0, earned: 0, of: 0, lines: [] },
    surface_plan: [],
    compatibility_plan: [],
    validation: [],
    commands: surface.commands.map(({ words, effect, help }) => ({
      command: words.join(' '),
      effect,
      has_help: help !== null,
    })),
    unread: surface.unread,
    calls: calls.map(({ purpose, args }) => ({ purpose, args, rc: null, trouble: null })),
  };
}

function wordsOf(call: string): string[] {
  const words = splitCommand(call);
  if (words !== undefined) return words;
  throw new AppError('E_USAGE', `a quote in --call is not closed: ${call}`, { hint: 'Close the quote.' });
}

function shown(finding: Finding, isNew: boolean): AuditData['findings'][number] {
  const { surface: _, rule, ...rest } = finding;
  const { section, source, impact } = RULES[rule];
  return { rule, ...rest, section, source, impact, is_new: isNew };
}

function countsOf(findings: AuditData['findings']): AuditData['counts'] {
  const count = (wanted: Severity) => findings.filter((each) => each.severity === wanted).length;
  return { critical: count('critical'), high: count('high'), medium: count('medium'), low: count('low') };
}

function isAtLeast(one: Severity, other: Severity): boolean {
  return SEVERITIES.indexOf(one) <= SEVERITIES.indexOf(other);
}

function refusal({ rule, message, fix }: AuditData['findings'][number], count: number): AppError {
  const more = count > 1 ? ` (and ${count - 1} more)` : '';
  return new AppError('E_CONTRACT_BROKEN', `${rule}: ${message}${more}`, { hint: fix });
}
