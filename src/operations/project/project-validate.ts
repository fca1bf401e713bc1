import { resolve } from 'node:path';
import * as z from 'zod';
import { AppError } from '../../compose/app-error.ts';
import type { Finding } from '../../core/authoring/validation/finding.ts';
import { fixFiles } from '../../core/authoring/validation/fixes/fix-files.ts';
import { RULES } from '../../core/authoring/validation/rules.ts';
import { openSubject, type Subject } from '../../core/authoring/validation/subject.ts';
import { validate } from '../../core/authoring/validation/validate.ts';
import type { NextStep } from '../../protocol/next-steps.ts';
import { writeAtomic } from '../../util/atomic-write.ts';
import { errorCode, errorMessage } from '../../util/error-code.ts';
import { readRegular } from '../../util/regular-file.ts';
import { acorOperation } from '../define.ts';
import { findingShape, placed, shownFinding } from './shapes.ts';

const output = z.object({
  findings: z.array(findingShape),
  errors: z.int(),
  warnings: z.int(),
  tools: z.int().describe('How many tools were checked.'),
  fixed: z
    .array(z.object({ file: z.string(), rules: z.array(z.string()), diff: z.string() }))
    .describe('With --fix: the files that were changed, or with --dry-run would be.'),
  dry_run: z.boolean(),
});

export const projectValidate = acorOperation({
  name: 'project.validate',
  summary:
    'Check configuration, manifests, error codes, policies, prompts and workflows; every finding has its place and its fix.',
  effect: 'writes',
  readsWithout: ['fix', 'selftest', 'junit'],
  idempotent: true,
  rateLimit: null,
  input: z.object({
    targets: z
      .array(z.string())
      .default([])
      .describe('Tools by name, files or folders; by default the whole project.'),
    strict: z.boolean().default(false).describe('Treat warnings as errors.'),
    fix: z.boolean().default(false).describe('Fix what is safe to fix; comments and order stay as they are.'),
    check_versions: z
      .boolean()
      .default(false)
      .describe('Also whether tools and project fit this version of ACOR.'),
    selftest: z.boolean().default(false).describe('Also run the self-tests of the tools.'),
    junit: z.string().min(1).optional().describe('Also write the findings to this file, as a JUnit report.'),
    ci: z
      .boolean()
      .default(false)
      .describe('Also write each finding to standard error as an annotation of GitHub.'),
    dry_run: z.boolean().default(false).describe('With --fix: show what would change, and change nothing.'),
  }),
  output,
  positionals: ['targets'],
  list: 'findings',
  example: 'acor validate --strict',
  moreExamples: [
    'acor validate data_migrator --selftest',
    'acor validate --fix --dry-run',
    'acor validate --ci --junit report.xml',
  ],
  async run(input, ctx) {
    const { pluginsOf } = await import('../../core/project/open-tools.ts');
    const report = input.dry_run || input.junit === undefined ? undefined : resolve(ctx.cwd, input.junit);
    if (report !== undefined) await refuseOtherFile(report);
    const surroundings = { cwd: ctx.cwd, env: ctx.env, pluginsOf };
    let subject = await openSubject(input.targets, surroundings);
    const fixed = input.fix ? await fixFiles(subject, { dryRun: input.dry_run }) : [];
    if (fixed.length > 0 && !input.dry_run) subject = await openSubject(input.targets, surroundings);
    const untested = new Map<Subject['tools'][number], string>();
    const found = await validate(subject, {
      strict: input.strict,
      versions: input.check_versions,
      selftest: input.selftest,
      onUntested: (tool, why) => untested.set(tool, why),
      services: () => ctx.app.services(),
      onInterrupt: (listener) => ctx.interrupts.listen(listener),
    });
    const shown = found.map((finding) => shownFinding(finding, ctx.app.commandOf));
    const findings = input.fix ? shown.map((each) => withReason(each, subject)) : shown;
    if (input.ci) {
      const { annotation } = await import('./annotation.ts');
      for (const finding of findings) ctx.note(annotation(finding, ctx.env['GITHUB_WORKSPACE'] ?? ctx.cwd));
    }
    if (report !== undefined) {
      const { junitReport } = await import('./junit-report.ts');
      const { tools } = subject;
      const selftests = input.selftest ? untested : undefined;
      writeReport(report, junitReport({ root: ctx.cwd, tools, findings, untested: selftests }));
    }
    const errors = findings.filter(({ severity }) => severity === 'error');
    const data = {
      findings,
      errors: errors.length,
      warnings: findings.length - errors.length,
      tools: subject.tools.length,
      fixed,
      dry_run: input.dry_run,
    };
    const fixing = !input.fix && (await isFixable(subject, findings)) ? [previewFixes(input.targets)] : [];
    const [first] = errors;
    if (first === undefined) return { kind: 'data', data, next: fixing };
    return { kind: 'failure', error: refusal(errors, first, fixing, subject.workflowFiles), data };
  },
});

