import type { Manifest } from '../../protocol/manifest.ts';
import type { Violation } from '../policy/decision.ts';

/** The question to a policy engine. Values of secret inputs are masked in `args`. */
export interface EngineQuestion {
  tool: string;
  manifest: Manifest;
  args: readonly string[];
  grants: readonly { path: string; access: 'read' | 'write'; input: string }[];
  cwd: string;
  caller: string | null;
}

/** The denial of an engine without a reason, or without a decision: what is not allowed is denied. */
export function engineViolation(by: string, rule: string, fix: string): Violation {
  return { path: 'tool.yaml', asked: null, allowed: null, by, rule, fix };
}
