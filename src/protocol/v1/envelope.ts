import * as z from 'zod';
import { PROTOCOL_VERSION, RFC3339_UTC } from './wire.ts';

/** The common fields of every stored event. Unknown fields are kept: a peer may be newer than this code. */
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

/** A message of one type: the envelope and that type's own fields. */
export function message<T extends string, F extends z.ZodRawShape>(type: T, fields: F) {
  return z.looseObject({ ...envelope.shape, type: z.literal(type), ...fields });
}
