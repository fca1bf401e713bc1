export * as z from 'zod';
export { type Audience, agentOf, detectAudience } from '../util/audience.ts';
export { nearest } from '../util/nearest.ts';
export { runCli } from './app.ts';
export { AppError, type AppErrorOptions, EXIT, type ExitCode } from './app-error.ts';
export { BASE_ERRORS } from './base-errors.ts';
export type { Setting } from './builtins/config.ts';
export { type Call, callOperation } from './call-operation.ts';
export { buildCatalog, type Catalog, type CatalogEntry, catalogSchema } from './catalog.ts';
export { renderCatalog } from './catalog-view.ts';
export { type ContractOptions, type ContractProblem, checkContract } from './check-contract.ts';
export type { AppErrorInfo, CliApp, CliIo, Route } from './cli-app.ts';
export type { Candidate, Completion } from './completion/candidates.ts';
export { completeLine } from './completion/complete-line.ts';
export { completionScript, SHELLS, type Shell } from './completion/scripts.ts';
export type { ValuesOf } from './completion/values-of.ts';
export { type CliDefinition, createKit, defineCli, type LazyCommand } from './define-cli.ts';
export { cutToWidth, displayWidth, padToWidth } from './display-width.ts';
export {
  type Envelope,
  type EnvelopeError,
  type EnvelopeMeta,
  encodeLine,
  type FailureEnvelope,
  failure,
  type SuccessEnvelope,
  success,
} from './envelope.ts';
export { envelopeSchema } from './envelope-schema.ts';
export { eventsResult } from './events-result.ts';
export type { CalleeInput, ForwardedCommand } from './forwarded-command.ts';
export type { FunctionTool } from './function-tools.ts';
export { GLOBAL_FLAGS, type GlobalFlag, type GlobalFlags } from './globals.ts';
export {
  checkStatus,
  type HealthCheck,
  type HealthReport,
  healthCheck,
  healthReport,
  overall,
} from './health-shape.ts';
export { type Interrupts, NO_INTERRUPTS } from './interrupts.ts';
export { type KnownFlags, takeKnownFlags } from './known-flags.ts';
export { LineQueue } from './line-queue.ts';
export type { NextStep, OperationStep, ShellStep } from './next-step.ts';
export type { Allowed } from './offered-tools.ts';
export {
  type OldAnswer,
  type OldArgument,
  type OldCommandCall,
  type OldProgram,
  oldAnswer,
  oldProgram,
} from './old-program.ts';
export {
  type Answer,
  type DataOf,
  type DataResult,
  type Deprecation,
  type DocumentResult,
  defineOperation,
  type Effect,
  type EventsResult,
  type FailureResult,
  type Operation,
  type OperationContext,
  type OperationDescription,
  type OperationResult,
  type StreamEnd,
} from './operation.ts';
export type { Person, ProgramQuestion } from './person.ts';
export { detectScreen, type Screen } from './screen.ts';
export { guardStdout, serve } from './serve.ts';
export type { HttpOptions, HttpServer } from './serve-http.ts';
export type { SkillFile } from './skill-files.ts';
export type { HookCall, Hooks } from './strict.ts';
export { type Look, styled } from './style.ts';
export { functionTools, manualPage, serveHttp, serveMcp, skillFiles } from './surfaces.ts';
export { cellText, renderTable } from './table.ts';
export type { Place, Presenter, Terminal } from './terminal.ts';
export { safeData, safeText } from './terminal-text.ts';
export { type CommandForm, writeCommand } from './write-command.ts';
export { writeOut } from './write-out.ts';
