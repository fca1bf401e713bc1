import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { errorCode } from '../util/error-code.ts';
import { readRegular } from '../util/regular-file.ts';
import { AppError } from './app-error.ts';

/** The configuration files of a program, the nearest first. */
export interface ConfigLayers {
  /** The value of a dotted key, and the file that has it. */
  valueOf(key: string): { value: unknown; source: string } | undefined;
  /** Every dotted key of a value that is not an object, and its file. */
  keys(): { key: string; source: string }[];
}

interface Layer {
  source: string;
  content: Readonly<Record<string, unknown>>;
}

/**
 * Reads the configuration of a program: `.<program>.json` of the folder or the nearest one above it, then
 * `<program>/config.json` of the user's configuration. Throws E_CONFIG_INVALID for a file that is not a JSON object.
 */
export function readLayers(
  program: string,
  { cwd, env }: { cwd: string; env: Readonly<Record<string, string | undefined>> },
): ConfigLayers {
  const users = env['XDG_CONFIG_HOME'] || join(env['HOME'] || homedir(), '.config');
  const found = [nearestLayer(cwd, `.${program}.json`), readLayer(join(users, program, 'config.json'))];
  const layers = found.filter((each) => each !== undefined);
  return {
    valueOf(key) {
      for (const { source, content } of layers) {
        const value = at(content, key.split('.'));
        if (value !== undefined) return { value, source };
      }
      return undefined;
    },
    keys: () => layers.flatMap(({ source, content }) => keysOf(content).map((key) => ({ key, source }))),
  };
}

function nearestLayer(cwd: string, name: string): Layer | undefined {
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const layer = readLayer(join(folder, name));
    if (layer !== undefined || folder === dirname(folder)) return layer;
  }
}

function readLayer(source: string): Layer | undefined {
  try {
    const content: unknown = JSON.parse(readRegular(source).toString());
    if (isRecord(content)) return { source, content };
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw invalid(source, error instanceof Error ? error.message : String(error));
  }
  throw invalid(source, 'it must be a JSON object');
}

function invalid(source: string, why: string): AppError {
  return new AppError('E_CONFIG_INVALID', `the configuration ${source} cannot be read: ${why}`, {
    hint: `Fix or remove ${source}`,
  });
}

function at(content: unknown, [first, ...rest]: readonly string[]): unknown {
  if (first === undefined) return content;
  return isRecord(content) && Object.hasOwn(content, first) ? at(content[first], rest) : undefined;
}

function keysOf(content: Readonly<Record<string, unknown>>, prefix = ''): string[] {
  return Object.entries(content).flatMap(([key, value]) =>
    isRecord(value) ? keysOf(value, `${prefix}${key}.`) : [`${prefix}${key}`],
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
