// Spans from the write that ends a step to the collector that takes them, or does not.

import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, expect, test, vi } from 'vitest'
import { SpanStore } from '../../durable-objects/span-store.ts'
import { rows } from '../../durable-objects/sql.ts'
import { isSampled, otlpBody, otlpSpan, type Span, spanIdOf, traceIdOf } from '../../src/lib/otlp.ts'

const TRACE = traceIdOf('turn', 'x', 1)

const span = (n: number, change: Partial<Span> = {}): Span => ({
  traceId: TRACE,
  spanId: spanIdOf(TRACE, 'step', n),
  parent: spanIdOf(TRACE, 'turn'),
  name: `step ${n}`,
  kind: 'internal',
  from: 1_000,
  until: 2_000,
  attributes: { 'a.text': 'x' },
  error: null,
  ...change,
})

afterEach(() => {
  vi.restoreAllMocks()
})

type SpanStoreRig = {
  store: SpanStore
  sent: { names: string[]; headers: Headers }[]
  wakes: number[]
  waiting: () => string[]
}

/** A store whose collector answers as it is told. */
async function withStore(
  answer: (n: number) => Response | Error,
  work: (held: SpanStoreRig) => Promise<void>,
  vars = {},
) {
  const sent: SpanStoreRig['sent'] = []
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const request = new Request(input as Request, init)
    expect(request.url).toBe('http://collector.test/v1/traces')
    const body = (await request.json()) as { resourceSpans: { scopeSpans: { spans: { name: string }[] }[] }[] }
    const names = body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
    sent.push({ names: names.map(({ name }) => name), headers: request.headers })
    const reply = answer(sent.length)
    if (reply instanceof Error) throw reply
    return reply
  })
  const scope = {
    ...env,
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.test',
    OTEL_EXPORTER_OTLP_HEADERS: 'x-key=of%20the%20collector',
    ...vars,
  }
  const stub = env.TASK_QUEUE.get(env.TASK_QUEUE.newUniqueId())
  await runInDurableObject(stub, async (_, { storage: { sql } }) => {
    const wakes: number[] = []
    const store = new SpanStore({ sql, env: scope, wakeAt: (at) => wakes.push(at) })
    const waiting = () =>
      rows<{ body: string }>(sql, 'SELECT body FROM spans ORDER BY n').map(
        ({ body }) => (JSON.parse(body) as { name: string }).name,
      )
    await work({ store, sent, wakes, waiting })
  })
}

test('spans that end together go together, with the operator’s headers, and are gone once they were taken', () =>
  withStore(
    () => Response.json({}),
    async ({ store, sent, wakes, waiting }) => {
      store.put(span(1))
      store.put(span(2))
      // Told of a second time: the same span.
      store.put(span(1, { name: 'again' }))
      expect(waiting()).toEqual(['step 1', 'step 2'])
      expect(wakes.every((at) => at > Date.now() && at <= Date.now() + 2_000)).toBe(true)
      await store.deliver()
      await store.deliver()
      expect(sent.map(({ names }) => names)).toEqual([['step 1', 'step 2']])
      expect(sent[0]?.headers.get('x-key')).toBe('of the collector')
      expect(sent[0]?.headers.get('content-type')).toBe('application/json')
      expect(waiting()).toEqual([])
    },
  ))

test('a collector that is away is asked again later and later, a bounded number of times', () =>
  withStore(
    (n) => (n % 2 === 0 ? new Response('busy', { status: 503 }) : new Error('connection refused')),
    async ({ store, sent, wakes, waiting }) => {
      vi.spyOn(Math, 'random').mockReturnValue(1)
      store.put(span(1))
      const delays: number[] = []
      for (let n = 0; n < 8; n++) {
        const now = Date.now()
        const before = wakes.length
        await store.deliver()
        const [at] = wakes.slice(before)
        delays.push(at === undefined ? -1 : Math.round((at - now) / 5_000))
      }
      expect(delays).toEqual([1, 2, 4, 8, 16, 32, 60, -1])
      expect(waiting()).toEqual([])
      expect(sent).toHaveLength(8)
    },
  ))

