import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { completeManifest, manifestFile } from '../../protocol/manifest.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import type { ToolEntry } from '../registry/tool-entry.ts';
import { toolFigures } from './figures.ts';
import { idOf, proposalsOf } from './insights.ts';
import type { Past } from './past.ts';
import type { Change, Proposal } from './proposal.ts';

const START_MS = Date.parse('2026-01-31T12:00:00Z');
let count = 0;

/** A completed run of a second; each begins a minute after the one before. */
function run(fields: Partial<RunRecord> = {}): RunRecord {
  const at = START_MS + count * 60_000;
  return {
    run_id: `r-${String(++count).padStart(16, '0')}`,
    kind: 'tool',
    tool: 'hello',
    state: 'completed',
    code: null,
    message: null,
    attempt: 1,
    timeout_s: 1800,
    duration_s: 1,
    cost_usd: null,
    given_args: [],
    caller: null,
    parent: null,
    created_at: new Date(at).toISOString(),
    ended_at: new Date(at + 1000).toISOString(),
    ...fields,
  } as RunRecord;
}

const times = (number: number, fields?: Partial<RunRecord>) =>
  Array.from({ length: number }, () => run(fields));

function tool(manifest: object = {}): ToolEntry {
  return { name: 'hello', manifest: completeManifest(manifestFile.parse(manifest), 'hello') } as ToolEntry;
}

function proposals(past: Partial<Past>): Promise<Proposal[]> {
  const whole: Past = {
    runs: [],
    questions: [],
    tools: new Map([['hello', tool()]]),
    answerRules: [],
    workflows: [],
    maxCostUsd: undefined,
    hostsOf: async () => undefined,
    ...past,
  };
  return proposalsOf(whole, { isRetryable: (code) => code === 'E_NETWORK', folderOf: (id) => `/runs/${id}` });
}

const changesOf = (found: readonly Proposal[]): (Change | null)[] => found.map(({ change }) => change);

