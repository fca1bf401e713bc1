import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { configFile } from '../../../protocol/config-file.ts';
import { writeAtomic } from '../../../util/atomic-write.ts';
import { unifiedDiff } from '../../../util/unified-diff.ts';
import { checkFile } from '../../config/check-file.ts';
import { CONFIG_VERSION } from '../../config/config-version.ts';
import { editYaml, valueAt, type YamlEdit } from '../../config/edit-yaml.ts';
import { type Problem, refuse, withoutNext } from '../../config/problem.ts';
import { replaceFile } from '../../config/replace-file.ts';
import { refuseLeadingOut } from '../../config/stay-inside.ts';
import { expandVariables } from '../../config/variables.ts';
import { parseYaml, readYamlFile, type YamlFile } from '../../config/yaml-file.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** A changed configuration file. */
export interface EditedConfig {
  /** The value in the file before and after; undefined when the file has none. */
  before: unknown;
  after: unknown;
  /** Unified; empty when nothing changes. */
  diff: string;
  /** Writes the file. */
  write(): void;
}

/**
 * Plans the change of one key of a configuration file; comments and order stay. `inside`: the folder that the file may not leave by a link.
 * Throws E_CONFIG_INVALID for a file that is invalid already, and E_USAGE for a key or a value that the file cannot have.
 */
export async function editConfig(
  file: string,
  edit: YamlEdit,
  { env, inside }: { env: Env; inside: string | null },
): Promise<EditedConfig> {
  if (inside !== null) refuseLeadingOut(file, inside);
  const exists = existsSync(file);
  const read = exists ? await readYamlFile(file) : undefined;
  refuse(read?.problems ?? []);
  if (edit.value === undefined && edit.add === undefined) await refuseUnknown(file, edit.path);
  const text = exists ? readFileSync(file, 'utf8') : `version: ${CONFIG_VERSION}\n`;
  const changed = await editYaml(text, edit);
  const yaml = await parseYaml(file, changed);
  refuseNew(
    edit,
    [...yaml.problems, ...problemsOf(yaml, env)],
    read === undefined ? [] : problemsOf(read, env),
  );
  return {
    before: valueAt(read?.value, edit.path),
    after: valueAt(yaml.value, edit.path),
    diff: unifiedDiff(file, exists ? text : '', changed),
    write() {
      if (changed === text && exists) return;
      if (exists) {
        replaceFile(file, changed);
        return;
      }
      mkdirSync(dirname(file), { recursive: true });
      writeAtomic(file, changed, { durable: true, mode: 0o644 });
    },
  };
}

/** The problems that validation finds in a file. An environment variable that is not set here is not reported. */
function problemsOf(yaml: YamlFile, env: Env): Problem[] {
  if (yaml.problems.length > 0) return [];
  const { value, problems: unset } = expandVariables(yaml, env);
  const lines = new Set(unset.map(({ line }) => line));
  return checkFile(configFile, yaml, value).problems.filter(({ line }) => !lines.has(line));
}

function refuseNew({ path }: YamlEdit, problems: readonly Problem[], before: readonly Problem[]): void {
  const known = new Set(before.map(({ rule, message }) => `${rule} ${message}`));
  const [first] = problems.filter(({ rule, message }) => !known.has(`${rule} ${message}`));
  if (first === undefined) {
    refuse(problems);
    return;
  }
  throw new AcorError('E_USAGE', `${path.join('.')} was not changed: ${first.message}`, {
    hint: first.fix,
    details: { problems: problems.map(withoutNext) },
  });
}

/** A key that is removed need not be in the file, but it must be one that the file can have. */
async function refuseUnknown(file: string, path: readonly string[]): Promise<void> {
  const tree = path.reduceRight<unknown>((below, key) => ({ [key]: below }), null);
  const { problems } = checkFile(configFile, await parseYaml(file, JSON.stringify(tree)));
  const unknown = problems.find(({ rule }) => rule === 'unknown-key');
  if (unknown !== undefined) throw new AcorError('E_USAGE', unknown.message, { hint: unknown.fix });
}
