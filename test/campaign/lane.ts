import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunRecord } from '../../src/protocol/run-record.ts';
import {
  commandLineOf,
  environmentOf,
  isAlive,
  processesWithEnvironment,
  readProcess,
} from '../../src/util/process-table.ts';
import { type Running, TestProject } from '../support/project.ts';
import { recordIn } from './record-in.ts';
import { TOOLS } from './round-plan.ts';

/** A project in which rounds are played one after the other. Its folder as HOME marks every process that belongs to it. */
export class Lane extends TestProject {
  readonly #started = new Set<number>();

  constructor() {
    super({ tools: ['campaign'] });
    const manifest = readFileSync(this.path('tools/campaign/tool.yaml'), 'utf8');
    for (const tool of TOOLS) {
      const isPython = tool.includes('python');
      const program = isPython ? 'steps.py' : 'steps.sh';
      // A shell may start these anyway.
      const commands = isPython ? 'permissions: { level: standard, commands: [sh, sleep, setsid] }\n' : '';
      const actions = tool.endsWith('_apart') ? 'actions: [choose_way]\n' : '';
      this.write(
        `tools/${tool}/${program}`,
        readFileSync(this.path('tools/campaign', program), 'utf8'),
        0o755,
      );
      const own = manifest.replace('name: campaign', `name: ${tool}`).replace('steps.py', program);
      this.write(`tools/${tool}/tool.yaml`, own + commands + actions);
    }
  }

  override start(args: readonly string[]): Running {
    const running = super.start(args, { env: { HOME: this.root } });
    this.#started.add(running.child.pid!);
    return running;
  }

  /** The whole record of a run; undefined while it is being made. */
  recordOf(runId: string): RunRecord | undefined {
    return recordIn(this.runsDir, runId);
  }

  /** The log as it stands; empty while there is none. */
  log(runId: string): string {
    const path = join(this.runsDir, runId, 'events.jsonl');
    return existsSync(path) ? readFileSync(path, 'utf8') : '';
  }

  /** Everything alive that was started here, of whatever command: callers, supervisors, tools and what they started. */
  processes(): number[] {
    return processesWithEnvironment('HOME', this.root).filter((pid) => {
      const info = readProcess(pid);
      return info !== undefined && isAlive(info);
    });
  }

  /** What is neither a command of the campaign nor of a tool: supervisors of their own, and what is about to become one. */
  supervisors(): number[] {
    return this.processes().filter(
      (pid) => !this.#started.has(pid) && environmentOf(pid, 'RUN_ID') === undefined,
    );
  }

  /** Supervisors of their own that are at work, also those that have no run yet or do their last work. */
  supervisorsAtWork(): number[] {
    return this.supervisors().filter((pid) => commandLineOf(pid).endsWith(' supervise'));
  }
}
