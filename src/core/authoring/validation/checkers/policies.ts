import { readPolicies } from '../../../guard/read-policy.ts';
import type { Checker } from '../checker.ts';
import { problemsOf } from '../problems-of.ts';

/** The policy files of the system, the user and the project. */
export const policies: Checker = {
  name: 'policies',
  async check({ policyFiles, env }) {
    return (await Promise.all(policyFiles.map((path) => problemsOf(() => readPolicies([path], env))))).flat();
  },
};
