// Shows the answer of a run in a GitHub job: outputs, a step summary, and an annotation when the run did not complete.
import { appendFileSync, readFileSync } from 'node:fs';

const { GITHUB_OUTPUT, GITHUB_STEP_SUMMARY } = process.env;
const { ok, data, error } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const details = error?.details ?? {};
const run = { ...details, ...data };

/** One line, because a line break would begin another output or command. */
const line = (value) => String(value ?? '').replaceAll(/[\r\n]+/g, ' ');
/** The escapes of workflow commands. */
const escaped = (value) =>
  String(value ?? '')
    .replaceAll('%', '%25')
    .replaceAll('\r', '%0D')
    .replaceAll('\n', '%0A');
const cell = (value) => line(value).replaceAll(/[\\`|<>]/g, (mark) => `&#${mark.charCodeAt(0)};`);

if (GITHUB_OUTPUT)
  appendFileSync(
    GITHUB_OUTPUT,
    `run-id=${line(run.run_id)}\nstate=${line(run.state)}\ndir=${line(run.dir)}\n`,
  );

const code = error?.code ?? run.code;
const message = error?.message ?? run.message;
const hint = error?.hint ?? run.hint;
if (!ok || (run.state !== undefined && run.state !== 'completed'))
  process.stdout.write(
    `::error title=${escaped(code ?? run.state).replaceAll(/[:,]/g, ' ')}::${escaped([message, hint].filter(Boolean).join('. '))}\n`,
  );

const rows = {
  run: run.run_id,
  tool: run.tool,
  state: run.state ?? code,
  seconds: run.duration_s,
  message,
  hint,
};
const table = Object.entries(rows).filter(([, value]) => value !== undefined && value !== null);
if (GITHUB_STEP_SUMMARY)
  appendFileSync(
    GITHUB_STEP_SUMMARY,
    [
      '### ACOR',
      '',
      '| | |',
      '|---|---|',
      ...table.map(([name, value]) => `| ${name} | ${cell(value)} |`),
      '',
    ].join('\n'),
  );
