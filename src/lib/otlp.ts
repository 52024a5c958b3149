// Spans in the OTLP form for HTTP: the JSON encoding of `ExportTraceServiceRequest`, which is that of Protocol Buffers
// except for ids, which are hexadecimal (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding). Ids are
// derived from stored data, so that a step that is reported twice has the same span.

import { createHash } from 'node:crypto'

/**
 * The revision of the semantic conventions that the names of spans and attributes follow; those for generative AI are in
 * https://github.com/open-telemetry/semantic-conventions/tree/v1.41.0/docs/gen-ai.
 */
const CONVENTIONS = '1.41.0'
export const SCHEMA_URL = `https://opentelemetry.io/schemas/${CONVENTIONS}`

/** The conventions' names of model providers, where they differ from ours. */
const PROVIDERS: Readonly<Record<string, string>> = { google: 'gcp.gemini', mistral: 'mistral_ai', xai: 'x_ai' }

export const providerName = (provider: string | null): string =>
  provider === null ? 'custom' : (PROVIDERS[provider] ?? provider)

export type AttributeValue = string | number | boolean | readonly string[]
/** Attributes without a value are left out. */
export type Attributes = Readonly<Record<string, AttributeValue | null | undefined>>

const SPAN_KIND = { internal: 1, server: 2, client: 3 } as const

export type Span = {
  traceId: string
  spanId: string
  /** Null for the root span of a trace. */
  parent: string | null
  name: string
  kind: keyof typeof SPAN_KIND
  /** Epoch ms. */
  from: number
  until: number
  attributes: Attributes
  /** Low cardinality: a class of errors, never a text. Null: no error. */
  error: string | null
}

/** 32 hexadecimal digits, derived from the parts. */
export const traceIdOf = (...parts: readonly (string | number)[]): string => digest(parts).slice(0, 32)
/** 16 hexadecimal digits. */
export const spanIdOf = (...parts: readonly (string | number)[]): string => digest(parts).slice(0, 16)

const digest = (parts: readonly (string | number)[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex')

/** Decided by the trace id alone, so that a trace is recorded completely or not at all. */
export const isSampled = (traceId: string, ratio: number): boolean =>
  Number.parseInt(traceId.slice(-13), 16) < ratio * 2 ** 52

type KeyValue = { key: string; value: Record<string, unknown> }

export function otlpSpan({ traceId, spanId, parent, name, kind, from, until, attributes, error }: Span) {
  return {
    traceId,
    spanId,
    ...(parent === null ? {} : { parentSpanId: parent }),
    name,
    kind: SPAN_KIND[kind],
    startTimeUnixNano: nanos(from),
    endTimeUnixNano: nanos(Math.max(from, until)),
    attributes: keyValues(error === null ? attributes : { ...attributes, 'error.type': error }),
    // 2 is STATUS_CODE_ERROR. Without an error the status stays unset, as the conventions require.
    status: error === null ? {} : { code: 2 },
  }
}

/** 64-bit numbers are strings in this encoding. */
const nanos = (ms: number): string => `${Math.floor(ms)}000000`

function keyValues(attributes: Attributes): KeyValue[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === null || value === undefined ? [] : [{ key, value: anyValue(value) }],
  )
}

function anyValue(value: AttributeValue): Record<string, unknown> {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value !== 'number') return { arrayValue: { values: value.map((one) => ({ stringValue: one })) } }
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}

type Batch = { resource: Attributes; scope: { name: string; version: string }; schemaUrl: string }

/** The body of a request with spans that are JSON already. */
export function otlpBody({ resource, scope, schemaUrl }: Batch, spans: readonly string[]): string {
  const head = JSON.stringify({ resource: { attributes: keyValues(resource) }, schemaUrl }).slice(0, -1)
  const inner = JSON.stringify({ scope, schemaUrl }).slice(0, -1)
  return `{"resourceSpans":[${head},"scopeSpans":[${inner},"spans":[${spans.join(',')}]}]}]}`
}