test('a collector says when to come again; what it refuses for good is not sent a second time', () =>
  withStore(
    (n) =>
      n === 1
        ? new Response('', { status: 429, headers: { 'retry-after': '40' } })
        : new Response('who are you', { status: 401 }),
    async ({ store, sent, wakes, waiting }) => {
      store.put(span(1))
      const now = Date.now()
      await store.deliver()
      expect(Math.round(((wakes.at(-1) ?? 0) - now) / 1_000)).toBe(40)
      expect(waiting()).toEqual(['step 1'])
      await store.deliver()
      await store.deliver()
      expect(sent).toHaveLength(2)
      expect(waiting()).toEqual([])
    },
  ))

test('no more than a thousand wait; many are sent in batches, in order', () =>
  withStore(
    () => Response.json({}),
    async ({ store, sent, waiting }) => {
      for (let n = 0; n < 1_005; n++) store.put(span(n))
      expect(waiting()).toHaveLength(1_000)
      await store.deliver()
      expect(sent.map(({ names }) => names.length)).toEqual([128, 128, 128, 128, 128, 128, 128, 104])
      expect(sent.flatMap(({ names }) => names)).toEqual(Array.from({ length: 1_000 }, (_, n) => `step ${n}`))
    },
  ))

test('without an endpoint nothing is stored, not even a table, and what waited from before is dropped', () =>
  withStore(
    () => Response.json({}),
    async ({ store, sent, wakes }) => {
      expect(store.isOn).toBe(false)
      store.put(span(1))
      await store.deliver()
      expect([sent, wakes]).toEqual([[], []])
    },
    { OTEL_EXPORTER_OTLP_ENDPOINT: '' },
  ))

test('ids are of the right form, the same for the same parts, and sampled as often as asked', () => {
  expect(traceIdOf('a', 1)).toMatch(/^[0-9a-f]{32}$/)
  expect(spanIdOf('a', 1)).toMatch(/^[0-9a-f]{16}$/)
  expect(traceIdOf('a', 1)).toBe(traceIdOf('a', 1))
  expect(traceIdOf('a', 1)).not.toBe(traceIdOf('a1'))
  const taken = Array.from({ length: 2_000 }, (_, n) => traceIdOf(n)).filter((id) => isSampled(id, 0.25)).length
  expect(taken).toBeGreaterThan(425)
  expect(taken).toBeLessThan(575)
  expect([isSampled('f'.repeat(32), 1), isSampled('0'.repeat(32), 0)]).toEqual([true, false])
})

test('a span has the encoding of the protocol', () => {
  const made = otlpSpan(
    span(1, {
      parent: null,
      until: 500,
      attributes: { a: 'x', b: 1, c: 1.5, d: true, e: ['x', 'y'], f: null, g: undefined },
      error: 'timeout',
    }),
  )
  expect(made).toEqual({
    traceId: TRACE,
    spanId: spanIdOf(TRACE, 'step', 1),
    name: 'step 1',
    kind: 1,
    startTimeUnixNano: '1000000000',
    // A clock that went back makes no span that ends before it begins.
    endTimeUnixNano: '1000000000',
    attributes: [
      { key: 'a', value: { stringValue: 'x' } },
      { key: 'b', value: { intValue: '1' } },
      { key: 'c', value: { doubleValue: 1.5 } },
      { key: 'd', value: { boolValue: true } },
      { key: 'e', value: { arrayValue: { values: [{ stringValue: 'x' }, { stringValue: 'y' }] } } },
      { key: 'error.type', value: { stringValue: 'timeout' } },
    ],
    status: { code: 2 },
  })
  const about = { resource: { 'service.name': 'b' }, scope: { name: 's', version: '1' }, schemaUrl: 'https://x/1' }
  expect(JSON.parse(otlpBody(about, [JSON.stringify(made)]))).toEqual({
    resourceSpans: [
      {
        resource: { attributes: [{ key: 'service.name', value: { stringValue: 'b' } }] },
        schemaUrl: 'https://x/1',
        scopeSpans: [{ scope: { name: 's', version: '1' }, schemaUrl: 'https://x/1', spans: [made] }],
      },
    ],
  })
})