/** Says of a finding in the header of a script why `--fix` has left it. */
function withReason<F extends Pick<Finding, 'file' | 'rule' | 'fix'>>(finding: F, { tools }: Subject): F {
  const isInHeader = tools.some(({ entry, hasHeader }) => hasHeader && entry === finding.file);
  if (!isInHeader || RULES[finding.rule]?.fixed === undefined) return finding;
  return { ...finding, fix: `${finding.fix} (by hand: --fix does not change the header of a script)` };
}

/** A report replaces only an earlier one: the name may be a mistake, or come from a client that may not change tools. */
async function refuseOtherFile(path: string): Promise<void> {
  let text: string;
  try {
    text = readRegular(path).toString('utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return;
    throw unwritable(error);
  }
  const { isOwnReport } = await import('./junit-report.ts');
  if (isOwnReport(text)) return;
  throw new AppError('E_USAGE', `${path} is not a report of 'acor validate', so no report replaces it`, {
    hint: 'Name another file for the report, such as report.xml; or remove this one first.',
  });
}

function writeReport(path: string, text: string): void {
  try {
    writeAtomic(path, text);
  } catch (error) {
    throw unwritable(error);
  }
}

function unwritable(error: unknown): AppError {
  return new AppError('E_USAGE', `cannot write the report: ${errorMessage(error)}`, {
    hint: 'Pass the path of a file in a folder that exists and that you can write to.',
  });
}

/** A rule that can be fixed is not fixed everywhere: not in the header of a script, and not where the fix is ambiguous. */
async function isFixable(subject: Subject, findings: readonly Finding[]): Promise<boolean> {
  if (!findings.some(({ rule }) => RULES[rule]?.fixed !== undefined)) return false;
  return (await fixFiles(subject, { dryRun: true })).length > 0;
}

function previewFixes(targets: readonly string[]): NextStep {
  const input = { targets, fix: true, dry_run: true };
  return { operation: 'project.validate', input, why: 'See what would be fixed.' };
}

/** One error for all findings. Its code says whether only tools, only workflows, or the whole project are invalid. */
function refusal(
  errors: readonly Finding[],
  first: Finding,
  next: readonly NextStep[],
  workflowFiles: readonly string[],
): AppError {
  const isOfTool = (finding: Finding) =>
    ['manifest', 'tool'].includes(RULES[finding.rule]?.about ?? '') || /tool\.ya?ml$/.test(finding.file);
  const isOfWorkflow = ({ file, rule }: Finding) =>
    RULES[rule]?.about === 'workflow' || workflowFiles.includes(file);
  const code = errors.every(isOfWorkflow)
    ? 'E_WORKFLOW_INVALID'
    : errors.every(isOfTool)
      ? 'E_MANIFEST_INVALID'
      : 'E_CONFIG_INVALID';
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  return new AppError(code, `${placed(first)}: ${first.message}${more}`, { hint: first.fix, next });
}
