// Shows the TypeScript SDK: checked input, progress, heartbeat, an artifact, and errors that say what to do.
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import {
  artifact,
  checkCancel,
  emitError,
  emitProgress,
  emitResult,
  emitStart,
  startHeartbeat,
  ToolError,
} from 'acor/tool';
import { OrderReport } from './order-report.ts';
import { isRecord, type Order, orderProblem } from './orders.ts';

const EXIT_FATAL = 30;
const BATCH = 40;

main();

function main(): void {
  startHeartbeat();
  try {
    const { values } = parseArgs({
      options: { input: { type: 'string' }, output: { type: 'string' }, selftest: { type: 'boolean' } },
    });
    if (values.selftest) selftest();
    else processOrders(required('--input', values.input), required('--output', values.output));
  } catch (error) {
    report(error);
    process.exitCode = EXIT_FATAL;
  }
}

function processOrders(input: string, output: string): void {
  const startedMs = performance.now();
  emitStart('process', { input, output });
  const items = readItems(input);
  const summary = new OrderReport();
  for (const [index, item] of items.entries()) {
    const problem = orderProblem(item);
    if (problem) {
      throw new ToolError(
        'E_SCHEMA_MISMATCH',
        `order ${index + 1} of ${items.length} ${problem}`,
        `Fix ${input}`,
      );
    }
    summary.add(item as Order);
    if ((index + 1) % BATCH === 0) {
      checkCancel();
      emitProgress('process', (100 * (index + 1)) / items.length, `${index + 1} of ${items.length} orders`);
    }
  }
  writeFileSync(output, `${JSON.stringify(summary.full(), null, 2)}\n`);
  emitResult({
    artifacts: [artifact(output)],
    metrics: { items: items.length, duration_s: Math.round(performance.now() - startedMs) / 1000 },
    data: summary.totals(),
  });
}

function readItems(input: string): unknown[] {
  let data: unknown;
  try {
    data = JSON.parse(readFileSync(input, 'utf8'));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new ToolError('E_SCHEMA_MISMATCH', `${input} is not JSON: ${error.message}`, 'Give a JSON file.');
  }
  if (isRecord(data) && Array.isArray(data['items'])) return data['items'];
  throw new ToolError('E_SCHEMA_MISMATCH', `${input} has no list of items`, 'Expected {"items": [...]}.');
}

function selftest(): void {
  const order = { id: 'o-1', customer: 'c-1', status: 'paid', placed_at: '2025-08-30T12:00:00Z', lines: [] };
  const line = { sku: 'MUG-03', name: 'Stoneware mug', quantity: 3, unit_price: 14.9 };
  const summary = new OrderReport();
  summary.add({ ...order, lines: [line] });
  const sound = orderProblem(order) === 'has no lines' && summary.totals().revenue === 44.7;
  if (!sound) throw new ToolError('E_TOOL_FAILED', 'the sums are wrong', 'Install the tool again.');
  emitResult({ data: { selftest: 'ok' } });
}

function required(flag: string, value: string | undefined): string {
  if (value) return value;
  throw new ToolError('E_USAGE', `${flag} is missing`, `Give ${flag} a path.`);
}

function report(error: unknown): void {
  if (error instanceof ToolError) {
    emitError(error.code, error.message, { hint: error.hint });
    return;
  }
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') emitError('E_INPUT_NOT_FOUND', message, { hint: 'Check the path.' });
  else if (code === 'EACCES') emitError('E_PERMISSION', message, { hint: 'Grant the path in the manifest.' });
  else if (code === 'ENOSPC') emitError('E_DISK_FULL', message, { hint: 'Free space.' });
  else if (code?.startsWith('ERR_PARSE_ARGS'))
    emitError('E_USAGE', message, { hint: 'Give --input and --output.' });
  else emitError('E_UNKNOWN', message, { hint: 'Read the logs of the run.' });
}
