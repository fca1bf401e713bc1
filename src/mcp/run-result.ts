import { basename, relative } from 'node:path';
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/server';
import { rowOf } from '../compose/failure.ts';
import {
  endArtifacts,
  lastStderr,
  type OpenQuestion,
  type RunStatus,
  restartsWithAnswers,
  runQuestions,
  runStatus,
  unansweredQuestions,
} from '../operations/run/run-status.ts';
import { problemOfData } from '../operations/tool/offered-tools.ts';
import { waitFor } from '../protocol/next-steps.ts';
import { answerCalls } from './answer-calls.ts';
import { withShortData } from './bounded-answer.ts';
import type { Host, OpenHost } from './host.ts';
import { type LeftToOthers, nextCalls } from './next-calls.ts';
import { lifeSign } from './progress.ts';
import { inCalls } from './surface-words.ts';
import { errorResult, hintOf, leftIn } from './tool-result.ts';

/** Small artifacts are part of the result, so that the client need not request them. */
const INLINE_BYTES = { text: 8192, media: 1 << 20 };
const MAX_INLINE = 4;
const MAX_LINKS = 100;

/**
 * The result of a call whose run has ended, waits, or continues without the caller. `isCompared`: the run may have ended long ago, and is compared with
 * its seal and the ledger.
 */
export async function runResult(
  host: Host,
  open: OpenHost,
  runId: string,
  note?: string,
  { isCompared = false }: { isCompared?: boolean } = {},
): Promise<CallToolResult> {
  const stand = await runStatus(open.app, runId);
  const about = { run_id: runId, tool: stand.tool, state: stand.state };
  if (stand.summary === null) return unfinished(open, about, stand.progress, note);
  const { summary } = stand;
  const left = await leftIn(open, summary.next);
  const verdict = isCompared ? await verdictOnEnded(open, runId) : [];
  const warnings = [...verdict, ...summary.warnings.map(warningInCalls)];
  const made = await endArtifacts(summary, open.app);
  const artifacts = made.map(({ path, size, media_type, sha256 }, index) => {
    return { uri: artifactUri(runId, index + 1, path), path, media_type, size, sha256 };
  });
  const questions = await unansweredQuestions(open.app, summary);
  if (summary.state === 'failed') {
    // A tool may have removed its own log.
    const stderr = await lastStderr(open.app, summary).catch(() => []);
    const ended = {
      ...about,
      attempt: summary.attempt,
      ...(summary.code === 'E_RESULT_INVALID' &&
        summary.result?.['data'] !== undefined && { invalid_data: summary.result['data'] }),
      ...(artifacts.length > 0 && { artifacts }),
      ...(questions.length > 0 && { questions }),
      ...(warnings.length > 0 && { warnings }),
    };
    return errorResult(errorOf(stand, stderr), summary.next, { about: ended, left });
  }
  const restarts =
    summary.state === 'completed' ? await restartsWithAnswers(summary, questions, open.app) : [];
  const next = nextCalls([...summary.next, ...restarts], left);
  const { status, data, metrics, msg } = summary.result ?? {};
  const problem = await problemOfData(open.app, stand.tool, data ?? null);
  const answer = {
    ...about,
    ...(typeof status === 'string' && { status }),
    // Clients check `data` against the output schema of the tool, also in an error.
    ...(data !== undefined && (problem === undefined ? { data } : { invalid_data: data })),
    ...(isRecord(metrics) && { metrics }),
    ...(typeof msg === 'string' && { msg }),
    ...(summary.message !== null && { message: summary.message }),
    ...noteOf(summary, left),
    artifacts,
    ...(questions.length > 0 && { questions }),
    ...(warnings.length > 0 && { warnings }),
    duration_s: summary.duration_s,
    ...(next.length > 0 && { next }),
  };
  if (summary.state === 'completed' && problem !== undefined) return misfit(host, answer, problem);
  const more = await contentOf(open, runId, made);
  return {
    content: [{ type: 'text', text: textOf(answer, open.app.cwd) }, ...more],
    structuredContent: answer,
  };
}

