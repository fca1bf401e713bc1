import { isAbsolute } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import type { Language, RuntimeContext, ToolCommand } from '../registry/languages/language.ts';
import type { PluginOutline } from './messages.ts';
import type { PluginProcess } from './plugin-process.ts';

type Outline = PluginOutline['languages'][number];

/**
 * A language whose functions a plugin implements. When the plugin fails to decide about a file, `onTrouble` is called,
 * and the file does not count as its language.
 */
export function pluginLanguage(
  plugin: string,
  { name, extensions }: Outline,
  process: PluginProcess,
  onTrouble: (error: unknown) => void,
): Language {
  const refused = (tool: string, why: string): AcorError =>
    new AcorError(
      'E_RUNTIME_MISSING',
      `tool '${tool}' is written in ${name}, a language of the plugin '${plugin}', which ${why}`,
      {
        hint: `Install what runs ${name}, or fix the plugin '${plugin}'.`,
        details: { runtime: name, plugin },
      },
    );
  const ask = (tool: string, question: Parameters<PluginProcess['ask']>[0]) =>
    process.ask(question).catch((error: Error) => {
      throw refused(tool, error.message);
    });
  return {
    name,
    extensions,
    async detect(file) {
      try {
        return (await process.ask({ ask: 'detect', language: name, file })) === true;
      } catch (error) {
        onTrouble(error);
        return false;
      }
    },
    async runtime(context) {
      const runtime = await ask(context.tool, {
        ask: 'runtime',
        language: name,
        context: contextFor(context),
      });
      if (runtime === null) throw refused(context.tool, 'finds no program here that runs it');
      if (typeof runtime === 'string' && isAbsolute(runtime)) return runtime;
      throw refused(context.tool, 'did not return an absolute path from runtime');
    },
    async command(runtime, context) {
      const question = { ask: 'command', language: name, runtime, context: contextFor(context) } as const;
      const { argv, env = {} } = ((await ask(context.tool, question)) ?? {}) as Partial<ToolCommand>;
      if (isWords(argv) && isAbsolute(argv[0] ?? '') && isWords(Object.values(env)))
        return { argv, runtime, env };
      throw refused(context.tool, "did not return { argv: ['/absolute/path', …], env: { … } } from command");
    },
  };
}

/** A plugin does not get the caller's environment. */
function contextFor({ tool, entry, toolDir, toolsDir }: RuntimeContext) {
  return { tool, entry, toolDir, toolsDir };
}

function isWords(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((word) => typeof word === 'string' && !word.includes('\0'));
}
