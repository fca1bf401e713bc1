export type { FunctionResult, FunctionTool } from './agent-tools.ts';
export type { OperationTypes } from './client/operation-types.ts';
export type {
  LanguageContext,
  LanguageHandler,
  Plugin,
  PluginPlan,
  PluginTool,
  PluginVerdict,
} from './core/plugins/plugin.ts';
export type { EntryFile, ToolCommand } from './core/registry/languages/language.ts';
export type { Question, QuestionOption } from './core/run/answers/question.ts';
export type { RunSummary } from './core/run/run-summary.ts';
export type { MeasuredArtifact } from './core/store-files/artifacts.ts';
export { Acor, type OperationAnswer } from './library.ts';
export type {
  AcorOptions,
  AnswerOptions,
  CallOptions,
  ExecOptions,
  ExecuteOptions,
  FunctionToolsOptions,
  RunArguments,
  RunOptions,
  TaskOptions,
} from './operations/library-options.ts';
export { AcorError } from './protocol/acor-error.ts';
export type { RunEvent } from './protocol/index.ts';
export type { Manifest } from './protocol/manifest.ts';
export type { NextStep, OperationStep, ShellStep } from './protocol/next-steps.ts';
export type { RunRecord } from './protocol/run-record.ts';
export type { RunningTool } from './running-tool.ts';
export { ACOR_VERSION } from './util/version.ts';
