import { statSync } from 'node:fs';
import { basename, isAbsolute } from 'node:path';
import { trustedProgram } from '../trusted-program.ts';

/** How to run tools in a container, from `security.container`. */
export interface ContainerSettings {
  image: string;
  /** The engine's `run` command with the configured options; ACOR appends its own. */
  command?: readonly string[] | undefined;
}

const PODMAN = ['podman', 'run'];

/** The variables that an engine's client needs to find its engine and images. Others are dropped. */
const OWN_VARIABLES = [
  ...['HOME', 'USER', 'XDG_RUNTIME_DIR', 'XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'DBUS_SESSION_BUS_ADDRESS'],
  ...['DOCKER_HOST', 'DOCKER_CONTEXT', 'DOCKER_CONFIG', 'DOCKER_CERT_PATH', 'DOCKER_TLS_VERIFY'],
  ...['CONTAINER_HOST', 'CONTAINERS_CONF', 'CONTAINERS_STORAGE_CONF'],
];

/** The configured container engine. */
export class Engine {
  readonly #words: readonly string[];

  constructor({ command = PODMAN }: Pick<ContainerSettings, 'command'>) {
    this.#words = command;
  }

  get name(): string {
    return basename(this.#words[0]!);
  }

  get isPodman(): boolean {
    return this.name.startsWith('podman');
  }

  /** Undefined when the program is missing, or a user other than root could have replaced it. */
  get program(): { path: string; identity: string } | undefined {
    const [name] = this.#words as [string];
    if (!isAbsolute(name)) {
      const found = trustedProgram(name);
      return typeof found === 'string' ? undefined : found;
    }
    // This path is trusted: a user who may set it may also disable the sandbox.
    const stats = statSync(name, { throwIfNoEntry: false });
    return stats?.isFile() ? { path: name, identity: `${name} ${stats.ino} ${stats.mtimeMs}` } : undefined;
  }

  get env(): Record<string, string> {
    const known = OWN_VARIABLES.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value] as const];
    });
    return {
      PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      ...Object.fromEntries(known),
    };
  }

  /** The words of `run`, before ACOR's own options. */
  run(path: string): [string, ...string[]] {
    return [path, ...this.#words.slice(1)];
  }

  /** The words of another command of the same engine. */
  other(path: string, words: readonly string[]): [string, ...string[]] {
    return [path, ...this.#words.slice(1, this.#words.indexOf('run')), ...words];
  }
}
