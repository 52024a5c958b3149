import { expect, test, vi } from 'vitest'
import type { ModelFailure } from '../../../src/llm/model.ts'
import { scriptedModel } from '../../helpers/scripted-model.ts'
import type { ScriptedReply } from '../../support/scripted-model-orders.ts'
import { ALL, DEPS, type Dialect, failureLate, failureOf, KEY, modelAt, PATIENCE, PROMPT, stopClock } from './asking.ts'

type Row = {
  title: string
  reply: ScriptedReply
  kind: ModelFailure
  retryAfterMs?: number
  partialText?: string
  dialects?: readonly Dialect[]
}

const error = (message: string, more: Record<string, unknown> = {}) => ({ error: { message, ...more } })
const TEXT = 'Twelve words of an answer that is long enough to be cut somewhere.'

const ROWS: readonly Row[] = [
  { title: '401', reply: { status: 401, body: error(`Incorrect API key provided: ${KEY}`) }, kind: 'authentication' },
  { title: '402', reply: { status: 402, body: error('Insufficient Balance') }, kind: 'out_of_credits' },
  { title: '403', reply: { status: 403, body: error('no access to this model') }, kind: 'authentication' },
  { title: '404', reply: { status: 404, body: error('The model `x` does not exist') }, kind: 'bad_request' },
  { title: '408', reply: { status: 408, body: '' }, kind: 'timeout' },
  { title: '413', reply: { status: 413, body: error('too large') }, kind: 'context_too_long' },
  { title: '429 without Retry-After', reply: { status: 429, body: error('slow down') }, kind: 'rate_limit' },
  {
    title: '429 with Retry-After in seconds',
    reply: { status: 429, headers: { 'retry-after': '17' }, body: error('slow down') },
    kind: 'rate_limit',
    retryAfterMs: 17_000,
  },
  {
    title: '429 with retry-after-ms',
    reply: { status: 429, headers: { 'retry-after-ms': '1250', 'retry-after': '2' }, body: error('slow down') },
    kind: 'rate_limit',
    retryAfterMs: 1250,
  },
  {
    title: '429 that says when in its words',
    reply: {
      status: 429,
      body: error('Quota exceeded', { status: 'RESOURCE_EXHAUSTED', details: [{ retryDelay: '34s' }] }),
    },
    kind: 'rate_limit',
    retryAfterMs: 34_000,
  },
  {
    title: '429 without credits',
    reply: { status: 429, body: error('You exceeded your current quota', { code: 'insufficient_quota' }) },
    kind: 'out_of_credits',
  },
  { title: '500', reply: { status: 500, body: error('boom') }, kind: 'internal' },
  { title: '502 with a page', reply: { status: 502, body: '<html>Bad gateway</html>' }, kind: 'unavailable' },
  { title: '503', reply: { status: 503, body: '' }, kind: 'unavailable' },
  {
    title: '529',
    reply: { status: 529, body: error('Overloaded', { type: 'overloaded_error' }) },
    kind: 'unavailable',
  },
  {
    title: 'an overlong prompt',
    reply: { status: 400, body: error("This model's maximum context length is 8192 tokens.") },
    kind: 'context_too_long',
  },
  {
    title: 'an overlong prompt in other words',
    reply: {
      status: 400,
      body: error('prompt is too long: 208310 tokens > 200000 maximum', { type: 'invalid_request_error' }),
    },
    kind: 'context_too_long',
  },
  {
    title: 'an empty account told as a bad request',
    reply: { status: 400, body: error('Your credit balance is too low to access the API.') },
    kind: 'out_of_credits',
  },
  {
    title: 'a content policy',
    reply: { status: 400, body: error('blocked by content management policy', { code: 'content_filter' }) },
    kind: 'content_policy',
  },
  { title: 'a bad request', reply: { status: 400, body: error('tools[0] is odd') }, kind: 'bad_request' },
  {
    title: 'a redirect',
    reply: { status: 302, headers: { location: 'http://10.0.0.1/' }, body: 'x' },
    kind: 'address_refused',
  },
  {
    title: 'a 200 with an error body',
    reply: { body: error('Overloaded', { type: 'overloaded_error' }) },
    kind: 'unavailable',
  },
  {
    title: 'a page instead of a stream',
    reply: { headers: { 'content-type': 'text/html' }, body: '<html/>' },
    kind: 'unavailable',
  },
  { title: 'a head that never comes', reply: { hang: 'head' }, kind: 'timeout' },
  { title: 'a first byte that never comes', reply: { hang: 'body' }, kind: 'timeout' },
  { title: 'an empty stream', reply: { frames: [] }, kind: 'broken_stream' },
  { title: 'an answer with nothing in it', reply: { text: '' }, kind: 'unusable_reply' },
  {
    title: 'empty choices to the end',
    reply: { frames: ['data: {"id":"x","choices":[]}\n\n', 'data: [DONE]\n\n'] },
    kind: 'broken_stream',
    dialects: ['openai-chat'],
  },
  {
    title: 'an error in the middle of the stream',
    reply: {
      frames: [
        'data: {"choices":[{"index":0,"delta":{"content":"Half"}}]}\n\n',
        'data: {"error":{"code":503,"message":"no capacity"}}\n\n',
      ],
    },
    kind: 'unavailable',
    partialText: 'Half',
    dialects: ['openai-chat'],
  },
  {
    title: 'an error event in the middle of the stream',
    reply: {
      frames: [
        'event: message_start\ndata: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":1,"output_tokens":1}}}\n\n',
        'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
      ],
    },
    kind: 'unavailable',
    dialects: ['anthropic'],
  },
  {
    title: 'garbage in a frame',
    reply: { frames: ['data: {"choices": [oops\n\n'] },
    kind: 'unusable_reply',
    dialects: ['openai-chat', 'anthropic', 'google'],
  },
  {
    title: 'a stop by the content filter',
    reply: { text: 'I would', finish: 'content_filter' },
    kind: 'content_policy',
    partialText: 'I would',
    dialects: ['openai-chat'],
  },
]

