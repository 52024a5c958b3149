import { expect, test } from 'vitest'
import { z } from 'zod'
import { apiFor, orNull } from '../../../src/git-providers/api-client.ts'
import { CLOSED } from '../../helpers/policies.ts'

type Call = { url: string; headers: Record<string, string> }

function api(answers: (() => Response)[], token = crypto.randomUUID()) {
  const calls: Call[] = []
  const fetch = async (url: string, { headers }: RequestInit) => {
    calls.push({ url, headers: headers as Record<string, string> })
    const answer = answers[calls.length - 1]
    if (answer === undefined) throw new Error('asked once more than answers were made')
    return answer()
  }
  const options = {
    base: 'http://hub.test',
    door: { policy: CLOSED },
    timeoutMs: 30_000,
    signal: new AbortController().signal,
    headers: {},
    fetch,
  }
  return { calls, ask: apiFor({ provider: 'github', token, host: null }, options) }
}

const Shape = z.object({ n: z.number() })

test('what is no longer fresh is asked for with its tag, and "not modified" gives the answer and its link again', async (context) => {
  const link = '<http://hub.test/x?page=2>; rel="next"'
  const { calls, ask } = api([
    () => Response.json({ n: 1 }, { headers: { etag: '"a"', link } }),
    () => new Response(null, { status: 304, headers: { etag: '"a"' } }),
    () => Response.json({ n: 2 }, { headers: { etag: '"b"' } }),
  ])
  const { now } = Date
  const begun = now()
  let passed = 0
  Date.now = () => begun + passed
  context.onTestFinished(() => {
    Date.now = now
  })
  const page = () => ask.page('/x', Shape)
  expect(await page()).toEqual({ value: { n: 1 }, link })
  expect(await page()).toEqual({ value: { n: 1 }, link })
  expect(calls.length).toBe(1)
  passed = 11_000
  expect(await page()).toEqual({ value: { n: 1 }, link })
  expect(calls[1]?.headers['if-none-match']).toBe('"a"')
  passed = 22_000
  expect(await page()).toEqual({ value: { n: 2 }, link: null })
  expect(calls.length).toBe(3)
})

test('answers of another shape, errors of GraphQL and what is not there each have their own word', async () => {
  const json = (body: unknown, status = 200) => [() => Response.json(body, { status })]
  const graphql = (body: unknown) =>
    api(json(body)).ask.graphql('http://hub.test/graphql', { query: 'q', variables: {}, schema: Shape })
  await expect(api(json({ n: 'x' })).ask.get('/x', Shape)).rejects.toMatchObject({ reason: 'malformed' })
  await expect(api([() => new Response('<html>')]).ask.get('/x', Shape)).rejects.toMatchObject({ reason: 'malformed' })
  await expect(graphql({ errors: [{ message: 'no' }] })).rejects.toMatchObject({ reason: 'malformed' })
  const limited = { data: null, errors: [{ type: 'RATE_LIMITED', message: 'no' }] }
  await expect(graphql(limited)).rejects.toMatchObject({ reason: 'rate_limited' })
  expect(await graphql({ data: { n: 1 }, errors: [{ type: 'FORBIDDEN', message: 'one node' }] })).toEqual({ n: 1 })
  expect(await orNull(api(json({}, 404)).ask.get('/x', Shape))).toBeNull()
  await expect(orNull(api(json({}, 403)).ask.get('/x', Shape))).rejects.toMatchObject({ status: 403 })
})
