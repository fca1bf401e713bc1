// `acor/protocol`: every format that crosses a process, a file or a socket. It also runs in browsers.

// Errors and states
export { AcorError } from './acor-error.ts';
// Files
export { type Config, configFile } from './config-file.ts';
export {
  type BuiltinErrorCode,
  ERROR_CODES,
  type ErrorClass,
  type ErrorInfo,
  errorInfo,
} from './error-codes.ts';
// Lines
export { LineReader, MAX_LINE_BYTES, type OnLine } from './jsonl.ts';
export { type InputSpec, type InputType, type Manifest, manifestFile, type Permissions } from './manifest.ts';
export type { FileChange, Marker, MarkerContent, MarkerKind, MarkerPiece } from './markers/marker.ts';
// Markers in text
export { MARKER_KINDS } from './markers/marker.ts';
export { MarkerStream, parseMarkers } from './markers/marker-stream.ts';
export { type PolicyFile, policyFile } from './policy-file.ts';
export {
  type FinalState,
  isFinal,
  mayFollow,
  RUN_ID_PATTERN,
  RUN_RECORD_VERSION,
  RUN_STATES,
  type RunState,
} from './run.ts';
export { type RunRecord, runRecord } from './run-record.ts';
// Messages, wire version 1
export {
  checkMessage,
  type MessageOrigin,
  type MessageProblem,
  originOf,
} from './v1/check-message.ts';
export { envelope } from './v1/envelope.ts';
export type { RunEvent } from './v1/runner-events.ts';
export {
  type ArtifactEvent,
  type Isolation,
  RUNNER_EVENTS,
  type RunnerEnd,
  type RunnerStart,
  type Seal,
  type Survivor,
} from './v1/runner-events.ts';
export {
  type ActionRequired,
  type Cancelled,
  type DeclaredArtifact,
  type Log,
  type Progress,
  type Result,
  type Start,
  TASK_MESSAGES,
  TOOL_MESSAGES,
  type ToolError,
} from './v1/tool-messages.ts';
export {
  LOG_LEVELS,
  PROTOCOL_VERSION,
  type RunnerEventType,
  type StoredEvent,
  type TaskMessageType,
  type ToolMessageType,
} from './v1/wire.ts';
