/** The answer of an operation: its data, or its error. */
export type AnswerOf<T> = SuccessfulAnswer<T> | FailedAnswer;

export interface SuccessfulAnswer<T> {
  ok: true;
  data: T;
  meta: MetaOfAnswer;
}

export interface FailedAnswer {
  ok: false;
  error: ErrorOfAnswer;
  meta: MetaOfAnswer;
}

export interface ErrorOfAnswer {
  code: string;
  message: string;
  hint: string;
  class: string;
  retryable: boolean;
  /** What an agent does about it. */
  action: string;
  details?: Record<string, unknown>;
}

export interface MetaOfAnswer {
  tool: string;
  /** In milliseconds. */
  elapsed: number;
  count?: number;
  total?: number;
  hasMore?: boolean;
  tokens?: number;
  warnings?: string[];
  next?: NextRequest[];
}

/** What leads on: a command, and the request that does the same where the server allows it. */
export interface NextRequest {
  method?: 'POST';
  path?: string;
  body?: Record<string, unknown>;
  command: string;
  why: string;
}
