import { readFileSync } from 'node:fs';
import { deprecatedIn, deprecationFix } from '../../../../protocol/deprecations.ts';
import { isInside } from '../../../../util/real-path.ts';
import { settingsOfEnvironment, settingsOfFile } from '../../../config/layers.ts';
import { readYamlFile } from '../../../config/yaml-file.ts';
import { readPolicies } from '../../../guard/read-policy.ts';
import { readErrorCodes } from '../../../registry/error-codes.ts';
import { WatchedFiles } from '../../../registry/watched-files.ts';
import type { Checker } from '../checker.ts';
import { type Finding, findingOf, problemsOf } from '../finding.ts';
import { lacksModeline, noModeline } from '../modeline.ts';

/** Checks that each tool can be used: its manifest, its entry, its name. */
export const manifests: Checker = {
  name: 'manifests',
  async check({ tools }) {
    return tools.flatMap(({ problems }) => problems.map(findingOf));
  },
};

/** Checks the project's own error codes. */
export const errorCodes: Checker = {
  name: 'error-codes',
  async check({ errorCodeFiles }) {
    const found = errorCodeFiles.map((file) => problemsOf(() => readErrorCodes([file], new WatchedFiles())));
    return (await Promise.all(found)).flat();
  },
};

/** Checks the policy files of the system, the user and the project. */
export const policies: Checker = {
  name: 'policies',
  async check({ policyFiles, env }) {
    return (await Promise.all(policyFiles.map((path) => problemsOf(() => readPolicies([path], env))))).flat();
  },
};

/** Checks the configuration of the project and the user, and the variables that override it. */
export const config: Checker = {
  name: 'config',
  async check({ config: { root }, configFiles, env, whole }) {
    const findings = await Promise.all(
      configFiles.map(async (file) => [
        ...(await problemsOf(() => settingsOfFile(file, env, isInside(file, root) ? root : undefined))),
        ...(await adviceOn(file, root)),
      ]),
    );
    const variables = whole ? await problemsOf(() => settingsOfEnvironment(env)) : [];
    return [...findings.flat(), ...variables];
  },
};

async function adviceOn(file: string, root: string): Promise<Finding[]> {
  const yaml = await readYamlFile(file);
  if (yaml.problems.length > 0) return [];
  const findings = deprecatedIn('config', yaml.value).map(({ deprecation, value }) => {
    const path = deprecation.path.split('.');
    return findingOf({
      file,
      ...yaml.placeOfKey(path.slice(0, -1), path.at(-1)!),
      rule: 'deprecated',
      message: `'${deprecation.path}' is deprecated`,
      fix: deprecationFix(deprecation, value),
    });
  });
  if ((yaml.value as { version?: unknown }).version === undefined) {
    findings.push(
      findingOf({
        file,
        line: 1,
        column: 1,
        rule: 'no-version',
        message: 'the file has no version',
        fix: 'Add it: version: 1',
      }),
    );
  }
  if (lacksModeline(file, readFileSync(file, 'utf8'), root)) findings.push(noModeline(file));
  return findings;
}
