import * as z from 'zod';
import { checkMessage, TOOL_MESSAGES } from '../../src/protocol/index.ts';
import { HotScanner } from '../../src/protocol/v1/hot-scanner.ts';
import type { Bench, Row } from '../support/bench.ts';
import { interleavedMedians, timeMs } from '../support/measure.ts';
import { progressLine } from '../support/progress-line.ts';

const RUN_ID = 'r-0123456789abcdef';
const LINES = 2000;
const PASSES = 10;
const TARGET_NS = 1e6;

/** What it costs to see that a line is a message in order, from its bytes on: three ways, and parsing alone. */
export const message: Bench = {
  name: 'message',
  summary: 'checking one message',
  async run() {
    const lines = Array.from({ length: LINES }, (_, index) => progressLine(RUN_ID, index));
    const bytes = Buffer.from(lines.join(''));
    const lineBytes = bytes.length / LINES;
    const scanner = new HotScanner(RUN_ID);
    const schema = z.union([...Object.values(TOOL_MESSAGES)]);
    const textAt = (start: number) => bytes.toString('utf8', start, start + lineBytes - 1);

    const perMessageNs = (isInOrder: (start: number) => boolean) => async () => {
      const ms = await timeMs(() => {
        for (let pass = 0; pass < PASSES; pass++) {
          for (let start = 0; start < bytes.length; start += lineBytes) {
            if (!isInOrder(start)) throw new Error(`Internal: refused ${textAt(start)}`);
          }
        }
      });
      return (ms * 1e6) / (LINES * PASSES);
    };
    const figures = await interleavedMedians(
      {
        scan: perMessageNs((start) => scanner.scan(bytes, start, start + lineBytes - 1) === 'progress'),
        check: perMessageNs((start) => checkMessage(JSON.parse(textAt(start))) === undefined),
        schema: perMessageNs((start) => schema.safeParse(JSON.parse(textAt(start))).success),
        parse: perMessageNs((start) => JSON.parse(textAt(start)).v === 1),
      },
      { rounds: 25, warmUps: 5 },
    );
    const row = (what: string, acor: number): Row => ({
      what,
      unit: 'ns',
      acor,
      baseline: { what: 'JSON.parse alone', value: figures.parse },
      target: { text: 'at most 1 ms; goal 5 µs', met: acor <= TARGET_NS },
    });
    return [
      row('one message: scanned in its bytes (the frequent types)', figures.scan),
      row('one message: JSON.parse and the check by hand (all others)', figures.check),
      {
        ...row('one message: JSON.parse and the zod schemas (not used for it)', figures.schema),
        target: null,
      },
    ];
  },
};
