import type { Fetch } from '../lib/http-client.ts'

/** GitHub says "forbidden" where it means "too often", which tells nothing about the token. */
export function tellingQuota(ask: Fetch): Fetch {
  return async (url, init) => {
    const response = await ask(url, init)
    const { headers } = response
    const isQuota = headers.get('x-ratelimit-remaining') === '0' || headers.has('retry-after')
    if (response.status !== 403 || !isQuota) return response
    await response.body?.cancel()
    return new Response(null, { status: 429, headers: { 'retry-after': headers.get('retry-after') ?? '60' } })
  }
}
