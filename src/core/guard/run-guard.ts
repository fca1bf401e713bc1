import { join } from 'node:path';
import { homeFolder } from '../../util/home-folder.ts';
import { realPathOf } from '../../util/real-path.ts';
import type { LoadedConfig } from '../config/load.ts';
import { type Asked, refuseViolations, type Violation } from '../policy/decision.ts';
import type { PolicyLayer } from '../policy/policy-layer.ts';
import type { ToolEntry } from '../registry/tool-entry.ts';
import type { Approval, ApprovalState } from './approval-state.ts';
import { policyPaths } from './policy-paths.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** The project in which a tool will run, and the caller. */
export interface GuardRequest {
  config: LoadedConfig;
  runsDir: string;
  env: Env;
  cwd: string;
  caller?: string | null | undefined;
  timeoutS?: number | undefined;
  /** For tests: a different path of the system's policy. */
  systemFile?: string;
}

/** The facts about a run after its arguments and its sandbox are decided. */
export interface SettledRun {
  /** Masked, as they are shown. */
  args: readonly string[];
  /** As they were given, unless one of them is a secret. */
  givenArgs?: readonly string[];
  grants: Asked['grants'];
  staged: readonly { target: string; input: string }[];
  tier: number | null;
  /** Removes secrets from the question to policy engines. Undefined for a run without secrets. */
  hide?: <T>(value: T) => T;
}

/**
 * Decides whether a tool may start (contract §9): the policy files, their engines, and the approval of privileged
 * tools.
 */
export class RunGuard {
  /** The effective policy files in order of precedence. */
  readonly layers: readonly PolicyLayer[];
  readonly #tool: ToolEntry;
  readonly #request: GuardRequest;
  #settled: SettledRun | undefined;

  private constructor(tool: ToolEntry, request: GuardRequest, layers: readonly PolicyLayer[]) {
    this.#tool = tool;
    this.#request = request;
    this.layers = layers;
  }

  /** Reads the policy files. Throws E_CONFIG_INVALID for an invalid file. */
  static async open(tool: ToolEntry, request: GuardRequest): Promise<RunGuard> {
    const paths = policyPaths(request.config.root, request.env, request.systemFile);
    if (paths.length === 0) return new RunGuard(tool, request, []);
    const { readPolicies } = await import('./read-policy.ts');
    return new RunGuard(tool, request, await readPolicies(paths, request.env));
  }

