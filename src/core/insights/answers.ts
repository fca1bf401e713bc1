import type { IndexedQuestion } from '../ports/run-index.ts';
import type { Proposal, Rule } from './proposal.ts';

/** So many answers in a row, all the same. */
const MIN_ANSWERS = 5;
const MAX_EXAMPLES = 3;
/** What answers without being asked each time. */
const AUTOMATIC = ['beforehand', 'policy', 'default'];

interface Answered {
  runId: string;
  tool: string;
  action: string;
  answer: unknown;
}

/** Questions that people or agents have always answered alike. */
export const answers: Rule = ({ questions, tools, answerRules }) => {
  const given = questions.flatMap(({ run, questions: own }) =>
    own.flatMap((question): Answered[] => {
      if (!isGiven(question)) return [];
      const action = String(question.asked.action);
      return [{ runId: run.run_id, tool: run.tool, action, answer: question.answered?.answer }];
    }),
  );
  return [...Map.groupBy(given, ({ tool, action }) => JSON.stringify([tool, action]))].flatMap(([, all]) => {
    const [{ tool, action, answer }] = all as [Answered];
    const isAlike = all.every((each) => JSON.stringify(each.answer) === JSON.stringify(answer));
    const isRule = answerRules.some((rule) => rule.action === action && (rule.tool ?? tool) === tool);
    if (!tools.has(tool) || !isAlike || isRule || all.length < MIN_ANSWERS) return [];
    return [proposal(all, { tool, action, answer })];
  });
};

/** Whether a person or an agent answered it. The log of a parent run repeats the questions of its children. */
function isGiven({ answered, askedBy }: IndexedQuestion): boolean {
  return answered !== undefined && askedBy === undefined && !AUTOMATIC.includes(String(answered.source));
}

function proposal(all: readonly Answered[], asked: Omit<Answered, 'runId'>): Proposal {
  const { tool, action, answer } = asked;
  const shown = typeof answer === 'string' ? answer : JSON.stringify(answer);
  return {
    kind: 'answer',
    about: [tool, action],
    what: `Answer '${action}' of ${tool} with ${shown} without asking.`,
    why: `All ${all.length} answers were ${shown}.`,
    runs: all.length,
    of: all.length,
    examples: all
      .slice(-MAX_EXAMPLES)
      .reverse()
      .map(({ runId }) => runId),
    change: { kind: 'answer', rule: { action, tool, answer, reason: `answered so ${all.length} times` } },
    next: [],
  };
}
