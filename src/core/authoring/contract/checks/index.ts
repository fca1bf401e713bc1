import type { Check } from '../finding.ts';
import { catalogComplete } from './catalog-complete.ts';
import { catalogDetail } from './catalog-detail.ts';
import { catalogFields } from './catalog-fields.ts';
import { catalogGlobalFlags } from './catalog-global-flags.ts';
import { catalogOrder } from './catalog-order.ts';
import { commandHelp } from './command-help.ts';
import { configCommand } from './config-command.ts';
import { confirmation } from './confirmation.ts';
import { controlCharacters } from './control-characters.ts';
import { crudMatrix } from './crud-matrix.ts';
import { deprecation } from './deprecation.ts';
import { determinism } from './determinism.ts';
import { dryRun } from './dry-run.ts';
import { envelopeShape } from './envelope-shape.ts';
import { errorEnvelope } from './error-envelope.ts';
import { errorHint } from './error-hint.ts';
import { errorsOnStderr } from './errors-on-stderr.ts';
import { exitBlocked } from './exit-blocked.ts';
import { exitRuntime } from './exit-runtime.ts';
import { exitSuccess } from './exit-success.ts';
import { exitUsage } from './exit-usage.ts';
import { flagConsistency } from './flag-consistency.ts';
import { grammar } from './grammar.ts';
import { granularity } from './granularity.ts';
import { healthCommand } from './health-command.ts';
import { healthShape } from './health-shape.ts';
import { help } from './help.ts';
import { keyStability } from './key-stability.ts';
import { nonInteractive } from './non-interactive.ts';
import { parity } from './parity.ts';
import { presentationFlags } from './presentation-flags.ts';
import { selectors } from './selectors.ts';
import { stdoutPurity } from './stdout-purity.ts';
import { structuredOutput } from './structured-output.ts';
import { toolsCommand } from './tools-command.ts';

/** All checks, in the order of the contract. */
export const CHECKS: readonly Check[] = [
  toolsCommand,
  healthCommand,
  healthShape,
  configCommand,
  catalogFields,
  catalogOrder,
  catalogGlobalFlags,
  catalogDetail,
  catalogComplete,
  help,
  commandHelp,
  structuredOutput,
  envelopeShape,
  stdoutPurity,
  presentationFlags,
  errorEnvelope,
  errorHint,
  errorsOnStderr,
  exitSuccess,
  exitUsage,
  exitRuntime,
  exitBlocked,
  nonInteractive,
  confirmation,
  controlCharacters,
  determinism,
  keyStability,
  dryRun,
  selectors,
  flagConsistency,
  grammar,
  crudMatrix,
  parity,
  granularity,
  deprecation,
];
