import { basename } from 'node:path';
import type { HelpPlace } from '../adopt/help-place.ts';
import { CHECKS } from './checks/index.ts';
import { brokenBy, type Finding, type Verdict } from './finding.ts';
import { notStarted } from './not-started.ts';
import { type Call, type Observed, observe, type PlannedCall, planCalls } from './observe.ts';
import { compatibilityPlan, type Phase, type SurfacePlanStep, surfacePlan } from './plans.ts';
import type { SourceVerdicts } from './read-sources.ts';
import { type RuleId, SEVERITIES } from './rules.ts';
import { type Score, scoreOf } from './score.ts';
import { readSurface, type Surface, type SurfaceLimits } from './surface.ts';
import { type ValidationTask, validationTasks } from './validation-tasks.ts';

/** Which program to audit, and how far. */
export interface AuditRequest {
  program: string;
  limits: SurfaceLimits;
  /** Calls that the caller names: their answers are judged as data. */
  given: readonly (readonly string[])[];
  /** Commands that may be called although the help says that they change something. */
  allow: readonly string[];
}

/** The judgement of a program. Two audits of an unchanged program are equal. */
export interface Audit {
  program: string;
  /** The worst first. */
  findings: Finding[];
  score: Score;
  surface_plan: SurfacePlanStep[];
  compatibility_plan: Phase[];
  validation: ValidationTask[];
  commands: { command: string; effect: string; has_help: boolean }[];
  /** How many further commands its help names. */
  unread: number;
  calls: Pick<Call, 'purpose' | 'args' | 'rc' | 'trouble'>[];
}

/** What an audit would call, without a call besides those for help. */
export interface AuditPlan {
  surface: Surface;
  calls: PlannedCall[];
}

/** Reads the help of a program and plans the calls that the audit makes. */
export async function planAudit(
  place: HelpPlace,
  request: AuditRequest,
  signal: AbortSignal,
): Promise<AuditPlan> {
  const surface = await readSurface(place, basename(request.program), request.limits, signal);
  if (surface.root === null && surface.why.startsWith('cannot start'))
    throw notStarted(request.program, surface.why);
  return { surface, calls: planCalls(surface, request.given, request.allow) };
}

/** Makes the planned calls, and judges the program by the answers and by what reading its sources found. */
export async function audit(
  place: HelpPlace,
  request: AuditRequest,
  plan: AuditPlan,
  sources: SourceVerdicts | undefined,
  signal: AbortSignal,
): Promise<Audit> {
  const program = basename(request.program);
  return judge(await observe(place, program, plan.surface, plan.calls, signal), sources);
}

/** Judges what was observed; pure. */
export function judge(observed: Observed, sources?: SourceVerdicts): Audit {
  const verdicts = CHECKS.map((check): [RuleId, Verdict] => [
    check.rule,
    joined(check.judge(observed), sources?.get(check.rule)),
  ]);
  const { surface, calls, program } = observed;
  return {
    ...reportOf(program, verdicts),
    validation: validationTasks(observed, findingsOf(verdicts)),
    commands: surface.commands.map(({ words, effect, help }) => ({
      command: words.join(' '),
      effect,
      has_help: help !== null,
    })),
    unread: surface.unread,
    calls: calls.map(({ purpose, args, rc, trouble }) => ({ purpose, args, rc, trouble })),
  };
}

/** Judges sources alone, where there is no program to run. */
export function judgeSources(name: string, sources: SourceVerdicts): Audit {
  const verdicts = [...sources].map(([rule, findings]): [RuleId, Verdict] => [rule, brokenBy(findings)]);
  return { ...reportOf(name, verdicts), validation: [], commands: [], unread: 0, calls: [] };
}

function reportOf(program: string, verdicts: readonly [RuleId, Verdict][]) {
  const findings = findingsOf(verdicts);
  const steps = surfacePlan(findings);
  return {
    program,
    findings,
    score: scoreOf(verdicts),
    surface_plan: steps,
    compatibility_plan: compatibilityPlan(steps),
  };
}

function findingsOf(verdicts: readonly [RuleId, Verdict][]): Finding[] {
  return verdicts
    .flatMap(([, verdict]) => (verdict.kind === 'broken' ? verdict.findings : []))
    .toSorted((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity));
}

/** What running and reading say of one rule. */
function joined(ran: Verdict, read: readonly Finding[] = []): Verdict {
  if (read.length === 0) return ran;
  return brokenBy([...(ran.kind === 'broken' ? ran.findings : []), ...read]);
}
