import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { dirname } from 'node:path';
import type { Row } from './bench.ts';

/** What one benchmark measured, and on how busy a machine. */
export interface BenchResult {
  name: string;
  taken_at: string;
  machine: { cores: number; load: number };
  rows: Row[];
}

/** Adds the circumstances to a benchmark's rows. */
export function resultOf(name: string, rows: Row[]): BenchResult {
  return {
    name,
    taken_at: new Date().toISOString(),
    machine: { cores: cpus().length, load: loadavg()[0]! },
    rows,
  };
}

/** Writes results as JSON, and makes the folder above the file. */
export function writeResults(file: string, results: BenchResult | readonly BenchResult[]): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
}
