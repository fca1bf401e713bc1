import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { writeAnswer } from '../sdk/contract/sdk-contract.ts';
import { missing, RunFolders, ToolProcess } from '../sdk/contract/tool-process.ts';
import { manifestFile } from '../src/protocol/manifest.ts';

const examples = import.meta.dirname;
const data = join(examples, 'data');
const noPython = missing('python3');
const noBash = missing('bash');

// Node finds the sources of acor/tool by the condition that Bun always sets.
const typescript = process.versions['bun'] ? [process.execPath] : [process.execPath, '--conditions=bun'];
const commands: Record<string, string[]> = {
  example_processor: [...typescript, join(examples, 'tools/example_processor/cli.ts')],
  data_migrator: ['python3', join(examples, 'tools/data_migrator/cli.py')],
  log_summary: ['bash', join(examples, 'tools/log_summary/cli.sh')],
  line_count: ['wc'],
  log_requests: ['python3', join(examples, 'tools/log_requests/cli.py')],
  count_by: [...typescript, join(examples, 'tools/count_by/cli.ts')],
  keep_matching: ['grep', '-E'],
  workflow_orchestrator: ['python3', join(examples, 'tools/workflow_orchestrator/cli.py')],
  handwritten: ['python3', join(examples, 'tools/handwritten/cli.py')],
};

describe('the manifests of the examples', () => {
  for (const tool of [
    'example_processor',
    'data_migrator',
    'log_summary',
    'line_count',
    'log_requests',
    'keep_matching',
    'count_by',
    'workflow_orchestrator',
  ]) {
    it(`are valid, and the selftest passes: ${tool}`, { skip: noPython || noBash || false }, async () => {
      using run = new RunFolders();
      const { parse } = await import('yaml');
      const manifest = manifestFile.parse(
        parse(readFileSync(join(examples, 'tools', tool, 'tool.yaml'), 'utf8')),
      );
      assert.equal(manifest.name, tool);
      assert.ok(manifest.examples.length > 0);
      const isPlain = manifest.adapter === 'plain';
      const script = isPlain ? ['sh', '-c', '"$@" >/dev/null', 'sh'] : [];
      const { code, events } = await new ToolProcess(
        [...script, ...(commands[tool] ?? []), ...(manifest.health?.selftest ?? assert.fail('no selftest'))],
        { cwd: run.workspace, env: run.env() },
      ).ended;
      assert.equal(code, 0);
      if (!isPlain) assert.equal(events.at(-1)?.type, 'result');
    });
  }
});

describe('example_processor', () => {
  it('adds the orders up and hands the report over as an artifact', async () => {
    using run = new RunFolders();
    const output = join(run.workspace, 'report.json');
    const { code, events } = await finish(
      run,
      'example_processor',
      ordersFlags(join(data, 'orders.json'), output),
    );
    assert.equal(code, 0);
    assert.deepEqual(new Set(events.map((event) => event.type)), new Set(['start', 'progress', 'result']));
    const orders = JSON.parse(readFileSync(join(data, 'orders.json'), 'utf8')).items;
    const kept = orders.filter(
      (order: { status: string }) => !['cancelled', 'returned'].includes(order.status),
    );
    const cents = kept
      .flatMap((order: { lines: { quantity: number; unit_price: number }[] }) => order.lines)
      .reduce(
        (sum: number, line: { quantity: number; unit_price: number }) =>
          sum + line.quantity * line.unit_price,
        0,
      );
    const bytes = readFileSync(output);
    const report = JSON.parse(bytes.toString());
    assert.equal(report.orders, orders.length);
    assert.equal(report.revenue, Math.round(cents * 100) / 100);
    assert.equal(
      report.by_status.reduce((sum: number, row: { orders: number }) => sum + row.orders, 0),
      120,
    );
    assert.equal(report.top_products.length, 5);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    assert.deepEqual(events.at(-1)?.['artifacts'], [{ path: output, sha256, size: bytes.length }]);
  });

  it('names the order that is wrong, and writes nothing', async () => {
    using run = new RunFolders();
    const input = join(run.base, 'orders.json');
    const output = join(run.workspace, 'report.json');
    const orders = JSON.parse(readFileSync(join(data, 'orders.json'), 'utf8'));
    orders.items[6].lines[0].quantity = 0.5;
    writeFileSync(input, JSON.stringify(orders));
    const { code, events } = await finish(run, 'example_processor', ordersFlags(input, output));
    assert.equal(code, 30);
    assert.equal(events.at(-1)?.['code'], 'E_SCHEMA_MISMATCH');
    assert.match(String(events.at(-1)?.['msg']), /order 7 of 120 has no whole quantity in line 1/);
    assert.equal(statSync(output, { throwIfNoEntry: false }), undefined);
  });

  it('distinguishes a missing file, broken JSON and a missing flag', async () => {
    using run = new RunFolders();
    writeFileSync(join(run.base, 'torn.json'), '{"items":[');
    for (const [args, code] of [
      [ordersFlags(join(run.base, 'none.json'), 'out.json'), 'E_INPUT_NOT_FOUND'],
      [ordersFlags(join(run.base, 'torn.json'), 'out.json'), 'E_SCHEMA_MISMATCH'],
      [['--input', 'x'], 'E_USAGE'],
      [['--nonsense'], 'E_USAGE'],
    ] as const) {
      const ended = await finish(run, 'example_processor', args);
      assert.deepEqual([ended.code, ended.events.at(-1)?.['code']], [30, code]);
    }
  });
});

