export { checkMessage, type MessageOrigin, type MessageProblem, originOf } from './check-message.ts';
export { envelope, PROTOCOL_VERSION, type StoredEvent } from './envelope.ts';
export { type HotLine, HotScanner } from './hot-scanner.ts';
export * from './runner-events.ts';
export { TASK_MESSAGES, type TaskMessageType } from './task-messages.ts';
export * from './tool-messages.ts';
