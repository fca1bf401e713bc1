import type { Check } from '../finding.ts';
import {
  catalogComplete,
  catalogDetail,
  catalogFields,
  catalogGlobalFlags,
  catalogOrder,
} from './catalog.ts';
import { crudMatrix, deprecation, grammar, granularity, parity } from './command-set.ts';
import { errorEnvelope, errorHint, errorsOnStderr } from './errors.ts';
import { exitBlocked, exitRuntime, exitSuccess, exitUsage } from './exit-codes.ts';
import { flagConsistency, presentationFlags, selectors } from './flags.ts';
import { commandHelp, help } from './help.ts';
import { controlCharacters, envelopeShape, stdoutPurity } from './output.ts';
import { configCommand, healthCommand, healthShape, toolsCommand } from './required-commands.ts';
import { determinism, keyStability } from './stability.ts';
import { structuredOutput } from './structured-output.ts';
import { confirmation, dryRun, nonInteractive } from './unattended.ts';

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
