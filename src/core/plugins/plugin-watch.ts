import type { RunWatch } from '../runner/services.ts';
import type { RunWriter } from '../storage/run-store.ts';
import { EventFeed } from './event-feed.ts';
import type { LoadedPlugin, Trouble } from './plugins.ts';

/** What a run knows of its project's plugins. */
interface Surroundings {
  /** What was told before the run. */
  told: readonly Trouble[];
  tell(plugin: string, why: string): void;
  /** Hears of what is told from now on. Returns what ends that. */
  listen(listener: (trouble: Trouble) => void): () => void;
}

/** Plugins at one run: its events go to them, and what they fail to do goes into its log. */
export class PluginWatch implements RunWatch {
  readonly #log: RunWriter['log'];
  readonly #surroundings: Surroundings;
  readonly #feeds: { plugin: string; feed: EventFeed }[];
  #stopListening = () => {};

  constructor({ log }: RunWriter, plugins: readonly LoadedPlugin[], surroundings: Surroundings) {
    this.#log = log;
    this.#surroundings = surroundings;
    this.#feeds = plugins.map(({ name: plugin, process }) => ({
      plugin,
      feed: new EventFeed(process, (why) => surroundings.tell(plugin, why)),
    }));
    if (plugins.length === 0) return;
    log.tell((lines) => {
      for (const { feed } of this.#feeds) feed.push(lines);
    });
  }

  begun(): void {
    for (const trouble of this.#surroundings.told) this.#warn(trouble);
    // Gathered only, and stored with whatever comes next: nothing that fails there is for a plugin to handle.
    this.#stopListening = this.#surroundings.listen((trouble) => this.#warn(trouble));
  }

  async beforeEnd(): Promise<void> {
    const missed = await Promise.all(this.#feeds.map(({ feed }) => feed.catchUp()));
    this.#stopListening();
    this.#feeds.forEach(({ plugin }, index) => {
      const count = missed[index]!;
      if (count === 0) return;
      const text = `the plugin '${plugin}' could not keep up: ${count} event(s) did not reach its onEvent`;
      this.#warn({ plugin, text }, { missed: count });
    });
  }

  async afterEnd(): Promise<void> {
    await Promise.all(this.#feeds.map(({ feed }) => feed.catchUp()));
  }

  #warn({ plugin, code, text, next }: Trouble, more: Record<string, unknown> = {}): void {
    this.#log.append({
      type: 'runner_warning',
      ...(code !== undefined && { code }),
      msg: text,
      plugin,
      ...(next !== undefined && { next }),
      ...more,
    });
  }
}
