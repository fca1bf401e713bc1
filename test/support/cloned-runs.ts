import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ledger } from '../../src/core/store-files/ledger.ts';
import { sha256 } from '../../src/core/store-files/ledger-line.ts';
import { SealBuilder } from '../../src/core/store-files/seal.ts';
import { newRunId } from '../../src/util/ids.ts';

/** So many clones are entered in the ledger at once. */
const BATCH_RUNS = 200;
const TIME = /"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"/g;

/** A run that was made by ACOR itself, from which others are cloned. */
interface Model {
  runId: string;
  dir: string;
  events: string;
  record: Record<string, unknown>;
  /** Clones need no more than these files for every command; the real folders hold more. */
  files: string[];
}

/**
 * Fills a store with clones of the runs that are in it: each has its own id, times, seals and line in the ledger, so that `acor verify`
 * finds nothing wrong. They were made just now. With `isWhole`, they have all files and folders of a run.
 */
export async function cloneRuns(
  runsDir: string,
  count: number,
  options: { isWhole?: boolean } = {},
): Promise<void> {
  const models = readdirSync(runsDir)
    .filter((name) => name.startsWith('r-'))
    .map((runId) => modelOf(runsDir, runId));
  const ledger = new Ledger(runsDir);
  let entries: Parameters<Ledger['append']> = [];
  for (let index = 0; index < count; index++) {
    const model = models[index % models.length]!;
    entries.push(cloneOf(model, runsDir, options.isWhole === true));
    if (entries.length === BATCH_RUNS || index === count - 1) {
      await ledger.append(...entries);
      entries = [];
    }
  }
}

function modelOf(runsDir: string, runId: string): Model {
  const dir = join(runsDir, runId);
  const record = JSON.parse(readFileSync(join(dir, 'metadata.json'), 'utf8'));
  const files = readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => join(each.parentPath, each.name).slice(dir.length + 1))
    .filter((path) => path !== 'events.jsonl' && path !== 'metadata.json' && path.startsWith('artifacts'));
  return { runId, dir, events: readFileSync(join(dir, 'events.jsonl'), 'utf8'), record, files };
}

function cloneOf(model: Model, runsDir: string, isWhole: boolean): Parameters<Ledger['append']>[0] {
  const createdMs = Date.now();
  const runId = newRunId(createdMs);
  const dir = join(runsDir, runId);
  const shiftMs = createdMs - Date.parse(String(model.record.created_at));
  const moved = (text: string) =>
    text
      .replaceAll(model.runId, runId)
      .replace(TIME, (time) => `"${new Date(Date.parse(time.slice(1, -1)) + shiftMs).toISOString()}"`);
  if (isWhole) cpSync(model.dir, dir, { recursive: true });
  else {
    mkdirSync(dir);
    for (const file of model.files) cpSync(join(model.dir, file), join(dir, file), { recursive: true });
  }
  const { text, events } = sealed(moved(model.events));
  writeFileSync(join(dir, 'events.jsonl'), text);
  writeFileSync(join(dir, 'metadata.json'), moved(`${JSON.stringify(model.record)}\n`));
  const { tool, state, code, attempt, epoch } = model.record;
  return {
    type: 'run',
    run_id: runId,
    tool,
    state,
    code,
    attempt,
    epoch,
    events,
    events_sha256: sha256(text),
  };
}

/** The log with a seal in each `runner_end` that fits the bytes before it. */
function sealed(text: string): { text: string; events: number } {
  const seal = new SealBuilder();
  const lines = text.trimEnd().split('\n');
  const out = lines.map((line) => {
    const event = line.includes('"type":"runner_end"') ? JSON.parse(line) : undefined;
    const now = `${event === undefined ? line : JSON.stringify({ ...event, seal: seal.seal() })}\n`;
    seal.update(Buffer.from(now));
    return now;
  });
  return { text: out.join(''), events: lines.length };
}