describe('insights', () => {
  it('find nothing in a few ordinary runs', async () => {
    assert.deepEqual(await proposals({ runs: times(19) }), []);
    assert.deepEqual(await proposals({}), []);
  });

  it('propose a shorter time limit for a tool whose runs are all far shorter, with room', async () => {
    const [found, ...others] = await proposals({ runs: [...times(19), run({ duration_s: 12 })] });
    assert.deepEqual(others, []);
    assert.deepEqual(found!.change, { kind: 'manifest', tool: 'hello', path: ['timeout_s'], value: 60 });
    assert.match(found!.why, /^The longest of 20 completed runs took 12 s; .* after 1800 s\.$/);
    assert.equal(idOf(found!), 'timeout:hello');
    assert.deepEqual(await proposals({ runs: times(20, { duration_s: 100 }) }), []);
    assert.deepEqual(await proposals({ runs: times(20, { timeout_s: 25 }) }), []);
  });

  it('propose twice the time for a tool that its limit ends again and again', async () => {
    const ended = times(3, { state: 'failed', code: 'E_DEADLINE', timeout_s: 10 });
    const found = await proposals({ runs: [...times(7), ...ended] });
    assert.deepEqual(changesOf(found), [{ kind: 'manifest', tool: 'hello', path: ['timeout_s'], value: 20 }]);
    assert.deepEqual([found[0]!.runs, found[0]!.of], [3, 10]);
    assert.deepEqual(found[0]!.examples, ended.map(({ run_id }) => run_id).reverse());
    assert.deepEqual(await proposals({ runs: ended.slice(1) }), []);
  });

  it('name a code with which a tool fails often, and propose retries only where these are harmless and may help', async () => {
    const failed = times(3, { state: 'failed', code: 'E_NETWORK', message: 'no route' });
    const runs = [...times(7), ...failed];
    const [said] = await proposals({ runs });
    assert.deepEqual([said!.kind, said!.change, idOf(said!)], ['failure', null, 'failure:hello:E_NETWORK']);
    assert.equal(said!.why, '3 of 10 runs ended with E_NETWORK, the newest: no route.');
    assert.deepEqual(
      said!.next.map((step) => 'input' in step && step.input),
      [{ run: failed.at(-1)!.run_id }],
    );
    const harmless = new Map([['hello', tool({ idempotent: true })]]);
    assert.deepEqual(changesOf(await proposals({ runs, tools: harmless })), [
      { kind: 'manifest', tool: 'hello', path: ['retry'], value: { max_attempts: 3 } },
    ]);
    const retried = new Map([['hello', tool({ idempotent: true, retry: { max_attempts: 2 } })]]);
    assert.deepEqual(changesOf(await proposals({ runs, tools: retried })), [null]);
    assert.deepEqual(await proposals({ runs: [...times(13), ...failed] }), []);
  });

  it('propose an answer that people have always given, and none that differed once or came from a rule', async () => {
    const asked = (answer: unknown, source = 'command') => ({
      run: run(),
      questions: [{ asked: { action: 'choose' }, answered: { answer, source }, isOpen: false }],
    });
    const alike = Array.from({ length: 5 }, () => asked('fast'));
    const [found] = await proposals({ questions: alike });
    assert.deepEqual(found!.change, {
      kind: 'answer',
      rule: { action: 'choose', tool: 'hello', answer: 'fast', reason: 'answered so 5 times' },
    });
    assert.deepEqual(await proposals({ questions: alike.slice(1) }), []);
    assert.deepEqual(await proposals({ questions: [...alike, asked('slow')] }), []);
    const automatic = [...alike.slice(1), asked('fast', 'policy')];
    assert.deepEqual(await proposals({ questions: automatic }), []);
  });

  it('draft a workflow of tools that one caller runs one after the other on the same files', async () => {
    const tools = new Map([
      ['fetch', tool()],
      ['load', tool()],
    ]);
    const pair = (day: number) => [
      run({ tool: 'fetch', given_args: ['--day', String(day), `--to=/data/${day}.csv`, '--cost', '${x}'] }),
      run({ tool: 'load', given_args: [`/data/${day}.csv`, '--fast'] }),
    ];
    const [found] = await proposals({ tools, runs: [...pair(1), ...pair(2), ...pair(3)] });
    assert.equal(idOf(found!), 'workflow:fetch:load');
    const change = found!.change as Extract<Change, { kind: 'workflow' }>;
    assert.equal(change.name, 'fetch-then-load');
    assert.deepEqual(change.text.split('\n').slice(2), [
      'description: "Runs fetch, then load."',
      'inputs:',
      '  day: { type: string, required: true, description: "Such as 3" }',
      '  to: { type: string, required: true, description: "Such as /data/3.csv" }',
      'steps:',
      '  - name: fetch',
      '    tool: fetch',
      '    args: ["--day","${inputs.day}","--to=${inputs.to}","--cost","$${x}"]',
      '  - name: load',
      '    tool: load',
      '    args: ["${inputs.to}","--fast"]',
      '',
    ]);
    assert.deepEqual(await proposals({ tools, runs: [...pair(1), ...pair(2)] }), []);
    const others = [...pair(1), ...pair(2), ...pair(3)].map((each, at) => ({ ...each, caller: String(at) }));
    assert.deepEqual(await proposals({ tools, runs: others }), []);
  });

  it('name an artifact of the step before by its name in the draft', async () => {
    const tools = new Map([
      ['fetch', tool()],
      ['load', tool()],
    ]);
    const runs = [1, 2, 3].flatMap(() => {
      const first = run({ tool: 'fetch' });
      return [first, run({ tool: 'load', given_args: [`/runs/${first.run_id}/artifacts/a.csv`] })];
    });
    const [found] = await proposals({ tools, runs });
    const { text } = found!.change as Extract<Change, { kind: 'workflow' }>;
    assert.match(text, /args: \["\$\{steps\[\\"fetch\\"\]\.artifacts\[\\"a\.csv\\"\]\}"\]/);
  });

  it('propose to adopt a program that runs often without a manifest', async () => {
    const [found] = await proposals({ runs: times(5, { tool: 'exec:jq' }) });
    assert.deepEqual(
      found!.next.map((step) => 'input' in step && step.input),
      [{ program: 'jq' }],
    );
    assert.deepEqual(await proposals({ runs: times(4, { tool: 'exec:jq' }) }), []);
  });

  it('propose to take away the hosts that no run has reached, by what the logs say', async () => {
    const egress = ['a.test:443', 'b.test:443', '*.c.test:443'];
    const permissions = { level: 'privileged', network: { egress_allow: egress } };
    const tools = new Map([['hello', tool({ permissions })]]);
    const runs = times(20, { duration_s: 200 });
    const [found, ...others] = await proposals({ tools, runs, hostsOf: async () => ['a.test:443'] });
    assert.deepEqual(others, []);
    assert.deepEqual(found!.change, {
      kind: 'manifest',
      tool: 'hello',
      path: ['permissions', 'network', 'egress_allow'],
      value: ['a.test:443', '*.c.test:443'],
    });
    assert.deepEqual(await proposals({ tools, runs }), []);
    assert.deepEqual(await proposals({ tools, runs, hostsOf: async () => egress }), []);
  });

  it('name the inputs that no run has passed, and none that a run may have passed as JSON', async () => {
    const inputs = [{ name: 'who' }, { name: 'with_tea', type: 'bool' }, { name: 'from', required: true }];
    const tools = new Map([['hello', tool({ inputs })]]);
    const runs = times(20, { given_args: ['--who=Ada', '--from', 'x'], duration_s: 200 });
    const [found] = await proposals({ tools, runs });
    assert.match(found!.what, /needs --with-tea: /);
    const json = times(20, { given_args: ['--input-json', '{}'], duration_s: 200 });
    assert.deepEqual(await proposals({ tools, runs: json }), []);
  });

  it('offer to take the inputs that no run has passed from the manifest', async () => {
    const tools = new Map([['hello', tool({ inputs: [{ name: 'with_tea', type: 'bool' }] })]]);
    const found = await proposals({ tools, runs: times(20, { duration_s: 200 }) });
    assert.deepEqual(changesOf(found), [{ kind: 'inputs', tool: 'hello', without: ['with_tea'] }]);
  });

  it('name the tool that takes most of the time, and not the only tool', async () => {
    const long = times(20, { duration_s: 200 });
    const found = await proposals({ runs: [...long, ...times(20, { tool: 'other', duration_s: 2 })] });
    assert.deepEqual(found.map(idOf), ['slow:hello']);
    assert.match(found[0]!.why, /Its 20 runs took 4000 of 4040 s; the longest took 200 s\./);
    assert.deepEqual(await proposals({ runs: long }), []);
  });

  it('name the tool whose runs need several attempts', async () => {
    const found = await proposals({ runs: [...times(9), ...times(3, { attempt: 3 })] });
    assert.deepEqual(found.map(idOf), ['retried:hello']);
    assert.equal(found[0]!.why, '3 of 12 runs needed 6 further attempts.');
    assert.deepEqual(await proposals({ runs: [...times(9), ...times(2, { attempt: 3 })] }), []);
  });

  it('propose a limit of the cost where runs cost something and none is set', async () => {
    const runs = [...times(19, { cost_usd: 0.1, duration_s: 200 }), ...times(1, { cost_usd: 0.3 })];
    const found = await proposals({ runs });
    assert.deepEqual(changesOf(found), [{ kind: 'budget', key: 'max_cost_usd', value: 1.5 }]);
    assert.match(found[0]!.why, /20 runs of hello cost 2\.20 USD, the most expensive 0\.3 USD/);
    assert.deepEqual(await proposals({ runs, maxCostUsd: 1 }), []);
  });

  it('put the proposals that concern most runs first', async () => {
    const failed = times(4, { state: 'failed', code: 'E_CONFLICT', duration_s: 1 });
    const found = await proposals({ runs: [...failed, ...times(5, { tool: 'exec:jq' })] });
    assert.deepEqual(found.map(idOf), ['adopt:jq', 'failure:hello:E_CONFLICT']);
  });
});

