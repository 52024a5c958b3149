import { expect, test } from 'vitest'
import { type Fetch, requestBytes, requestJson, requestText, UpstreamError } from '../../../src/lib/http-client.ts'
import { heldTimers } from '../../helpers/timers.ts'

const URL_WITH_SECRET = 'http://api.test/v1?key=s3cret'

/** A fetch that gives the replies one after another; `hang` never answers. */
function scripted(...replies: (Response | Error | 'hang')[]): { fetch: Fetch; inits: RequestInit[] } {
  const inits: RequestInit[] = []
  const fetch: Fetch = async (_url, init) => {
    inits.push(init)
    const reply = replies[inits.length - 1] ?? new Error('no reply left')
    if (reply instanceof Error) throw reply
    return reply === 'hang' ? new Promise<Response>(() => {}) : reply
  }
  return { fetch, inits }
}

async function failureOf(promise: Promise<unknown>): Promise<UpstreamError> {
  const outcome = await promise.then(
    () => null,
    (error: unknown) => error,
  )
  if (!(outcome instanceof UpstreamError)) throw new Error(`not an UpstreamError: ${outcome}`)
  return outcome
}

const reply = (status: number, headers: Record<string, string> = {}) => new Response('body', { status, headers })
const service = 'thing'

test('passing trouble is tried again and the answer then counts', async () => {
  const { fetch, inits } = scripted(
    new Error('connection lost'),
    reply(503, { 'retry-after': '0' }),
    new Response('{"a":1}'),
  )
  const headers = { 'user-agent': 'test' }
  expect(await requestJson('http://api.test/', { service, fetch, headers })).toEqual({ a: 1 })
  expect(inits).toHaveLength(3)
  expect(inits[0]).toMatchObject({ method: 'GET', headers })
})

test('a 429 waits as long as it says, and one that says too long is given up at once', async () => {
  const patient = scripted(reply(429, { 'retry-after': '1' }), new Response('fine'))
  const wait = heldTimers(1_000)
  const asking = requestText('http://api.test/', { service, fetch: patient.fetch })
  await expect.poll(() => wait.waiting).toBe(1)
  expect(patient.inits).toHaveLength(1)
  wait.goOff()
  expect(await asking).toBe('fine')

  const long = scripted(reply(429, { 'retry-after': '3600' }), new Response('never asked'))
  const error = await failureOf(requestText('http://api.test/', { service, fetch: long.fetch }))
  expect(error).toMatchObject({ reason: 'rate_limited', status: 429, retryable: true, retryAfterMs: 3_600_000 })
  expect(long.inits).toHaveLength(1)

  const date = scripted(reply(429, { 'retry-after': new Date(Date.now() + 3_600_000).toUTCString() }))
  const dated = await failureOf(requestText('http://api.test/', { service, fetch: date.fetch }))
  expect(dated.retryAfterMs).toBeGreaterThan(1_800_000)
})

test('retries run out, and what cannot get better is not tried again', async () => {
  const down = scripted(reply(500), reply(500), reply(500), new Response('too late'))
  expect(await failureOf(requestText('http://api.test/', { service, fetch: down.fetch, retries: 1 }))).toMatchObject({
    message: 'thing: http_status (HTTP 500)',
    status: 500,
    retryable: true,
  })
  expect(down.inits).toHaveLength(2)
  const forbidden = scripted(reply(403), new Response('never asked'))
  expect(await failureOf(requestText('http://api.test/', { service, fetch: forbidden.fetch }))).toMatchObject({
    status: 403,
    retryable: false,
  })
  expect(forbidden.inits).toHaveLength(1)
  const posted = scripted(reply(502), new Response('never asked'))
  await failureOf(requestText('http://api.test/', { service, fetch: posted.fetch, method: 'POST', body: '{}' }))
  expect(posted.inits).toHaveLength(1)
})

test('a peer that never answers, or stops in the middle, is a timeout', async () => {
  const silent = scripted('hang', 'hang')
  const options = { service, timeoutMs: 60, retries: 0 }
  expect(await failureOf(requestText('http://api.test/', { ...options, fetch: silent.fetch }))).toMatchObject({
    message: 'thing: timeout (60 ms)',
    retryable: true,
  })
  const stalled = new Response(
    new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode('{"half":')),
      pull: () => new Promise(() => {}),
    }),
  )
  const half = scripted(stalled)
  expect((await failureOf(requestJson('http://api.test/', { ...options, fetch: half.fetch }))).reason).toBe('timeout')
})

test('a body over the limit is refused by its announced and by its real length', async () => {
  const options = { service, maxBytes: 10 }
  const announced = scripted(new Response('x', { headers: { 'content-length': '11' } }))
  const endless = new Response(
    new ReadableStream({ pull: (controller) => controller.enqueue(new TextEncoder().encode('0123456')) }),
  )
  for (const { fetch } of [announced, scripted(endless)]) {
    const error = await failureOf(requestBytes('http://api.test/', { ...options, fetch }))
    expect(error).toMatchObject({ message: 'thing: too_large (HTTP 200, more than 10 bytes)', retryable: false })
  }
  const exact = scripted(new Response('0123456789'))
  expect((await requestBytes('http://api.test/', { ...options, fetch: exact.fetch })).bytes).toHaveLength(10)
})

test('a page instead of JSON is told apart, and other encodings are read', async () => {
  const page = scripted(new Response('<html>', { headers: { 'content-type': 'text/html; charset=utf-8' } }))
  expect(await failureOf(requestJson('http://api.test/', { service, fetch: page.fetch }))).toMatchObject({
    message: 'thing: not_json (HTTP 200, text/html; charset=utf-8)',
    retryable: false,
  })
  const gbk = scripted(new Response(new Uint8Array([0xc3, 0xa9, 0xcc, 0xa8])))
  expect(await requestText('http://api.test/', { service, fetch: gbk.fetch, encoding: 'gbk' })).toBe('茅台')
})

test('no part of an error quotes the address, even when the runtime does', async () => {
  for (const failing of [new Error(`cannot reach ${URL_WITH_SECRET}`), reply(400), new Response('<')]) {
    const error = await failureOf(requestJson(URL_WITH_SECRET, { service, fetch: scripted(failing).fetch, retries: 0 }))
    const cause = error.cause instanceof Error ? `${error.cause.message} ${error.cause.stack}` : ''
    expect(`${error.message} ${error.stack} ${cause}`).not.toContain('s3cret')
  }
})

test('the caller ends a request, and a wait between two, with its own reason', async () => {
  const during = new AbortController()
  const hanging = requestText('http://api.test/', { service, fetch: scripted('hang').fetch, signal: during.signal })
  during.abort(new Error('cancelled'))
  await expect(hanging).rejects.toThrow('cancelled')

  const between = new AbortController()
  const wait = heldTimers(5_000)
  const { fetch, inits } = scripted(reply(503, { 'retry-after': '5' }), new Response('never asked'))
  const waiting = requestText('http://api.test/', { service, fetch, signal: between.signal })
  await expect.poll(() => wait.waiting).toBe(1)
  between.abort(new Error('cancelled'))
  await expect(waiting).rejects.toThrow('cancelled')
  expect(inits).toHaveLength(1)

  await expect(
    requestText('http://api.test/', { service, signal: AbortSignal.abort(new Error('early')) }),
  ).rejects.toThrow('early')
})
