// What the platform throws in the place of a Durable Object is an outage that a caller can wait for, not a fault of ours.

import { env, runInDurableObject } from 'cloudflare:test'
import { Hono } from 'hono'
import { expect, test } from 'vitest'
import type { AppEnv } from '../../../src/http/app-env.ts'
import { detailEnvelope, renderError } from '../../../src/http/errors.ts'

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