describe('data_migrator', () => {
  it('migrates every record and asks its question without waiting', { skip: noPython }, async () => {
    using run = new RunFolders();
    const { code, events } = await migrate(run, join(data, 'customers-v1'), '15');
    assert.equal(code, 0);
    assert.equal(events.find((event) => event.type === 'action_required')?.['blocking'], false);
    assert.deepEqual(events.at(-1)?.['data'], { migrated: 40, already_done: 0, skipped: [] });
    const migrated = readdirSync(join(run.workspace, 'out'));
    assert.deepEqual(migrated.sort(), readdirSync(join(data, 'customers-v1')).sort());
    const record = JSON.parse(readFileSync(join(run.workspace, 'out', 'c-1001.json'), 'utf8'));
    assert.equal(record.version, '2.0');
    assert.match(record.created_on, /^\d{4}-\d\d-\d\d$/);
  });

  it('goes on where a kill stopped it, and does nothing twice', { skip: noPython }, async () => {
    using run = new RunFolders();
    const source = manyRecords(run, 400);
    const out = join(run.workspace, 'out');
    const first = start(run, 'data_migrator', migrationFlags(source, '7'));
    await first.until('progress', 3);
    first.kill('SIGKILL');
    assert.equal((await first.ended).signal, 'SIGKILL');

    const before = visible(out).length;
    assert.ok(before >= 21 && before < 300, `${before} records were done at the first kill`);
    const second = start(run, 'data_migrator', migrationFlags(source, '400'));
    while (visible(out).length < before + 20) await new Promise(setImmediate);
    second.kill('SIGKILL');
    const killed = await second.ended;
    assert.deepEqual(
      [killed.signal, killed.events.at(-1)?.type],
      ['SIGKILL', 'action_required'],
      'mid-batch',
    );
    const inodes = new Map(visible(out).map((name) => [name, statSync(join(out, name)).ino]));
    for (const name of inodes.keys()) JSON.parse(readFileSync(join(out, name), 'utf8'));

    const { code, events } = await migrate(run, source, '50');
    assert.equal(code, 0);
    const { resumed_at: resumedAt } = Object(events.at(-1)?.['metrics']);
    assert.ok(resumedAt >= 21, `resumed at ${resumedAt}`);
    assert.equal(visible(out).length, 400);
    assert.equal(readdirSync(out).length, 400);
    for (const [name, inode] of inodes)
      assert.equal(statSync(join(out, name)).ino, inode, `${name} was written twice`);
  });

  it('ends with a retryable error on a passing fault, and completes when run again', {
    skip: noPython || (process.platform !== 'linux' && 'needs a file that fails with EIO'),
  }, async () => {
    using run = new RunFolders();
    const source = manyRecords(run, 20);
    const broken = join(source, 'r-010.json');
    const text = readFileSync(broken);
    rmSync(broken);
    // Reading the unmapped page 0 of a process fails with EIO.
    symlinkSync('/proc/self/mem', broken);
    const failed = await migrate(run, source, '4');
    assert.equal(failed.code, 20);
    assert.deepEqual(
      [failed.events.at(-1)?.['code'], failed.events.at(-1)?.['retryable']],
      ['E_TRANSIENT_NET', true],
    );
    rmSync(broken);
    writeFileSync(broken, text);
    const again = await migrate(run, source, '4');
    assert.equal(again.code, 0);
    assert.deepEqual(again.events.at(-1)?.['data'], { migrated: 18, already_done: 2, skipped: [] });
  });

  it('names a bad record and why, or leaves it out when the answer says so', { skip: noPython }, async () => {
    using run = new RunFolders();
    const source = manyRecords(run, 10);
    writeFileSync(join(source, 'r-003.json'), '{"version":"1.0","id":"c-1"}');
    writeFileSync(join(source, 'r-005.json'), '{"version":');
    const strict = await migrate(run, source, '4');
    assert.equal(strict.code, 30);
    assert.equal(strict.events.at(-1)?.['code'], 'E_SCHEMA_MISMATCH');
    assert.match(String(strict.events.at(-1)?.['msg']), /r-003\.json: it has no text in 'name'/);
    writeAnswer(run, 'a-1', 'skip_bad', 'choose_migration_strategy');
    const lenient = await migrate(run, source, '4');
    assert.equal(lenient.code, 0);
    assert.deepEqual(lenient.events.at(-1)?.['data'], {
      migrated: 5,
      already_done: 3,
      skipped: ['r-003.json', 'r-005.json'],
    });
  });

  it('asks about a bad record and waits, once for all of them, when it is asked to', {
    skip: noPython,
  }, async () => {
    using run = new RunFolders();
    const source = manyRecords(run, 10);
    for (const name of ['r-003.json', 'r-005.json']) writeFileSync(join(source, name), '{"version":"1.0"}');
    const tool = start(run, 'data_migrator', [...migrationFlags(source, '4'), '--on-bad-record', 'ask']);
    const question = await tool.until('action_required');
    assert.deepEqual(
      [question['action'], question['action_id'], question['blocking'], Object(question['context']).file],
      ['choose_migration_strategy', 'bad-record', true, 'r-003.json'],
    );
    writeAnswer(run, 'bad-record', 'skip_bad', 'choose_migration_strategy');
    const { code, events } = await tool.ended;
    assert.equal(code, 0);
    assert.equal(events.filter((event) => event.type === 'action_required').length, 1);
    assert.deepEqual(Object(events.at(-1)?.['data']).skipped, ['r-003.json', 'r-005.json']);
  });

  it('asks nothing when an argument says what to do with a bad record', { skip: noPython }, async () => {
    using run = new RunFolders();
    const source = manyRecords(run, 4);
    writeFileSync(join(source, 'r-002.json'), '{"version":"1.0"}');
    for (const [choice, expected] of [
      ['strict', 30],
      ['skip_bad', 0],
    ] as const) {
      const flags = [...migrationFlags(source, '4'), '--on-bad-record', choice];
      const { code, events } = await finish(run, 'data_migrator', flags);
      assert.equal(code, expected);
      assert.ok(!events.some((event) => event.type === 'action_required'));
    }
  });

  it('stops between two batches when it is asked to', { skip: noPython }, async () => {
    using run = new RunFolders();
    writeFileSync(run.cancelFile, 'no longer needed');
    const { code, events } = await migrate(run, join(data, 'customers-v1'), '15');
    assert.equal(code, 130);
    assert.equal(events.at(-1)?.['reason'], 'no longer needed');
  });

  it('refuses a source that is missing or empty', { skip: noPython }, async () => {
    using run = new RunFolders();
    mkdirSync(join(run.base, 'empty'));
    for (const source of ['none', 'empty']) {
      const { code, events } = await migrate(run, join(run.base, source), '15');
      assert.deepEqual([code, events.at(-1)?.['code']], [30, 'E_INPUT_NOT_FOUND']);
    }
  });
});

