import type { Checker } from '../checker.ts';
import { advice } from './advice.ts';
import { config } from './config.ts';
import { errorCodes } from './error-codes.ts';
import { examples } from './examples.ts';
import { manifests } from './manifests.ts';
import { policies } from './policies.ts';
import { schemas } from './schemas.ts';
import { selftests } from './selftests.ts';
import { versions } from './versions.ts';
import { workflows } from './workflows.ts';

/** All checks of `acor validate`. A new kind of file is a file here, and a list in `subject.ts`. */
export const CHECKERS: readonly Checker[] = [
  config,
  manifests,
  schemas,
  examples,
  advice,
  errorCodes,
  policies,
  workflows,
  versions,
  selftests,
];
