// The SDK for tool authors: `import { emitStart, emitResult } from 'acor/tool'`. The Python and bash SDKs offer the
// same functions; a test compares the three lists.

import { reportUncaught } from './uncaught.ts';

reportUncaught();

export { args } from './args.ts';
export { type Artifact, artifact } from './artifact.ts';
export { answerTo, ask, type Question } from './ask.ts';
export { cancelled, checkCancel } from './cancel.ts';
export { loadCheckpoint, saveCheckpoint } from './checkpoint.ts';
export {
  emit,
  emitAction,
  emitCancelled,
  emitError,
  emitHeartbeat,
  emitLog,
  emitProgress,
  emitRecord,
  emitResult,
  emitStart,
  type Heartbeat,
  startHeartbeat,
} from './emit.ts';
export {
  type ActionFields,
  type ErrorFields,
  type Fields,
  type LogLevel,
  ProtocolEmitter,
  type ResultFields,
} from './protocol-emitter.ts';
export { deadlineLeftS, runId, secret, workspace } from './run-context.ts';
export { ToolError } from './tool-error.ts';