describe('log_summary', () => {
  it('counts requests by status and ranks paths', { skip: noBash }, async () => {
    using run = new RunFolders();
    const log = join(run.base, 'access "1".log');
    const lines = readFileSync(join(data, 'access.log'), 'utf8').trimEnd().split('\n');
    writeFileSync(log, `${lines.join('\n')}\nnot a request\n`);
    const { code, events } = await finish(run, 'log_summary', ['--log', log, '--top', '3']);
    assert.equal(code, 0);
    const parsed = lines.map((line) => / "\w+ (\S+) HTTP\/1.1" (\d+)/.exec(line) ?? assert.fail(line));
    const paths = Object.entries(countBy(parsed.map((match) => match[1] ?? '')))
      .map(([path, requests]) => ({ path, requests }))
      .sort((a, b) => b.requests - a.requests);
    assert.deepEqual(events.at(-1)?.['data'], {
      requests: 600,
      malformed: 1,
      by_status: countBy(parsed.map((match) => match[2] ?? '')),
      top_paths: paths.slice(0, 3),
    });
    assert.equal(events.find((event) => event.type === 'log')?.['level'], 'warn');
  });

  it('reports a missing file and a wrong count', { skip: noBash }, async () => {
    using run = new RunFolders();
    const missingFile = await finish(run, 'log_summary', ['--log', 'none.log']);
    assert.deepEqual([missingFile.code, missingFile.events.at(-1)?.['code']], [30, 'E_INPUT_NOT_FOUND']);
    const wrong = await finish(run, 'log_summary', ['--log', join(data, 'access.log'), '--top', '0']);
    assert.deepEqual([wrong.code, wrong.events.at(-1)?.['code']], [30, 'E_USAGE']);
  });

  it('accepts an empty log', { skip: noBash }, async () => {
    using run = new RunFolders();
    writeFileSync(join(run.base, 'empty.log'), '');
    const { events } = await finish(run, 'log_summary', ['--log', join(run.base, 'empty.log')]);
    assert.deepEqual(events.at(-1)?.['data'], { requests: 0, malformed: 0, by_status: {}, top_paths: [] });
  });
});

