import { realpathSync } from 'node:fs';
import { AcorError } from '../../protocol/acor-error.ts';
import { pluginName } from '../../protocol/names.ts';
import { errorCode, errorMessage } from '../../util/error-code.ts';
import { type LoadedConfig, projectPath } from '../config/load.ts';
import { type ApprovalState, approvalState } from '../guard/approval-state.ts';
import { policyPaths } from '../guard/policy-paths.ts';
import { readPolicies } from '../guard/read-policy.ts';
import type { PolicyLayer } from '../policy/policy-layer.ts';
import { type PluginFiles, readPluginFiles } from './plugin-files.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** A configured plugin and the state of its approval. None of its code has run. */
export interface FoundPlugin {
  name: string;
  /** The configured path, absolute. */
  file: string;
  approval:
    | { state: 'broken'; why: string }
    | (Exclude<ApprovalState, { state: 'not_needed' }> & { read: PluginFiles });
}

/** The name under which a plugin is approved. It cannot be a tool's name. */
export function approvalName(plugin: string): string {
  return `plugin:${plugin}`;
}

/** The plugins of a project, in the configured order. Runs none of their code. */
export async function findPlugins(loaded: LoadedConfig, env: Env): Promise<FoundPlugin[]> {
  const layers = await policies(loaded, env);
  const root = realpathSync(loaded.root);
  return loaded.config.plugins.map((path) => {
    const name = pluginName(path);
    const file = projectPath(loaded, path);
    try {
      const read = readPluginFiles(realpathSync(file), root);
      return {
        name,
        file,
        approval: { ...approvalState(approvalName(name), read, { root, env, layers }), read },
      };
    } catch (error) {
      const why = errorCode(error) === 'ENOENT' ? `there is no file ${file}` : errorMessage(error);
      return { name, file, approval: { state: 'broken', why } };
    }
  });
}

/** The plugin of this name. Throws E_USAGE when the configuration contains none. */
export function pluginNamed(plugins: readonly FoundPlugin[], name: string): FoundPlugin {
  const found = plugins.find((each) => each.name === name);
  if (found !== undefined) return found;
  const names = plugins.map((each) => each.name);
  throw new AcorError('E_USAGE', `the configuration contains no plugin '${name}'`, {
    hint:
      names.length === 0
        ? "It names none. List its file under 'plugins', such as plugins: [.acor/plugins/notify.ts]"
        : `It names: ${names.join(', ')}`,
    next: [
      {
        operation: 'config.show',
        input: { key: 'plugins' },
        why: 'List the configured plugins.',
      },
    ],
  });
}

/** An invalid policy approves nothing; each run reports it and is rejected. */
async function policies({ root }: LoadedConfig, env: Env): Promise<PolicyLayer[]> {
  try {
    return await readPolicies(policyPaths(root, env), env);
  } catch (error) {
    if (error instanceof AcorError) return [];
    throw error;
  }
}
