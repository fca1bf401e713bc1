import { ACOR_VERSION } from '../../../util/version.ts';
import { ATTRIBUTES, SCOPE } from './conventions.ts';
import type { Span } from './run-spans.ts';

const KIND_INTERNAL = 1;
const STATUS_OK = 1;
const STATUS_ERROR = 2;
/** The flag of a sampled span. */
const SAMPLED = 1;

/**
 * The spans of one project as an ExportTraceServiceRequest in the JSON form of OTLP. The SDK of OpenTelemetry has an exporter for it, which
 * would add 19 MB to every installation for this one function.
 */
export function otlpRequest(project: string, spans: readonly Span[]): object {
  return {
    resourceSpans: [
      {
        resource: {
          attributes: attributesOf({
            [ATTRIBUTES.serviceName]: project || SCOPE,
            [ATTRIBUTES.serviceVersion]: ACOR_VERSION,
          }),
        },
        scopeSpans: [{ scope: { name: SCOPE, version: ACOR_VERSION }, spans: spans.map(otlpSpan) }],
      },
    ],
  };
}

function otlpSpan({
  traceId,
  traceState,
  spanId,
  parentSpanId,
  name,
  start,
  end,
  attributes,
  error,
}: Span): object {
  return {
    traceId,
    spanId,
    ...(parentSpanId !== null && { parentSpanId }),
    ...(traceState !== null && { traceState }),
    flags: SAMPLED,
    name,
    kind: KIND_INTERNAL,
    startTimeUnixNano: nanoseconds(start),
    endTimeUnixNano: nanoseconds(end),
    attributes: attributesOf(attributes),
    status: error === null ? { code: STATUS_OK } : { code: STATUS_ERROR, message: error },
  };
}

/** 64-bit numbers are texts in the JSON form. */
function nanoseconds(time: string): string {
  return String(BigInt(Date.parse(time)) * 1_000_000n);
}

function attributesOf(attributes: Span['attributes']): object[] {
  return Object.entries(attributes).flatMap(([key, value]) => {
    if (value === null || value === undefined) return [];
    if (typeof value === 'string') return { key, value: { stringValue: value } };
    return { key, value: Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value } };
  });
}
