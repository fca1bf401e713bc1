import type { Person } from '../compose/person.ts';
import { agentsMay } from '../core/guard/agents-may.ts';
import type { Question } from '../core/run/answers/question.ts';
import { isRunnersQuestion } from '../core/run/answers/question.ts';
import { AcorError } from '../protocol/acor-error.ts';
import { listQuestions, type NextStep } from '../protocol/next-steps.ts';
import type { AgentDecision } from '../protocol/policy-file.ts';
import type { AcorApp, Principal } from './acor-app.ts';
import type { OperationName } from './command-forms.ts';

/** Who decides, and where. */
export interface Decider {
  person: Person | null;
  principal: Principal;
  root: string;
  env: Readonly<Record<string, string | undefined>>;
}

/** What an agent may do only where a policy leaves it to agents. */
const DECISIONS: Partial<Readonly<Record<OperationName, AgentDecision>>> = {
  'run.apply': 'apply',
  'run.undo': 'undo',
};

/** What the runner asks for. */
const PERMISSIONS = {
  allow_host: 'connect to a host that its manifest does not name',
  allow_path: 'use a path outside of the folders that ACOR grants',
  allow_command: 'start a program that its permissions do not name',
} as const satisfies Partial<Record<AgentDecision, string>>;

/** The operations among `names` that the policy leaves to a person. An invalid policy leaves all of them. */
export async function leftToPersons(
  app: AcorApp,
  names: readonly string[] = Object.keys(DECISIONS),
): Promise<ReadonlySet<string>> {
  const left = new Set<string>();
  for (const name of names) {
    const decision = DECISIONS[name as OperationName];
    if (decision === undefined) continue;
    const root = (await app.project()).config.root;
    if (!(await agentsMay(decision, { root, env: app.env }).catch(() => false))) left.add(name);
  }
  return left;
}

/** Throws E_APPROVAL_REQUIRED for a caller without a person at a terminal or in a browser signed in from one, unless a policy leaves the decision to agents. */
export async function requirePerson(
  decision: AgentDecision,
  { person, principal, root, env }: Decider,
  { what, next }: { what: string; next: NextStep[] },
): Promise<void> {
  if (person !== null || principal.isAtTerminal || (await agentsMay(decision, { root, env }))) return;
  throw new AcorError('E_APPROVAL_REQUIRED', `only a person may ${what}`, {
    hint: `A person does it at a terminal, or in the dashboard of a server that was started at one, signed in by its link. Or the policy of the user or the system leaves it to agents: agents_may: [${decision}].`,
    next,
  });
}

/** The decision that a person takes by the answer, unless a policy leaves it to agents; undefined for a question that is for anybody. */
function decisionBy(question: Question): keyof typeof PERMISSIONS | undefined {
  if (!isRunnersQuestion(question.askedBy?.actionId ?? question.actionId)) return undefined;
  // A question of the runner that is not here is the strictest.
  return question.action in PERMISSIONS ? (question.action as keyof typeof PERMISSIONS) : 'allow_host';
}

/** Whether a caller without a terminal may answer. An invalid policy leaves every decision to a person. */
export async function mayAnswer(
  question: Question,
  { principal, root, env }: Omit<Decider, 'person'>,
): Promise<boolean> {
  const decision = decisionBy(question);
  if (decision === undefined || principal.isAtTerminal) return true;
  return agentsMay(decision, { root, env }).catch(() => false);
}

/** What a tool may do beyond its manifest is not for the agent that runs it. Other questions are for anybody. */
export async function requirePersonFor(question: Question, run: string, decider: Decider): Promise<void> {
  const decision = decisionBy(question);
  if (decision === undefined) return;
  const what = `answer whether a tool may ${PERMISSIONS[decision]}`;
  await requirePerson(decision, decider, { what, next: [listQuestions(run)] });
}
