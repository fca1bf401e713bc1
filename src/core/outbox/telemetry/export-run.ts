import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { RunStore } from '../../ports/run-store.ts';
import { postJson } from '../post-json.ts';
import { otlpRequest } from './otlp.ts';
import { spansOf } from './run-spans.ts';

/** Where spans go. */
export type TraceTarget = { endpoint: string; authorization: string | undefined } | { file: string };

/** An ended run in its store. Its spans are of the events after `since`. */
export interface SentRun {
  store: RunStore;
  runId: string;
  since: number;
  project: string;
  root: string;
}

/** Sends the spans of an ended run. Throws when the collector does not take them. */
export async function exportRun(
  target: TraceTarget,
  { store, runId, since, project, root }: SentRun,
): Promise<void> {
  const spans = await spansOf(store, await store.read(runId), since);
  if (spans.length === 0) return;
  await send(target, root, otlpRequest(project, spans));
}

/** Sends a request without spans, as a test. Throws when the collector does not take it. */
export function exportNothing(target: TraceTarget, root: string): Promise<void> {
  return send(target, root, { resourceSpans: [] });
}

async function send(target: TraceTarget, root: string, request: object): Promise<void> {
  const body = JSON.stringify(request);
  if ('file' in target) {
    const file = resolve(root, target.file);
    mkdirSync(dirname(file), { recursive: true });
    appendFileSync(file, `${body}\n`);
    return;
  }
  const { endpoint, authorization } = target;
  const headers = authorization === undefined ? {} : { Authorization: authorization };
  await postJson(`${endpoint.replace(/\/$/, '')}/v1/traces`, body, headers);
}
