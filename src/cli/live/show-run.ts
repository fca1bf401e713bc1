import type { AppError } from '../../compose/app-error.ts';
import type { Interrupts } from '../../compose/interrupts.ts';
import type { DataOf, EventsResult } from '../../compose/operation.ts';
import { renderValue, stderrLines } from '../../compose/render.ts';
import type { Screen } from '../../compose/screen.ts';
import type { Place, Presenter } from '../../compose/terminal.ts';
import { safeData } from '../../compose/terminal-text.ts';
import { writeOut } from '../../compose/write-out.ts';
import type { RunAbout } from '../../operations/run/run-about.ts';
import type { runWait } from '../../operations/run/run-wait.ts';
import type { EndedRun } from '../../operations/shapes.ts';
import type { TerminalPerson } from '../dialog/terminal-person.ts';
import { writeOutputFile } from '../present/output-file.ts';
import { plainOutput, renderResult } from '../present/result.ts';
import { RunView, type ViewOptions } from './run-view.ts';

/**
 * Shows the events of a live run to a person. `atQuestion` selects what is shown of an end that is not in the events,
 * such as a question that stayed open: the answer, or only the next commands.
 */
export function runPresenter(person: TerminalPerson, atQuestion: 'answer' | 'commands') {
  return {
    async events(stream, place) {
      const about = (await stream.about?.()) as RunAbout;
      const view = new RunView({ ...about, ...placeOf(place) });
      await showEvents(stream, view, about, place, person);
      const { answer: end, next } = await stream.ended();
      if (end.kind === 'failure') await writeChildsWords(end.error, place);
      // Of a long output, the view has shown only some lines.
      if (view.hasLeftOut && isEnded(end.data)) await writeOutputFile(end.data, place.stdoutFd);
      return next !== undefined && atQuestion === 'answer' ? 'answer' : 'shown';
    },
    failed: writeFailed,
    write: async (answer: Record<string, unknown>, fd) =>
      isEnded(answer) && (await writeOutputFile(answer, fd)),
    data: (answer: Record<string, unknown>, screen) =>
      isEnded(answer) ? renderAnswerOf(answer, screen) : renderValue(answer, screen),
  } satisfies Presenter;
}

type Ended = Pick<EndedRun, 'result' | 'artifacts' | 'dir'>;

function isEnded(answer: unknown): answer is Ended {
  return typeof answer === 'object' && answer !== null && 'result' in answer && 'artifacts' in answer;
}

/** Why the step of a workflow or a stage of a pipe failed, unless the message has it: the events of the run do not have what the child wrote. */
async function writeChildsWords(
  { message, details = {} }: Pick<AppError, 'message' | 'details'>,
  { screen, stdoutFd }: Pick<Place, 'screen' | 'stdoutFd'>,
): Promise<void> {
  const { failed_run: run, stderr } = details;
  if (run === undefined || !Array.isArray(stderr)) return;
  const isSaid = stderr.some((line) => String(line).trim() !== '' && message.includes(String(line).trim()));
  if (isSaid) return;
  await writeOut(stdoutFd, `${[`The last lines of ${run}:`, ...stderrLines(details, screen)].join('\n')}\n`);
}

/** What a failed program had written to stdout, whole. */
async function writeFailed(
  details: unknown,
  { screen, stdoutFd }: Pick<Place, 'screen' | 'stdoutFd'>,
): Promise<void> {
  const { data, dir } = (details ?? {}) as Record<string, unknown>;
  if (data === undefined) return;
  if (typeof dir === 'string' && (await writeOutputFile({ result: { data }, dir }, stdoutFd))) return;
  await writeOut(stdoutFd, `${renderResult({ data }, screen)}\n`);
}

/** The end of a run that was waited for is shown as the end of one that was started; else why it was not waited for longer. */
export const waitPresenter = {
  failed: writeFailed,
  data({ run_id, state, questions, ...answer }: Waited, screen) {
    if (answer.result !== null) return renderAnswerOf(answer, screen);
    const asked = questions.map(({ action_id, action, msg }) => ({
      question: action_id,
      asks: msg || action,
    }));
    return renderValue({ run: run_id, state, ...(asked.length > 0 && { questions: asked }) }, screen);
  },
} satisfies Presenter;

type Waited = DataOf<typeof runWait>;

/** The answer of a run for a reader of a pipe: what the tool answered, else the files that it wrote, else its figures. */
function renderAnswerOf({ result, artifacts }: Pick<Ended, 'result' | 'artifacts'>, screen: Screen): string {
  const answer = result === null ? '' : renderResult(result, screen);
  const files = artifacts.map(({ path }) => path).join('\n');
  if (answer !== '' || files !== '' || plainOutput(result?.data) !== undefined) return answer || files;
  const { metrics, steps } = result ?? {};
  const figures = [metrics, steps && { steps }].filter((part) => part !== undefined);
  return figures.map((part) => renderValue(safeData(part), screen)).join('\n');
}

/** Where and how a view is drawn. */
export function placeOf({
  screen,
  stdoutFd,
  cwd,
  fromCaller,
}: Place): Pick<ViewOptions, 'screen' | 'fd' | 'cwd' | 'fromCaller'> {
  return { screen, fd: stdoutFd, cwd, fromCaller };
}

/** Draws events in a view until they end or the reader has gone, and leaves the screen in order. */
export async function showEvents(
  { events }: EventsResult<unknown>,
  view: RunView,
  { cancels }: RunAbout,
  { interrupts }: Place,
  person: TerminalPerson,
): Promise<void> {
  // An interrupt cancels the run or ends the events; without a listener it would end the process in the middle of a
  // line.
  const stopListening = cancels ? reportInterrupts(view, interrupts) : interrupts.listen(() => {});
  person.watch(view);
  try {
    for await (const lines of events) if ((await view.show(lines)) === 'closed') break;
  } finally {
    person.watch(undefined);
    stopListening();
    await view.close();
  }
}

/** Shows what an interrupt does, while it does it. */
function reportInterrupts(view: RunView, interrupts: Interrupts): () => void {
  return interrupts.listen((_signal, count) =>
    view.say(
      count > 1
        ? 'stopping at once'
        : 'stopping: the tool may finish cleanly; press Ctrl-C again to stop it at once',
    ),
  );
}
