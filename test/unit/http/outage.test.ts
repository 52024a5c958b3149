// What the platform throws in the place of a Durable Object is an outage that a caller can wait for, not a fault of ours.

import { env, runInDurableObject } from 'cloudflare:test'
import { Hono } from 'hono'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { AppEnv } from '../../../src/http/app-env.ts'
import { readBytes } from '../../../src/http/body.ts'
import { AppError, detailEnvelope, renderError } from '../../../src/http/errors.ts'
import { setLogLevel } from '../../../src/lib/log.ts'

async function answerTo(error: unknown): Promise<{ status: number; body: unknown }> {
  const app = new Hono<AppEnv>()
  app.get('/', (c) => {
    c.set('requestId', 'r1')
    throw error
  })
  app.onError((thrown, c) => renderError(thrown, c, detailEnvelope))
  const answer = await app.request('/', {}, env)
  return { status: answer.status, body: await answer.json() }
}

const marked = (marks: object) => Object.assign(new Error('the object is away'), marks)

test('an object that is restarted in the middle of a call, or has too much to do, is answered by 503, what its code throws by 500', async () => {
  const stub = env.CONVERSATION.getByName('an object that is broken off')
  const restarted = await runInDurableObject(stub, (_, state) => state.abort('broken off')).catch(
    (error: unknown) => error,
  )
  for (const error of [marked({ retryable: true }), marked({ overloaded: true }), restarted]) {
    expect(await answerTo(error)).toEqual({
      status: 503,
      body: { detail: expect.stringMatching(/^This was broken off by a restart .* \(request r1\)$/) },
    })
  }
  expect((await answerTo(marked({ remote: true, retryable: true }))).status).toBe(500)
  expect((await answerTo(new Error('a mistake'))).status).toBe(500)
})

test('a body that the client breaks off is no fault of the service, and whatever else fails while it is read still is', async () => {
  const lines: string[] = []
  const spy = vi.spyOn(console, 'log').mockImplementation((line: string) => lines.push(line))
  onTestFinished(() => {
    spy.mockRestore()
    setLogLevel('silent')
  })
  const lost = Object.assign(new Error('Network connection lost.'), { retryable: true })
  const brokenOff = (error: Error) =>
    new Request('http://bellwether.test/', {
      method: 'POST',
      body: new ReadableStream({
        start: (controller) => controller.enqueue(new TextEncoder().encode('{"a":')),
        pull: (controller) => controller.error(error),
      }),
    })
  const app = new Hono<AppEnv>()
  app.onError((error, c) => renderError(error, c, detailEnvelope))
  app.use(async (_, next) => {
    // The configuration, once it is read, has set it to what holds for tests.
    setLogLevel('info')
    await next()
  })
  app.post('/read', async (c) => c.json(Array.from(await readBytes(c.req.raw, 1_000))))
  app.post('/object', () => {
    throw lost
  })
  const statusOf = async (path: string, error: Error) => {
    const request = brokenOff(error)
    return (await app.request(new Request(`http://bellwether.test${path}`, request), {}, env)).status
  }
  expect(await statusOf('/read', lost)).toBe(408)
  expect(await statusOf('/read', new AppError('payload_too_large', 'too long'))).toBe(413)
  expect(lines).toEqual([])
  expect(await statusOf('/object', lost)).toBe(503)
  expect(lines).toEqual([expect.stringContaining('http.uncaught')])
})