describe('handwritten', () => {
  it('speaks the protocol without an SDK', { skip: noPython }, async () => {
    using run = new RunFolders();
    const log = join(data, 'access.log');
    const { code, events } = await finish(run, 'handwritten', [log]);
    assert.equal(code, 0);
    assert.ok(events.every((event) => event['v'] === 1 && event['run_id'] === 'r-test'));
    assert.deepEqual(events.at(-1)?.['data'], { words: { [log]: 6000 } });
    assert.equal((await finish(run, 'handwritten', ['none'])).code, 30);
  });
});

function start(run: RunFolders, tool: string, args: readonly string[]): ToolProcess {
  return new ToolProcess([...(commands[tool] ?? []), ...args], { cwd: run.workspace, env: run.env() });
}

function finish(run: RunFolders, tool: string, args: readonly string[]) {
  return start(run, tool, args).ended;
}

function migrate(run: RunFolders, source: string, batchSize: string) {
  return finish(run, 'data_migrator', migrationFlags(source, batchSize));
}

function migrationFlags(source: string, batchSize: string): string[] {
  return ['--source', source, '--target', 'out', '--batch-size', batchSize];
}

function ordersFlags(input: string, output: string): string[] {
  return ['--input', input, '--output', output];
}

function manyRecords(run: RunFolders, count: number): string {
  const source = join(run.base, 'source');
  mkdirSync(source);
  for (let n = 0; n < count; n++) {
    cpSync(join(data, 'customers-v1', 'c-1001.json'), join(source, `r-${String(n).padStart(3, '0')}.json`));
  }
  return source;
}

function visible(folder: string): string[] {
  return readdirSync(folder).filter((name) => !name.startsWith('.'));
}

function countBy(keys: string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const key of keys) counts[key] = (counts[key] ?? 0) + 1;
  return counts;
}