for (const { title, reply, kind, retryAfterMs, partialText, dialects = ALL } of ROWS) {
  test(`${title} is ${kind}, in every dialect that can meet it`, async () => {
    if (reply.hang !== undefined) stopClock()
    for (const dialect of dialects) {
      const server = await scriptedModel(reply)
      const asked = (await modelAt(server, dialect, { ...DEPS, patience: PATIENCE })).ask(PROMPT)
      if (reply.hang !== undefined) await expect.poll(async () => (await server.requests()).length).toBe(1)
      const failure = await (reply.hang === undefined ? failureOf(asked) : failureLate(asked))
      expect({ dialect, kind: failure.kind }).toEqual({ dialect, kind })
      if (retryAfterMs !== undefined) expect(failure.retryAfterMs).toBe(retryAfterMs)
      if (partialText !== undefined) expect(failure.partialText).toBe(partialText)
      // A sentence for people, with nothing in it that is not theirs to see.
      expect(failure.message).toMatch(/^[A-Z].{20,}[.!…]$/s)
      expect(failure.message).not.toContain('canary')
      expect(failure.message).not.toMatch(/https?:|undefined|\[object/)
      expect(await server.requests()).toHaveLength(1)
    }
  })
}

const BREAKS = [
  { how: 'hang', kind: 'timeout' },
  { how: 'reset', kind: 'broken_stream' },
  { how: 'end', kind: 'broken_stream' },
  { how: 'half', kind: 'broken_stream' },
] as const

for (const { how, kind } of BREAKS) {
  test(`a stream that breaks off in its middle (${how}) is ${kind} and keeps what was written`, async () => {
    if (how === 'hang') stopClock()
    for (const dialect of ALL) {
      const before = { 'openai-chat': 3, anthropic: 4, google: 2, 'openai-responses': 4 }[dialect]
      const server = await scriptedModel({ text: TEXT, chunkChars: 10, breakAfter: before, breakHow: how })
      const shown: string[] = []
      const asked = (await modelAt(server, dialect, { ...DEPS, patience: PATIENCE })).ask(PROMPT, {
        onDelta: (delta) => void (delta.kind === 'text' && shown.push(delta.text)),
      })
      if (how === 'hang') await expect.poll(() => shown.join('').length).toBe(20)
      const failure = await (how === 'hang' ? failureLate(asked) : failureOf(asked))
      expect({ dialect, kind: failure.kind }).toEqual({ dialect, kind })
      expect(failure.partialText).toBe(TEXT.slice(0, 20))
      expect(shown.join('')).toBe(failure.partialText)
      expect(failure.isPassing).toBe(true)
    }
  })
}

test('a server that nobody runs is unavailable, and an address of the inside is refused without being asked', async () => {
  const nobody = { baseUrl: 'http://127.0.0.1:9/v1', googleUrl: 'http://127.0.0.1:9/v1beta' }
  const inside = ['http://10.0.0.1/v1', 'http://169.254.169.254/v1', 'http://localhost:11434/v1', 'http://[::1]/v1']
  for (const dialect of ALL) {
    expect((await failureOf((await modelAt(nobody, dialect)).ask(PROMPT))).kind).toBe('unavailable')
    for (const address of inside) {
      let asked = 0
      const refused: typeof fetch = () => {
        asked += 1
        return Promise.reject(new Error('asked'))
      }
      const server = { baseUrl: address, googleUrl: address }
      const model = await modelAt(server, dialect, { ...DEPS, fetch: refused })
      const failure = await failureOf(model.ask(PROMPT))
      expect([dialect, address, failure.kind, asked]).toEqual([dialect, address, 'address_refused', 0])
    }
  }
})

test('a name that nobody has, a server without TLS and one that takes no connection fail in the time that is allowed', async () => {
  const server = await scriptedModel({ text: 'never heard' })
  const over = (baseUrl: string) => ({ baseUrl, googleUrl: baseUrl.replace(/v1$/, 'v1beta') })
  const hangs: typeof fetch = (_url, init) =>
    new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)))
  const rows = [
    { title: 'DNS', at: over('https://no-such-host.invalid/v1'), kind: 'unavailable', fetch: undefined },
    { title: 'TLS', at: over(server.baseUrl.replace('http:', 'https:')), kind: 'unavailable', fetch: undefined },
    { title: 'connect', at: over(server.baseUrl), kind: 'timeout', fetch: hangs },
  ] as const
  // The two ways of speaking that have code of their own below the dialects.
  for (const dialect of ['openai-chat', 'anthropic'] as const) {
    for (const { title, at, kind, fetch: by } of rows) {
      const deps = { ...DEPS, patience: { ...PATIENCE, firstByteMs: by === undefined ? 60_000 : 300 } }
      const model = await modelAt(at, dialect, by === undefined ? deps : { ...deps, fetch: by })
      const failure = await failureOf(model.ask(PROMPT))
      expect([title, dialect, failure.kind, failure.isPassing]).toEqual([title, dialect, kind, true])
      expect(failure.message).toMatch(/^[A-Z].{20,}[.!…]$/s)
      expect(failure.message).not.toMatch(/https?:|canary|internal error/)
    }
  }
  expect(await server.requests()).toHaveLength(0)
})

