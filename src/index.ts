export type { Problem, ToolEntry } from './core/registry/registry.ts';
export type { RunSummary } from './core/runner/run.ts';
export type { MeasuredArtifact } from './core/storage/artifacts.ts';
export { Acor, type AcorOptions, type RunningTool, type RunOptions } from './library.ts';
export { AcorError } from './protocol/acor-error.ts';
export type { RunEvent } from './protocol/index.ts';
export type { Manifest } from './protocol/manifest.ts';
export type { RunRecord } from './protocol/run-record.ts';
export { ACOR_VERSION } from './util/version.ts';
