import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ACOR, type Finished, Running, TestProject } from '../support/project.ts';
import { trustProject } from '../support/trust-project.ts';
import type { ScriptedModel } from './scripted-model.ts';

/** Where `npm run test:agents` has installed the agents. */
const CLIENTS = process.env.ACOR_AGENT_CLIENTS;

export type Agent = 'claude' | 'codex' | 'gemini';

/** A project with the files of an agent, and that agent in a home of its own. */
export class AgentRig {
  readonly agent: Agent;
  readonly project: TestProject;
  readonly #home: string;

  private constructor(agent: Agent, tools: readonly string[]) {
    this.agent = agent;
    this.project = new TestProject({ tools });
    this.#home = this.project.path('home');
    mkdirSync(join(this.#home, 'bin'), { recursive: true });
    symlinkSync(ACOR, join(this.#home, 'bin', 'acor'));
  }

  /** Makes the project, with the files that `acor init --agents` writes and no others. */
  static async make(agent: Agent, tools: readonly string[]): Promise<AgentRig> {
    const rig = new AgentRig(agent, tools);
    const { ok, error } = await rig.project.envelope(['init', '--agents', agent], { env: rig.#env() });
    if (!ok) throw new Error(JSON.stringify(error));
    const check = await rig.project.envelope(['agents', 'check'], { env: rig.#env() });
    if (!check.ok) throw new Error(JSON.stringify(check.error));
    return rig;
  }

  /** Whether the agent's program is on this machine. */
  static has(agent: Agent): boolean {
    return CLIENTS !== undefined && existsSync(join(CLIENTS, agent, 'node_modules', '.bin', agent));
  }

  /** The package of an installed agent, with its version. */
  static nameOf(agent: Agent): string {
    const folder = join(CLIENTS!, agent);
    const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const [[name, version]] = Object.entries<string>(dependencies) as [[string, string]];
    return `${name} ${version.replace('^', '')}`;
  }

  /** Gives the agent a task, and waits until it is done with it. */
  async run(model: ScriptedModel, prompt: string): Promise<Finished> {
    return this.start(model, prompt).finished;
  }

  /** Gives the agent a task. */
  start(model: ScriptedModel, prompt: string): Running {
    const { args, env } = this.#callOf(model.url, prompt);
    trustProject(this.project.root, this.#env());
    const child = spawn(this.#program, args, {
      cwd: this.project.root,
      env: { ...this.#env(), ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    child.stdin.end();
    return new Running(child);
  }

  /** Calls the agent's program for something that needs no model. */
  call(args: readonly string[]) {
    const { env } = this.#callOf('http://127.0.0.1:9', '');
    return spawnSync(this.#program, args, {
      cwd: this.project.root,
      env: { ...this.#env(), ...env },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  /** The events of the only run of the project. */
  events() {
    return this.project.events(this.project.runIds()[0]!);
  }

  get #program(): string {
    return join(CLIENTS!, this.agent, 'node_modules', '.bin', this.agent);
  }

  #callOf(url: string, prompt: string): ReturnType<Call> {
    return CALLS[this.agent](this.#home, this.project.root, url, prompt);
  }

  #env(): Record<string, string> {
    return {
      PATH: `${join(this.#home, 'bin')}:${process.env.PATH}`,
      HOME: this.#home,
      LANG: 'C.UTF-8',
      XDG_DATA_HOME: join(this.#home, 'data'),
    };
  }

  [Symbol.dispose](): void {
    this.project[Symbol.dispose]();
  }
}

type Call = (
  home: string,
  root: string,
  url: string,
  prompt: string,
) => { args: string[]; env: Record<string, string> };

/** How each agent is called without a person, as one that trusts the folder; the model is the one at `url`. */
const CALLS: Readonly<Record<Agent, Call>> = {
  claude(home, root, url, prompt) {
    writeJson(join(home, '.claude.json'), { projects: { [root]: { hasTrustDialogAccepted: true } } });
    return {
      args: [
        ...['-p', prompt, '--output-format', 'stream-json', '--verbose'],
        // What a person would be asked about: the server of the project, and its tools.
        ...['--settings', '{"enableAllProjectMcpServers":true}'],
        ...['--allowedTools', 'mcp__acor__*,Bash'],
      ],
      env: {
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_API_KEY: 'sk-ant-test',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        IS_SANDBOX: '1',
      },
    };
  },
  codex(home, root, url, prompt) {
    const folder = join(home, '.codex');
    mkdirSync(folder, { recursive: true });
    writeFileSync(
      join(folder, 'config.toml'),
      `model = "gpt-5"
model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "${url}/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"
[projects."${root}"]
trust_level = "trusted"
`,
    );
    return {
      args: [
        ...['exec', '--json', '--skip-git-repo-check', '--dangerously-bypass-hook-trust'],
        ...['-s', 'danger-full-access', prompt],
      ],
      env: { CODEX_HOME: folder, SCRIPTED_KEY: 'x' },
    };
  },
  gemini(home, _, url, prompt) {
    mkdirSync(join(home, '.gemini'), { recursive: true });
    writeJson(join(home, '.gemini', 'settings.json'), {
      security: { auth: { selectedType: 'gemini-api-key' } },
      privacy: { usageStatisticsEnabled: false },
    });
    return {
      args: ['-p', prompt, '-o', 'stream-json', '--approval-mode', 'yolo'],
      env: {
        GOOGLE_GEMINI_BASE_URL: url,
        GEMINI_API_KEY: 'x',
        // The flag --skip-trust comes too late for the settings of the folder.
        GEMINI_CLI_TRUST_WORKSPACE: 'true',
        // It would run in a process below this one, which survives when this one is killed.
        GEMINI_CLI_NO_RELAUNCH: 'true',
      },
    };
  },
};

function writeJson(path: string, value: unknown): void {
  writeFileSync(path, JSON.stringify(value));
}