test('an answer that flows slowly is never cut, however long it takes beyond every limit of silence', async () => {
  stopClock()
  for (const dialect of ALL) {
    const server = await scriptedModel({ text: TEXT, chunkChars: 4 })
    const reply = await (await modelAt(server, dialect, { ...DEPS, patience: PATIENCE, fetch: slowly })).ask(PROMPT)
    expect(reply.text).toBe(TEXT)
    expect(reply.latencyMs).toBeGreaterThan(5 * PATIENCE.idleMs)
  }
})

/** Answers in small pieces, each of them nearly half the time allowed after the one before; one piece may be read ahead. */
const slowly: typeof fetch = async (input, init) => {
  const { status, headers, body } = await fetch(input, init)
  const pieces = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      for (let at = 0; at < chunk.byteLength; at += 50) controller.enqueue(chunk.slice(at, at + 50))
    },
  })
  const reader = body?.pipeThrough(pieces).getReader()
  const slow = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const piece = await reader?.read()
        vi.advanceTimersByTime(0.45 * PATIENCE.idleMs)
        if (piece?.value === undefined) controller.close()
        else controller.enqueue(piece.value)
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(slow, { status, headers })
}

test('a total limit cuts even what flows, when the operator set one', async () => {
  const server = await scriptedModel({ text: TEXT, chunkChars: 3, chunkDelayMs: 60 })
  const patience = { firstByteMs: 5000, idleMs: 5000, totalMs: 300 }
  expect((await failureOf((await modelAt(server, 'openai-chat', { ...DEPS, patience })).ask(PROMPT))).kind).toBe(
    'timeout',
  )
})

test('a caller who gives up gets the reason that it gave, at any moment, and the server sees it go', async () => {
  for (const dialect of ALL) {
    for (const reply of [{ hang: 'head' }, { hang: 'body' }, { text: TEXT, chunkChars: 5, heldAfter: 5 }] as const) {
      const server = await scriptedModel(reply)
      const stop = new AbortController()
      const reason = new Error('the user pressed stop')
      const model = await modelAt(server, dialect, { ...DEPS, patience: PATIENCE })
      const asked = model.ask(PROMPT, { signal: stop.signal })
      await expect.poll(async () => (await server.requests()).length).toBe(1)
      stop.abort(reason)
      await expect(asked).rejects.toBe(reason)
      await expect.poll(async () => (await server.requests())[0]?.isAbandoned).toBe(true)
    }
    const before = AbortSignal.abort(new Error('too late'))
    const server = await scriptedModel({ text: 'never' })
    await expect((await modelAt(server, dialect)).ask(PROMPT, { signal: before })).rejects.toThrow('too late')
    expect(await server.requests()).toHaveLength(0)
  }
})
