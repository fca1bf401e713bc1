export {
  AcorClient,
  type Answer,
  type CallOptions,
  type Changes,
  type ClientOptions,
  HttpFailure,
} from './acor-client.ts';
export type { ErrorOfAnswer, FailedAnswer, MetaOfAnswer, NextRequest, SuccessfulAnswer } from './answer.ts';
export type { OperationTypes } from './operation-types.ts';
