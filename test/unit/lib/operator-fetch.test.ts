import { expect, inject, test } from 'vitest'
import { MARKER_HEADER } from '../../../src/lib/address-policy.ts'
import { GuardedFetchError } from '../../../src/lib/guarded-fetch.ts'
import { operatorFetchOnce, requestJson, UpstreamError } from '../../../src/lib/http-client.ts'

const server = () => inject('gitServer')
const redirecting = (target: string, status = 302) =>
  `${server()}/redirect?status=${status}&to=${encodeURIComponent(target)}`

type Echo = { method: string; headers: Record<string, string>; body: string }

test('an address of the operator is asked as it is, and followed within its origin only', async () => {
  const ask = (url: string) => requestJson(url, { service: 'source', retries: 0 })
  expect(((await ask(`${server()}/echo`)) as Echo).headers[MARKER_HEADER]).toBe(undefined)
  expect(((await ask(redirecting('/echo'))) as Echo).method).toBe('GET')
  expect(((await ask(redirecting(`${server()}/echo`, 307))) as Echo).method).toBe('GET')
  for (const target of [
    `${server().replace('127.0.0.1', '127.0.0.2')}/echo`,
    `${server().replace('127.0.0.1', 'localhost')}/echo`,
    'http://169.254.169.254/latest/meta-data/',
    'http://10.0.0.1/',
    '//192.168.0.1/',
  ]) {
    const failed = await ask(redirecting(target)).catch((error: unknown) => error)
    expect([target, failed instanceof UpstreamError && failed.reason]).toEqual([target, 'redirect'])
    const cause = failed instanceof UpstreamError ? failed.cause : null
    expect(cause instanceof GuardedFetchError && cause.message).toMatch(/^The address is refused: .*not a public/)
  }
})

test('what is sent once is not sent on', async () => {
  const response = await operatorFetchOnce(redirecting('/echo'), { method: 'POST', body: 'a prompt' })
  expect([response.status, response.headers.get('location')]).toEqual([302, '/echo'])
  await response.body?.cancel()
})
