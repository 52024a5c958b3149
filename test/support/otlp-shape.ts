// The JSON encoding of an `ExportTraceServiceRequest`, as strict as its Protocol Buffers are: no unknown field, 64-bit numbers
// as decimal strings, ids as hexadecimal digits (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding).

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { z } from 'zod'

const uint64 = z.string().regex(/^\d{1,20}$/)
const AnyValue = z.union([
  z.strictObject({ stringValue: z.string() }),
  z.strictObject({ boolValue: z.boolean() }),
  z.strictObject({ intValue: z.string().regex(/^-?\d{1,19}$/) }),
  z.strictObject({ doubleValue: z.number() }),
  z.strictObject({ arrayValue: z.strictObject({ values: z.array(z.strictObject({ stringValue: z.string() })) }) }),
])
const Attributes = z
  .array(z.strictObject({ key: z.string().min(1), value: AnyValue }))
  .refine((all) => new Set(all.map(({ key }) => key)).size === all.length, 'a name twice')

const Span = z
  .strictObject({
    traceId: z.string().regex(/^(?!0{32})[0-9a-f]{32}$/),
    spanId: z.string().regex(/^(?!0{16})[0-9a-f]{16}$/),
    parentSpanId: z
      .string()
      .regex(/^[0-9a-f]{16}$/)
      .optional(),
    name: z.string().min(1),
    kind: z.int().min(1).max(5),
    startTimeUnixNano: uint64,
    endTimeUnixNano: uint64,
    attributes: Attributes,
    status: z.strictObject({ code: z.literal(2).optional() }),
  })
  .refine((span) => BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano), 'ends before it begins')
export type OtlpSpan = z.infer<typeof Span>

export const ExportTraceServiceRequest = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({
      resource: z.strictObject({ attributes: Attributes }),
      schemaUrl: z.url(),
      scopeSpans: z.array(
        z.strictObject({
          scope: z.strictObject({ name: z.string(), version: z.string() }),
          schemaUrl: z.url(),
          spans: z.array(Span).min(1),
        }),
      ),
    }),
  ),
})

/** A span's attributes as plain values. */
export const valuesOf = ({ attributes }: Pick<OtlpSpan, 'attributes'>): Record<string, unknown> =>
  Object.fromEntries(
    attributes.map(({ key, value }) => {
      if ('intValue' in value) return [key, Number(value.intValue)]
      if ('arrayValue' in value) return [key, value.arrayValue.values.map(({ stringValue }) => stringValue)]
      return [key, Object.values(value)[0]]
    }),
  )

export type Collector = {
  readonly url: string
  /** Every span of every request, including repeated ones. */
  readonly spans: OtlpSpan[]
  readonly bodies: string[]
  readonly headers: NodeJS.Dict<string | string[]>[]
  /** Deviations from the encoding. */
  readonly faults: string[]
  close(): Promise<void>
}

/** A collector on loopback. */
export async function startCollector(): Promise<Collector> {
  const taken = {
    spans: [] as OtlpSpan[],
    bodies: [] as string[],
    headers: [] as Collector['headers'],
    faults: [] as string[],
  }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString()
    taken.bodies.push(body)
    taken.headers.push(request.headers)
    const isRight = request.method === 'POST' && request.url === '/v1/traces'
    const read = ExportTraceServiceRequest.safeParse(JSON.parse(body))
    if (!isRight || !read.success) taken.faults.push(`${request.method} ${request.url}: ${read.error?.message ?? ''}`)
    const all = read.data?.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)) ?? []
    taken.spans.push(...all)
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()))
  return { ...taken, url: `http://127.0.0.1:${port}`, close }
}
