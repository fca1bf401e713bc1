import { realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ERROR_CODES, type ErrorClass, type ErrorInfo, errorInfo } from '../../protocol/error-codes.ts';
import type { ErrorCodesFile } from '../../protocol/error-codes-file.ts';
import { checkFile } from '../config/check-file.ts';
import { type LoadedConfig, projectPath, registryDirsOf } from '../config/load.ts';
import { type Problem, refuse } from '../config/problem.ts';
import { readYamlFile, type YamlFile } from '../config/yaml-file.ts';
import type { WatchedFiles } from './watched-files.ts';

/** The recommended action for a code whose row has none. */
const ACTIONS: Readonly<Record<ErrorClass, { action: string; hint: string }>> = {
  user_error: {
    action: 'Ask the user to put it right; do not retry.',
    hint: 'Correct what the message names.',
  },
  retryable: { action: 'Retry with backoff, up to 3 times.', hint: 'Wait, then run it again.' },
  infra_error: {
    action: 'Fix the environment first; a retry without a fix fails again.',
    hint: 'Fix what the message names.',
  },
  policy_error: {
    action: 'Ask for less, or have the policy changed; do not retry.',
    hint: 'Check what the policy allows.',
  },
  unknown: ERROR_CODES.E_UNKNOWN,
};

/** The files that may define a project's own codes. For each code, the first file wins. */
export function errorCodeFiles(config: LoadedConfig): string[] {
  const registries = registryDirsOf(config).map((dir) => join(dir, 'error_codes.yaml'));
  return [...new Set([projectPath(config, '.acor/error_codes.yaml'), ...registries])];
}

/** Reads a project's own codes, without rows that only repeat the built-in table. Throws E_CONFIG_INVALID. */
export async function readErrorCodes(
  paths: readonly string[],
  files: WatchedFiles,
): Promise<Record<string, ErrorInfo>> {
  const codes: Record<string, ErrorInfo> = {};
  for (const path of [...paths].reverse()) {
    if (files.realPath(path, path)?.stats === undefined) continue;
    // A folder of tools may be a link itself.
    const within = dirname(realpathSync(dirname(path)));
    const yaml = await readYamlFile(path, { within });
    const { errorCodesFile } = await import('../../protocol/error-codes-file.ts');
    const { data, problems } = checkFile(errorCodesFile, yaml);
    refuse([...problems, ...(data ? contradictions(data, yaml) : [])]);
    for (const [code, row] of Object.entries(data!.codes)) {
      const builtIn = errorInfo(code);
      if (builtIn && row.action === undefined && row.hint === undefined) continue;
      const { action, hint } = builtIn ?? ACTIONS[row.class];
      codes[code] = {
        class: row.class,
        retryable: row.retryable,
        exit: row.exit,
        action: row.action ?? action,
        hint: row.hint ?? hint,
      };
    }
  }
  return codes;
}

/** A built-in code must mean the same everywhere, because agents act on it. */
function contradictions({ codes }: ErrorCodesFile, yaml: YamlFile): Problem[] {
  return Object.entries(codes).flatMap(([code, row]) => {
    const builtIn = errorInfo(code);
    if (!builtIn || (builtIn.class === row.class && builtIn.retryable === row.retryable)) return [];
    return {
      file: yaml.file,
      ...yaml.placeOfKey(['codes'], code),
      rule: 'built-in-code',
      message: `${code} is built in as {class: ${builtIn.class}, retryable: ${builtIn.retryable}}`,
      fix: 'Remove the row, or use a different code for your own error.',
    };
  });
}