describe('insights after a change', () => {
  it('do not propose again what the project has by now', async () => {
    const limited = new Map([['hello', tool({ timeout_s: 30 })]]);
    assert.deepEqual(await proposals({ runs: times(20), tools: limited }), []);
    const ended = times(3, { state: 'failed', code: 'E_DEADLINE', timeout_s: 10 });
    assert.deepEqual(await proposals({ runs: ended, tools: limited }), []);
    assert.equal((await proposals({ runs: ended })).length, 1);
    const adopted = new Map([['jq', { ...tool(), command: ['jq'] }]]);
    assert.deepEqual(await proposals({ runs: times(5, { tool: 'exec:jq' }), tools: adopted }), []);
    const questions = Array.from({ length: 5 }, () => ({
      run: run(),
      questions: [
        { asked: { action: 'choose' }, answered: { answer: 'fast', source: 'mcp' }, isOpen: false },
      ],
    }));
    const rule = { action: 'choose', tool: 'hello' };
    assert.equal((await proposals({ questions, answerRules: [{ ...rule, tool: 'other' }] })).length, 1);
    for (const answerRules of [[rule], [{ action: 'choose' }]])
      assert.deepEqual(await proposals({ questions, answerRules }), []);
  });
});

describe('the figures of a tool', () => {
  it('count its runs, failures, retries, times and costs', () => {
    const runs = [
      ...[1, 2, 3, 4].map((duration_s) => run({ duration_s })),
      run({ state: 'failed', code: 'E_DEADLINE', attempt: 3, duration_s: 10, cost_usd: 0.5 }),
      run({ tool: 'other', duration_s: 100, cost_usd: null }),
    ];
    assert.deepEqual(toolFigures(runs), [
      {
        ...{ tool: 'other', runs: 1, failed: 0, retried: 0, median_s: 100, p95_s: 100, total_s: 100 },
        ...{ cost_usd: null, codes: [] },
      },
      {
        ...{ tool: 'hello', runs: 5, failed: 1, retried: 2, median_s: 3, p95_s: 10, total_s: 20 },
        ...{ cost_usd: 0.5, codes: [{ code: 'E_DEADLINE', runs: 1 }] },
      },
    ]);
  });
});
