import type { Checker } from '../checker.ts';
import { findingOf } from '../finding.ts';

/** Whether each tool can be used: its manifest, its entry, its name. */
export const manifests: Checker = {
  name: 'manifests',
  async check({ tools }) {
    return tools.flatMap(({ problems }) => problems.map(findingOf));
  },
};
