import { countOf } from '../../util/count-of.ts';
import type { RunWriter } from '../ports/run-store.ts';
import type { RunWatch } from '../run/services.ts';
import { EventFeed } from './event-feed.ts';
import type { LoadedPlugin, PluginFailure } from './plugin-process.ts';

/** The plugins that observe one run: delivers its events, and writes their failures to its log. */
export class PluginWatch implements RunWatch {
  readonly #writer: RunWriter;
  /** The failures of all plugins; the list grows. */
  readonly #failures: readonly PluginFailure[];
  readonly #feeds: { plugin: string; feed: EventFeed }[];
  #reported = 0;

  constructor(
    writer: RunWriter,
    plugins: readonly LoadedPlugin[],
    failures: readonly PluginFailure[],
    onTrouble: (plugin: string, why: string) => void,
  ) {
    this.#writer = writer;
    this.#failures = failures;
    this.#feeds = plugins.map(({ name: plugin, process }) => ({
      plugin,
      feed: new EventFeed(process, (why) => onTrouble(plugin, why)),
    }));
    if (plugins.length === 0) return;
    writer.log.observe({
      stored: (lines) => {
        for (const { feed } of this.#feeds) feed.push(lines);
      },
    });
  }

  begun(): void {
    this.#emit();
  }

  async beforeEnd(): Promise<void> {
    const missed = await Promise.all(this.#feeds.map(({ feed }) => feed.catchUp()));
    this.#emit();
    this.#feeds.forEach(({ plugin }, index) => {
      const count = missed[index]!;
      if (count === 0) return;
      const text = `the plugin '${plugin}' could not keep up: ${countOf(count, 'event')} did not reach its onEvent`;
      this.#warn({ plugin, text }, { missed: count });
    });
  }

  async afterEnd(): Promise<void> {
    await Promise.all(this.#feeds.map(({ feed }) => feed.catchUp()));
  }

  /** Flush only when the run itself writes: a failing log is not the plugin's concern. */
  #emit(): void {
    for (const trouble of this.#failures.slice(this.#reported)) this.#warn(trouble);
    this.#reported = this.#failures.length;
  }

  #warn({ plugin, code, text, next }: PluginFailure, more: Record<string, unknown> = {}): void {
    const { log, commandOf } = this.#writer;
    log.append({
      type: 'runner_warning',
      ...(code !== undefined && { code }),
      msg: text,
      plugin,
      ...(next !== undefined && { next: next.map(commandOf) }),
      ...more,
    });
  }
}
