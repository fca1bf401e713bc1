import type { ToolEntry } from '../../registry/registry.ts';
import type { RunnerServices } from '../../run/services.ts';
import type { Finding } from './finding.ts';
import type { Subject } from './subject.ts';

/** The optional checks. */
export interface ValidateOptions {
  versions: boolean;
  selftest: boolean;
  /** Called for each tool whose self-test does not run, with the reason. */
  onUntested?(tool: ToolEntry, why: string): void;
  /** Opened when a self-test runs. */
  services: () => Promise<RunnerServices>;
  /** Registers a listener for interrupts during a self-test, with their count. Returns the function that removes it. */
  onInterrupt(listener: (signal: string, count: number) => void): () => void;
}

/** One kind of check: it inspects the files of its kind and returns all findings. Only `selftest` starts programs. */
export interface Checker {
  name: string;
  /** When absent, the check always runs. */
  isAsked?(options: ValidateOptions): boolean;
  check(subject: Subject, options: ValidateOptions): Promise<Finding[]>;
}