/** Loaded late: most results are those of runs that have just ended. */
async function verdictOnEnded(open: OpenHost, runId: string): Promise<string[]> {
  const { verdictOn } = await import('../operations/run/run-unverified.ts');
  return verdictOn((await open.app.project()).store, runId);
}

const ASK_USER = 'Ask the user, then call acor_answer: the tool wants their answer.';
const HELD = 'Its changes are not in place yet: see them with acor_diff.';
const CONTINUES =
  'It was stopped before its end: acor_resume continues it, if repeating what it did is safe.';
const RESTARTS =
  'It was stopped before its end, and has no checkpoint: acor_resume starts it again with its answers, if repeating what it did is safe.';
const SHOWN_DIGEST_CHARS = 12;

/** The text of an answer for a model: without what it knows, and with short paths and digests. */
function textOf(
  answer: Readonly<Record<string, unknown>> & { artifacts: readonly ShownArtifact[] },
  cwd: string,
): string {
  const { tool: _, duration_s: __, artifacts, ...rest } = answer;
  const shown = artifacts.map(({ path, size, sha256 }) => ({
    path: path.startsWith(`${cwd}/`) ? relative(cwd, path) : path,
    size,
    sha256: sha256.slice(0, SHOWN_DIGEST_CHARS),
  }));
  const text = {
    ...(rest as { run_id?: unknown; data?: unknown }),
    ...(shown.length > 0 && { artifacts: shown.slice(0, MAX_LINKS) }),
    ...(shown.length > MAX_LINKS && { more_artifacts: shown.length - MAX_LINKS }),
  };
  return JSON.stringify(withShortData(text, String(text.run_id)));
}

async function unfinished(
  open: OpenHost,
  about: { run_id: string; tool: string; state: string },
  progress: RunStatus['progress'],
  note: string | undefined,
): Promise<CallToolResult> {
  const asked = await runQuestions(open.app, about.run_id);
  const { questions } = asked;
  const next = [...answerCalls(about.run_id, asked), ...nextCalls([waitFor(about.run_id)])];
  const blocking = questions.filter((question) => question.blocking);
  const forOthers = blocking.filter(({ action_id }) => !asked.answerable.has(action_id));
  const isForUser = blocking.some(({ audience }) => audience === 'user');
  const answer = {
    ...about,
    ...(progress !== undefined && { progress: lifeSign(progress) }),
    ...(questions.length > 0 && { questions }),
    ...(forOthers.length > 0
      ? { note: leftToOthers(about.run_id, forOthers) }
      : note !== undefined
        ? { note }
        : isForUser && { note: ASK_USER }),
    next,
  };
  return { content: [{ type: 'text', text: JSON.stringify(answer) }], structuredContent: answer };
}

/** Why the caller may not answer, and how others do. */
function leftToOthers(run: string, questions: readonly OpenQuestion[]): string {
  const commands = questions.map(({ action_id }) => `acor answer ${run} ${action_id}`);
  return `The policy leaves the answer to others: ask the user. At a terminal: ${commands.join('; ')}`;
}

function errorOf({ summary, codeInfo }: RunStatus, stderr: readonly string[]) {
  return {
    code: summary?.code ?? 'E_UNKNOWN',
    message: summary?.message ?? 'the run failed',
    hint: withoutMoves(summary?.hint ?? codeInfo?.hint ?? ''),
    ...rowOf(codeInfo, summary?.retryable ?? false),
    ...(stderr.length > 0 && { details: { stderr } }),
  };
}

/** The run stays completed, but a client may rely on the schema that it got. */
function misfit(host: Host, answer: Record<string, unknown>, problem: string): CallToolResult {
  const code = 'E_RESULT_INVALID';
  const info = host.cli.errorInfo(code);
  const error = {
    code,
    message: `the run completed, but the data of its result does not match the tool's output_schema: ${problem}`,
    hint: 'Fix the tool, or output_schema in its manifest. invalid_data has the data, unchanged.',
    class: info?.class ?? 'user_error',
    retryable: false,
    action: info?.action ?? '',
  };
  return errorResult(error, [], { about: answer });
}

