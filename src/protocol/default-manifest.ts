import type { Manifest } from './manifest.ts';

/** The manifest of a tool without one (contract §5): level minimal, everything else from the configuration. */
export function defaultManifest(name: string): Manifest {
  return {
    name,
    version: '0.0.0',
    adapter: 'jsonl',
    output: 'text',
    from: 'stdout',
    role: 'leaf',
    protocol_version: 1,
    warm: false,
    extra_args: false,
    cwd: 'workspace',
    permissions: {
      level: 'minimal',
      filesystem: { read: [], write: [] },
      network: { egress_allow: [] },
      commands: [],
    },
    resources: {},
    env: { require: [], allow: [], set: {} },
    secrets: [],
    strict: false,
    exit_codes: { ok: 0, retryable_error: 20, fatal_error: 30 },
    idempotent: false,
    actions: [],
    examples: [],
  };
}
