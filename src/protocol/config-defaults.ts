import type { Receiver } from './notify-config.ts';

/**
 * The configuration of a project without one (contract §3, §6). It is separate from the schema, so that such a project
 * loads no schema library.
 */
export function configDefaults() {
  return {
    version: 1 as const,
    project: {
      tools_dirs: ['.acor/tools/', 'tools/'],
      runs_dir: '.runs/',
      registry_dir: '.acor/registry/',
    },
    discovery: { patterns: {}, cache_ttl: 300, auto_discover: true },
    environment: {
      base_allowlist: [
        'PATH',
        'HOME',
        'USER',
        'USERNAME',
        'LANG',
        'LC_ALL',
        'LC_CTYPE',
        'TMPDIR',
        'TEMP',
        'TMP',
        'PYTHONIOENCODING',
      ],
      timeout_s: 1800,
      heartbeat_grace_s: 90,
      max_output_size: 30_000_000,
      cancel_grace_s: 5,
      answer_timeout_s: 86_400,
      waiting_stops_deadline: false,
    },
    security: {
      allow_network_egress: false,
      resource_limits: {},
      grant_roots: [] as string[],
      isolation: 'preferred' as const,
      allow_private_egress: [] as string[],
      egress_hosts: {} as Record<string, string>,
      egress_authorities: [] as string[],
      webhook_hosts: [] as string[],
      require_plan: 'never' as const,
      direct_calls: 'allow' as const,
      writes: 'in_place' as const,
      on_denied: 'fail' as const,
    },
    budget: { resources: {}, cost_warn_at: 0.8, on_cost_limit: 'stop' as 'stop' | 'ask' },
    storage: {},
    task: {
      commands: [] as string[],
      hosts: [] as string[],
      secrets: [] as string[],
      max_iterations: 50,
    },
    answers: [] as {
      action: string;
      tool?: string | undefined;
      answer: unknown;
      reason?: string | undefined;
    }[],
    resources: [] as {
      uri?: string | undefined;
      files?: string | undefined;
      tool?: string | undefined;
      name?: string | undefined;
      description?: string | undefined;
      mime_type?: string | undefined;
    }[],
    prices: {} as Record<
      string,
      { input: number; output: number; cache_read?: number | undefined; cache_write?: number | undefined }
    >,
    notify: [] as Receiver[],
    telemetry: {} as {
      endpoint?: string | undefined;
      authorization?: string | undefined;
      file?: string | undefined;
    },
    host: 'off' as 'auto' | 'off',
    plugins: [] as string[],
  };
}
