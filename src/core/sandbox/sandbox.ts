import type { Manifest } from '../../protocol/manifest.ts';
import type { Isolation } from '../../protocol/v1/runner-events.ts';

/** What a run needs of its sandbox. All paths are absolute and real. */
export interface SandboxRequest {
  argv: readonly [string, ...string[]];
  workspace: string;
  toolDir: string;
  grants: readonly { path: string; access: 'read' | 'write' }[];
  manifest: Manifest;
}

/** How to start the tool so that it is confined. */
export interface SandboxedCommand {
  argv: [string, ...string[]];
  isolation: Isolation;
}

/** One check of a backend, in the shape that `acor health` shows. */
export interface SandboxProbe {
  available: boolean;
  detail: string;
  /** A command or an edit that makes it available. */
  fix?: string;
}

/** One way to confine a tool. Each is a file in `backends/` and passes the contract suite. */
export interface SandboxBackend {
  readonly name: string;
  /** 1 is the strongest; 3 is no boundary. */
  readonly tier: number;
  probe(): Promise<SandboxProbe>;
  prepare(request: SandboxRequest): Promise<SandboxedCommand>;
}
