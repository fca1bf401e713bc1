import * as z from 'zod';

/** The wire version that this folder describes (contract §1). */
export const PROTOCOL_VERSION = 1;

/** RFC 3339 in UTC, up to nanoseconds. Every time that it lets through is one that `Date` can hold, so no leap second. */
export const RFC3339_UTC =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|\+00:00)$/;

/** What every stored event carries. Unknown fields are kept: a peer may be newer than this code. */
export const envelope = z.looseObject({
  v: z.literal(PROTOCOL_VERSION),
  type: z.string().min(1),
  ts: z.string().regex(RFC3339_UTC, 'must be an RFC 3339 time in UTC'),
  run_id: z.string().min(1),
  trace_id: z
    .string()
    .regex(/^[0-9a-f]{32}$/)
    .optional(),
  span_id: z
    .string()
    .regex(/^[0-9a-f]{16}$/)
    .optional(),
  seq: z.int().min(1).optional(),
});

/** An event as it is stored: envelope filled in, `seq` 1, 2, 3 … without a gap within its run. */
export type StoredEvent = {
  v: number;
  type: string;
  ts: string;
  run_id: string;
  seq: number;
  trace_id?: string;
  span_id?: string;
  [field: string]: unknown;
};

/** A message of one type: the envelope and that type's own fields. */
export function message<T extends string, F extends z.ZodRawShape>(type: T, fields: F) {
  return z.looseObject({ ...envelope.shape, type: z.literal(type), ...fields });
}