/** What a person decides about the run, and how a cancelled one continues. */
function noteOf({ state, next }: NonNullable<RunStatus['summary']>, left: LeftToOthers): { note?: string } {
  const isHeld = next.some((step) => 'input' in step && step.operation === 'run.apply');
  const isResumable = next.some((step) => 'input' in step && step.operation.endsWith('.resume'));
  const words = [
    ...(isHeld ? [HELD] : []),
    ...(state === 'cancelled' ? [isResumable ? CONTINUES : RESTARTS] : []),
    hintOf('', next, left),
  ];
  const note = words.filter((each) => each !== '').join(' ');
  return note === '' ? {} : { note };
}

/** Moving files is for a shell, too. */
function withoutMoves(hint: string): string {
  return hint.replace(
    / (?:Move them with|Compare them with what is there): .*$/s,
    ' Compare them with what is at their targets now.',
  );
}

/** Copying a file is for a shell; the rest of the warning names it. */
function warningInCalls(warning: string): string {
  return inCalls(
    warning.replace(/ To keep one: cp .*$/s, ' To keep one, have the tool write it to ARTIFACTS_DIR.'),
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Small artifacts inline, the others as links. */
async function contentOf(
  open: OpenHost,
  runId: string,
  artifacts: readonly Artifact[],
): Promise<ContentBlock[]> {
  const blocks: ContentBlock[] = [];
  let inlined = 0;
  for (const [index, artifact] of artifacts.slice(0, MAX_LINKS).entries()) {
    const uri = artifactUri(runId, index + 1, artifact.path);
    const inline =
      inlined < MAX_INLINE ? await inlineBlock(open, runId, index + 1, artifact, uri) : undefined;
    if (inline !== undefined) inlined++;
    const { media_type: mimeType, size } = artifact;
    const name = decodeURIComponent(uri.slice(uri.lastIndexOf('/') + 1));
    blocks.push(inline ?? { type: 'resource_link', uri, name, mimeType, size });
  }
  return blocks;
}

async function inlineBlock(
  open: OpenHost,
  runId: string,
  number: number,
  { kind, size, media_type: mimeType }: Artifact,
  uri: string,
): Promise<ContentBlock | undefined> {
  const [family] = mimeType.split('/');
  const isMedia = family === 'audio' || (family === 'image' && mimeType !== 'image/svg+xml');
  const isText = family === 'text' || /^application\/(?:json|jsonl|yaml|xml)$/.test(mimeType);
  const most = isMedia ? INLINE_BYTES.media : isText ? INLINE_BYTES.text : 0;
  if (kind !== 'file' || size === 0 || size > most) return undefined;
  const input = { run: runId, artifact: String(number), bytes: most };
  const read = await open.call('run.artifact', input, { signal: new AbortController().signal });
  // It may be removed by now; then the link fails.
  if (!read.ok) return undefined;
  const { content, encoding } = read.data as { content: string; encoding: 'utf8' | 'base64' };
  if (isMedia) {
    const data = encoding === 'base64' ? content : Buffer.from(content).toString('base64');
    return { type: family === 'audio' ? 'audio' : 'image', data, mimeType };
  }
  return encoding === 'utf8' ? { type: 'resource', resource: { uri, mimeType, text: content } } : undefined;
}

type ShownArtifact = Pick<Artifact, 'path' | 'size' | 'sha256'>;

/** An artifact as the runner measured it. */
interface Artifact {
  path: string;
  kind: 'file' | 'directory';
  size: number;
  sha256: string;
  media_type: string;
}

/** The address of an artifact: its number in the run's list, from 1, and its name for people. */
function artifactUri(runId: string, number: number, path: string): string {
  return `acor://runs/${runId}/artifacts/${number}/${encodeURIComponent(basename(path))}`;
}