  /**
   * Rejects a manifest that requests more than the policy allows (E_POLICY_DENIED), and a privileged tool without an
   * approval (E_APPROVAL_REQUIRED). Returns the tool with the policy's ceilings applied, and the approval.
   */
  async authorizeTool(): Promise<{ tool: ToolEntry; approval: Approval | null }> {
    refuseViolations(this.#tool.name, await this.violations());
    return { tool: await this.withinCeilings(), approval: await this.approved() };
  }

  /**
   * Rejects a privileged tool that is not approved in its present form (E_APPROVAL_REQUIRED). A run may wait in the
   * queue or between attempts, so the tool can change after it was planned.
   */
  async approved(): Promise<Approval | null> {
    if (this.#tool.manifest.permissions.level !== 'privileged') return null;
    const { approvalRequired } = await import('./approval-state.ts');
    const state = await this.approval();
    if (state.state === 'valid') return state.approval;
    if (state.state === 'not_needed') return null;
    throw approvalRequired(this.#tool.name, state);
  }

  /**
   * Rejects arguments that the policy forbids, a sandbox that is too weak, and what a policy engine denies. `commands` are programs
   * beyond the manifest, which a person is asked for.
   */
  async authorizeRun(run: SettledRun, commands: readonly string[] = []): Promise<void> {
    if (this.layers.length === 0) return;
    this.#settled = run;
    const guard = commands.length === 0 ? this : this.#widened({ commands });
    refuseViolations(this.#tool.name, await guard.allViolations(run), run.givenArgs);
  }

  /** Whether the policy lets the tool reach one more host, as `host:port`, or start one more program. */
  async allows(more: { host: string } | { command: string }): Promise<boolean> {
    const guard = this.#widened('host' in more ? { hosts: [more.host] } : { commands: [more.command] });
    const found = this.#settled === undefined ? guard.violations() : guard.allViolations(this.#settled);
    return (await found).length === 0;
  }

  /** The guard of the same tool with more permissions than its manifest requests. */
  #widened({
    hosts = [],
    commands = [],
  }: {
    hosts?: readonly string[];
    commands?: readonly string[];
  }): RunGuard {
    const { manifest } = this.#tool;
    const { permissions } = manifest;
    const { network } = permissions;
    const wider = {
      ...permissions,
      level: 'standard' as const,
      network: { ...network, egress_allow: [...network.egress_allow, ...hosts] },
      commands: [...permissions.commands, ...commands],
    };
    return new RunGuard(
      { ...this.#tool, manifest: { ...manifest, permissions: wider } },
      this.#request,
      this.layers,
    );
  }

  /** The violations that the rules and the engines find in a call, without secrets. */
  async allViolations(run: SettledRun): Promise<Violation[]> {
    const violations = [...(await this.violations(run)), ...(await this.#engineViolations(run))];
    return run.hide?.(violations) ?? violations;
  }

  /** The violations of the files' rules and of the built-in rules. */
  async violations(run?: SettledRun): Promise<Violation[]> {
    const { network, commands } = this.#tool.manifest.permissions;
    const asksForNone = network.egress_allow.length === 0 && commands.length === 0;
    // The built-in rules concern hosts and commands.
    if (this.layers.length === 0 && asksForNone) return [];
    const { security } = this.#request.config.config;
    const origin = this.#request.config.origins['security.allow_network_egress']?.where;
    const builtIn = {
      allowsWildcardHosts: security.allow_network_egress,
      by: origin ?? 'built-in rule',
    };
    if (this.layers.length === 0) {
      const { builtInViolations } = await import('../policy/built-in.ts');
      return builtInViolations(this.#tool.manifest, { ...builtIn, named: { hosts: [], commands: [] } });
    }
    const { decide } = await import('../policy/decide.ts');
    return decide(await this.#asked(run), this.layers, builtIn).violations;
  }

  /** The violations that the files' engines report. */
  async #engineViolations(run: SettledRun): Promise<Violation[]> {
    const { askEngines } = await import('./ask-engines.ts');
    const { cwd, caller, env } = this.#request;
    const { name, manifest } = this.#tool;
    const call = { args: run.args, grants: grantsOf(run), cwd };
    const question = { tool: name, manifest, ...(run.hide?.(call) ?? call), caller: caller ?? null };
    return askEngines(this.layers, question, env);
  }

  /** The state of the tool's approval. */
  async approval(): Promise<ApprovalState> {
    const { approvalOf } = await import('./approval-state.ts');
    const { config, env } = this.#request;
    return approvalOf(this.#tool, { root: config.root, env, layers: this.layers, config });
  }

  async #asked(run: SettledRun | undefined): Promise<Asked> {
    const { name, manifest, manifestPath, dir } = this.#tool;
    const { config, runsDir, env, timeoutS } = this.#request;
    const { sha256Of } = await import('../../util/sha256.ts');
    return {
      tool: name,
      manifest,
      manifestSha256: manifestPath === null ? null : sha256Of(manifestPath),
      timeoutS,
      grants: run === undefined ? [] : grantsOf(run),
      tier: run?.tier ?? null,
      places: {
        project: config.root,
        // Every run has a separate workspace; the placeholder represents any of them.
        workspace: join(runsDir, 'r-0000000000000000', 'work'),
        toolDir: dir,
        home: homeFolder(env),
        realPath,
      },
    };
  }

  /** The tool, with unset limits in its manifest set to the policy's ceilings. */
  async withinCeilings(): Promise<ToolEntry> {
    if (this.layers.length === 0) return this.#tool;
    const [{ rulesFor }, { withinCeilings }] = await Promise.all([
      import('../policy/policy-layer.ts'),
      import('../policy/limits.ts'),
    ]);
    const rules = this.layers.flatMap((layer) => rulesFor(this.#tool.name, layer).map((each) => each.rules));
    return {
      ...this.#tool,
      manifest: withinCeilings(this.#tool.manifest, rules, this.#request.config.config),
    };
  }
}

function grantsOf({ grants, staged }: Pick<SettledRun, 'grants' | 'staged'>): Asked['grants'] {
  return [
    ...grants,
    ...staged.map(({ target, input }) => ({ path: target, access: 'write' as const, input })),
  ];
}

function realPath(path: string): string {
  try {
    return realPathOf(path, '/').path;
  } catch {
    // An unresolvable path stays as written; a sandbox cannot open it either.
    return path;
  }
}
