import type { AcorClient } from '../../src/client/index.ts';
import type { Bench, Row } from '../support/bench.ts';
import { median, timeMs } from '../support/measure.ts';
import { Project } from '../support/project.ts';
import { ServerUnderLoad } from '../support/serve-load.ts';

const READERS = 1000;
const TOOLS = 20;
const REQUESTS_PER_S = 100;
const SECONDS = { short: 20, long: 600 };
/** The memory of a server that has worked for this part of the time is the baseline of that at the end. */
const BEGINNING = 0.2;
const QUIET_REQUESTS = 400;

/** What a dashboard asks for, in turn. */
const REQUESTS: readonly ((client: AcorClient, run: string) => Promise<{ ok: boolean }>)[] = [
  (client) => client.call('run.list', {}, { limit: 20 }),
  (client, run) => client.call('run.show', { run }),
  (client) => client.call('run.decisions', { open: true }),
  (client, run) => client.call('run.logs', { run }, { limit: 50 }),
];

/** Many clients of one server while tools are at work, beside the same requests to the server when it has nothing else to do. */
export const serve: Bench = {
  name: 'serve',
  summary: `${REQUESTS_PER_S} requests a second and ${READERS} readers of the stream of changes, while ${TOOLS} tools run`,
  async run({ program, workplace, long }) {
    const project = new Project(workplace.makeFolder('serve'));
    project.write('.acor/config.yaml', 'version: 1\n');
    const seconds = long ? SECONDS.long : SECONDS.short;
    const manifest =
      'version: 1.0.0\ninputs: [{ name: seconds, type: int, positional: true, required: true }]\n';
    project.addTool('reports', 'reports.sh', manifest);
    const server = await ServerUnderLoad.start(program.acor, { cwd: project.dir, env: workplace.env });
    const { client } = server;
    const startRun = async () => {
      const args = [String(seconds * 10)];
      const answer = await client.call('run.start', { tool: 'reports', args, detach: true });
      if (!answer.ok || !('run_id' in answer.data)) throw new Error(JSON.stringify(answer));
      return answer.data.run_id;
    };
    const runs: string[] = [];
    try {
      runs.push(await startRun());
      const quiet = await inTurn(client, runs[0]!);
      while (runs.length < TOOLS) runs.push(await startRun());
      await server.addReaders(READERS);
      // The first seconds load what a request needs.
      await atRate(client, runs[0]!, 2);
      const bytes = server.bytesRead;
      const [first, rest] = [seconds * BEGINNING, seconds * (1 - BEGINNING)];
      const early = await atRate(client, runs[0]!, first);
      const memory = server.memoryBytes;
      const late = await atRate(client, runs[0]!, rest);
      const perReader = (server.bytesRead - bytes) / READERS / seconds;
      return [
        ...rowsOf(quiet, [...early, ...late]),
        {
          ...{ what: 'memory of the server at the end', unit: 'bytes', acor: server.memoryBytes },
          ...{ baseline: { what: `${rest} s before`, value: memory }, target: null },
        },
        {
          ...{ what: 'sent to each reader in a second', unit: 'bytes', acor: perReader },
          ...{ baseline: null, target: null },
        },
      ];
    } finally {
      for (const run of runs) await client.call('run.cancel', { run });
      await server.stop();
    }
  },
};

function rowsOf(quiet: readonly number[], loaded: readonly number[]): Row[] {
  const row = (part: string, of: (ms: readonly number[]) => number): Row => ({
    ...{ what: `a request under load, ${part}`, unit: 'ms', acor: of(loaded) },
    ...{ baseline: { what: 'one at a time, one tool, no reader', value: of(quiet) }, target: null },
  });
  return [row('median', median), row('99 of 100 within', percentile99)];
}

function percentile99(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)]!;
}

async function inTurn(client: AcorClient, run: string): Promise<number[]> {
  const took: number[] = [];
  for (let at = 0; at < QUIET_REQUESTS; at++) took.push(await askMs(client, run, at));
  return took;
}

/** Sends requests at their times, whether or not those before have been answered. */
async function atRate(client: AcorClient, run: string, seconds: number): Promise<number[]> {
  const sent: Promise<number>[] = [];
  const begunMs = performance.now();
  while (sent.length < seconds * REQUESTS_PER_S) {
    const due = ((performance.now() - begunMs) / 1000) * REQUESTS_PER_S;
    while (sent.length < due) sent.push(askMs(client, run, sent.length));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return Promise.all(sent);
}

function askMs(client: AcorClient, run: string, at: number): Promise<number> {
  return timeMs(async () => {
    const answer = await REQUESTS[at % REQUESTS.length]!(client, run);
    if (!answer.ok) throw new Error(JSON.stringify(answer));
  });
}
