import { Redaction } from '../../src/core/secrets/redaction.ts';
import type { Bench, Row } from '../support/bench.ts';
import { interleavedMedians, timeMs } from '../support/measure.ts';

const LINES = 1500;
const PASSES = 40;
const SECRETS = ['ghp_16C7e42F292c6912E7710c838347Ae178B4a', 'correct "horse" battery/staple'] as const;

/** What it costs to look for secrets in everything that a tool writes: a run without any does not do it. */
export const redact: Bench = {
  name: 'redact',
  summary: 'taking secrets out of the output of a tool',
  async run() {
    const redaction = new Redaction(
      SECRETS.map((text, index) => ({ name: `S${index}`, bytes: Buffer.from(text) })),
    );
    const lines = Array.from({ length: LINES }, (_, index) => logLine(index, ''));
    const plain = Buffer.from(lines.join(''));
    const hit = lines.map((line, index) => (index % 100 === 0 ? logLine(index, SECRETS[0]) : line));
    const nearly = lines.map((_, index) => logLine(index, SECRETS[0].slice(0, -1).repeat(5)));
    const target = Buffer.alloc(plain.length);
    const megabytesPerS = (bytes: Buffer, work: (bytes: Buffer) => unknown) => async () => {
      const ms = await timeMs(() => {
        for (let pass = 0; pass < PASSES; pass++) work(bytes);
      });
      return (bytes.length * PASSES) / 1e3 / ms;
    };
    const stream = redaction.stream({ json: true });
    const figures = await interleavedMedians(
      {
        plain: megabytesPerS(plain, (bytes) => stream.push(bytes)),
        hit: megabytesPerS(Buffer.from(hit.join('')), (bytes) => stream.push(bytes)),
        nearly: megabytesPerS(Buffer.from(nearly.join('')), (bytes) => stream.push(bytes)),
        copy: megabytesPerS(plain, (bytes) => bytes.copy(target)),
      },
      { rounds: 15, warmUps: 5 },
    );
    const row = (what: string, acor: number): Row => ({
      what,
      unit: 'MB/s',
      acor,
      baseline: { what: 'copying the bytes', value: figures.copy },
      target: null,
    });
    return [
      row('redacting output in which there is no secret', figures.plain),
      row('redacting output with a secret in every hundredth line', figures.hit),
      row('redacting output that is made of what is nearly a secret', figures.nearly),
    ];
  },
};

function logLine(index: number, hit: string): string {
  return `{"type":"log","level":"info","msg":"row ${index} of orders.csv has no postal code and is kept${hit}","ts":"2025-08-30T12:34:56Z"}\n`;
}
