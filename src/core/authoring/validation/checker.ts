import type { RunnerServices } from '../../run/services.ts';
import type { Finding } from './finding.ts';
import type { Subject } from './subject.ts';

/** What is to be looked at beyond what always is. */
export interface ValidateOptions {
  versions: boolean;
  selftest: boolean;
  /** Opened when a self-test is to be run. */
  services: () => Promise<RunnerServices>;
  /** Listens to interrupts while a self-test runs, with how many there were; returns what ends the listening. */
  onInterrupt(listener: (signal: string, count: number) => void): () => void;
}

/** One kind of check: it looks at the files of its kind and tells all that it finds. Only `selftest` starts anything. */
export interface Checker {
  name: string;
  /** Left out, it always takes part. */
  isAsked?(options: ValidateOptions): boolean;
  check(subject: Subject, options: ValidateOptions): Promise<Finding[]>;
}
