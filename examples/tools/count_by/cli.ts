// Reads the records of the tool before it, one JSON object a line, and counts them.
import { createInterface } from 'node:readline';
import { emitProgress, emitResult, emitStart } from 'acor/tool';

const flag = process.argv.indexOf('--key');
const key = flag === -1 ? 'path' : String(process.argv[flag + 1]);
const counts = new Map<string, number>();
let records = 0;

emitStart('count', { key });
for await (const line of createInterface({ input: process.stdin })) {
  const value = String(JSON.parse(line)[key]);
  counts.set(value, (counts.get(value) ?? 0) + 1);
  records += 1;
  if (records % 1000 === 0) emitProgress('count', 0, `${records} records`);
}
const sorted = [...counts].sort(([, a], [, b]) => b - a);
emitResult({ data: { records, counts: Object.fromEntries(sorted) } });
