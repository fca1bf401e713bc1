import type { Manifest } from '../../protocol/manifest.ts';
import type { Violation } from '../policy/violation.ts';

/** What an engine of the policy is asked. Values of secret inputs are masked in `args`. */
export interface EngineQuestion {
  tool: string;
  manifest: Manifest;
  args: readonly string[];
  grants: readonly { path: string; access: 'read' | 'write'; input: string }[];
  cwd: string;
  caller: string | null;
}

/** A refusal by an engine that gives no further reason, or that could not decide: what is not allowed is denied. */
export function engineViolation(by: string, rule: string, fix: string): Violation {
  return { path: 'tool.yaml', asked: null, allowed: null, by, rule, fix };
}
