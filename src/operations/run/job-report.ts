import { appendFileSync } from 'node:fs';
import type { Answer, OperationContext, OperationResult } from '../../compose/operation.ts';
import { errorMessage } from '../../util/error-code.ts';
import type { AcorApp } from '../acor-app.ts';
import { workflowCommand } from '../project/annotation.ts';

/** What a job shows of a run. */
type Shown = Readonly<Record<string, unknown>>;

/**
 * Shows the end of a run in its CI job: an annotation for a failure, a part of the summary of the step, and the outputs run-id, state and dir. The
 * files are those that the job names in its environment.
 */
export async function reportInJob<T>(
  ctx: OperationContext<AcorApp>,
  work: () => Promise<OperationResult<T>>,
): Promise<OperationResult<T>> {
  // A client of a server is in no job of the server.
  if (ctx.app.surface !== 'command') return work();
  let result: OperationResult<T>;
  try {
    result = await work();
  } catch (error) {
    const { code, message, hint, details } = error as {
      [key in 'code' | 'message' | 'hint' | 'details']?: unknown;
    };
    show({ ...(details as Shown | undefined), code: code ?? 'E_UNKNOWN', message, hint }, ctx);
    throw error;
  }
  if (result.kind === 'events')
    return {
      ...result,
      async ended() {
        const end = await result.ended();
        show(shownOf(end.answer), ctx);
        return end;
      },
    };
  if (result.kind === 'data' || result.kind === 'failure') show(shownOf(result), ctx);
  return result;
}

function shownOf<T>(answer: Answer<T>): Shown {
  const data = (answer.data ?? {}) as Shown;
  if (answer.kind === 'data') return data;
  const { code, message, hint, details } = answer.error;
  return { ...details, ...data, code, message, hint };
}

function show(run: Shown, ctx: OperationContext<AcorApp>): void {
  const { code, state } = run;
  if (code == null && state === undefined) return;
  const { GITHUB_OUTPUT: outputs, GITHUB_STEP_SUMMARY: summary } = ctx.env;
  if (code != null || (state !== 'completed' && state !== 'running')) {
    const text = [run['message'], run['hint']].filter(Boolean).join('. ');
    ctx.note(workflowCommand('error', { title: String(code ?? state) }, text));
  }
  try {
    if (outputs) appendFileSync(outputs, outputsOf(run));
    if (summary) appendFileSync(summary, summaryOf(run));
  } catch (error) {
    ctx.note(`cannot write the summary or the outputs of the job: ${errorMessage(error)}`);
  }
}

function outputsOf({ run_id, state, dir }: Shown): string {
  return `run-id=${line(run_id)}\nstate=${line(state)}\ndir=${line(dir)}\n`;
}

function summaryOf({ run_id: run, tool, state, code, duration_s: seconds, message, hint }: Shown): string {
  const rows = Object.entries({ run, tool, state: state ?? code, seconds, message, hint });
  const table = rows.flatMap(([name, value]) => (value == null ? [] : `| ${name} | ${cell(value)} |`));
  return ['### ACOR', '', '| | |', '|---|---|', ...table, '', ''].join('\n');
}

/** One line: a line break would begin another output. */
function line(value: unknown): string {
  return String(value ?? '').replaceAll(/[\r\n]+/g, ' ');
}

/** Text of a tool is no markup. */
function cell(value: unknown): string {
  return line(value).replaceAll(/[\\`|<>[\]*]/g, (mark) => `&#${mark.charCodeAt(0)};`);
}
