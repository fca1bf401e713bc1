import { readPolicies } from '../../../guard/read-policy.ts';
import { readErrorCodes } from '../../../registry/error-codes.ts';
import { WatchedFiles } from '../../../registry/watched-files.ts';
import type { Checker } from '../checker.ts';
import { findingOf, problemsOf } from '../finding.ts';

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
