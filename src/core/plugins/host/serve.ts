import { dirname, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { errorMessage } from '../../../util/error-code.ts';
import { writeAsync } from '../../../util/write-async.ts';
import { findProgram } from '../../registry/find-program.ts';
import type { EntryFile } from '../../registry/languages/language.ts';
import type { EventsAnswer, Question } from '../messages.ts';
import type { LanguageContext, LanguageHandler, Plugin } from '../plugin.ts';
import { checkPlugin, HOOKS } from './check-plugin.ts';

/** Only answers are written here; what a plugin prints goes elsewhere. */
const ANSWERS_FD = 3;

/**
 * The main loop of a plugin's process: loads the plugin, and answers questions from standard input, one per line, until
 * its end.
 */
export async function servePlugin(): Promise<void> {
  let plugin: Plugin = {};
  let written: Promise<unknown> = Promise.resolve();
  const answer = (line: object): void => {
    const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
    written = written.then(() => writeAsync(ANSWERS_FD, bytes));
  };
  // An unhandled rejection inside a plugin must not end the process.
  process.on('unhandledRejection', () => {});
  for await (const line of createInterface({ input: process.stdin })) {
    const { id, question } = JSON.parse(line) as { id: number; question: Question };
    if (question.ask === 'load') {
      try {
        plugin = await load(question.file, question.root);
        answer({ id, value: outlineOf(plugin) });
      } catch (error) {
        answer({ id, threw: syntaxErrorIn(error, question.file) ?? errorMessage(error) });
      }
      continue;
    }
    reply(plugin, question).then(
      (value) => answer({ id, value: value ?? null }),
      (error: unknown) => answer({ id, threw: errorMessage(error) }),
    );
  }
  process.exit(0);
}

async function load(file: string, root: string): Promise<Plugin> {
  process.chdir(root);
  return checkPlugin((await import(pathToFileURL(file).href)).default);
}

/** The first syntax error with its place, as Bun reports it: one, or several together. The path is that in the folder of the plugin, which is a copy. */
function syntaxErrorIn(error: unknown, file: string): string | undefined {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const { position, message } = (first ?? {}) as { position?: SourcePlace | null; message?: string };
  if (!position?.file) return undefined;
  return `${relative(dirname(file), position.file)}:${position.line}:${position.column}: ${message}`;
}

interface SourcePlace {
  file: string;
  line: number;
  column: number;
}

/** The plugin's description for the supervisor; its functions stay in this process. */
function outlineOf(plugin: Plugin) {
  return {
    hooks: HOOKS.filter((hook) => plugin[hook] !== undefined),
    languages: (plugin.languages ?? []).map(({ name, extensions = [] }) => ({ name, extensions })),
  };
}

async function reply(plugin: Plugin, question: Exclude<Question, { ask: 'load' }>): Promise<unknown> {
  switch (question.ask) {
    case 'onDiscovery':
      return plugin.onDiscovery?.(question.tools);
    case 'onPreRun':
      return plugin.onPreRun?.(question.plan);
    case 'onEvent':
      return renderEvents(plugin, question.events);
    default: {
      const language = plugin.languages!.find(({ name }) => name === question.language)!;
      return askLanguage(language, question);
    }
  }
}

/** Delivers events in sequence. */
async function renderEvents(plugin: Plugin, events: string[]): Promise<EventsAnswer> {
  const startedMs = performance.now();
  let failed = 0;
  let first: string | undefined;
  for (const event of events) {
    try {
      await plugin.onEvent?.(JSON.parse(event));
    } catch (error) {
      failed++;
      first ??= errorMessage(error);
    }
  }
  return { failed, first, ms: performance.now() - startedMs };
}

async function askLanguage(
  language: LanguageHandler,
  question: Extract<Question, { language: string }>,
): Promise<unknown> {
  switch (question.ask) {
    case 'detect':
      return (await language.detect(question.file as EntryFile)) === true;
    case 'runtime':
      return language.runtime(contextOf(question.context));
    case 'command':
      return language.command(question.runtime, contextOf(question.context));
  }
}

function contextOf(context: Omit<LanguageContext, 'findProgram'>): LanguageContext {
  return { ...context, findProgram: (name) => findProgram(name, process.env) };
}
