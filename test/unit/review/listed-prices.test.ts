import { expect, test } from 'vitest'
import { listedPrices } from '../../../src/analysis/market-review/listed-prices.ts'
import { UpstreamError } from '../../../src/lib/http-client.ts'
import { memoryGate } from '../../../src/market/providers/gate.ts'

const NOW = Date.parse('2026-08-14T10:00:00Z')
const { signal } = new AbortController()

test('all mainland prices come from the first service that has the whole list; a short, false or blocked one makes way', async () => {
  const rows = (n: number) =>
    Array.from({ length: n }, (_, i) => ({
      code: `${600000 + i}`,
      name: 'x',
      trade: '11',
      settlement: '10',
      amount: 5,
    }))
  const asked: string[] = []
  const listing = (sina: (page: number) => Response) => ({
    options: {
      providers: ['sina', 'eastmoney', 'yahoo'],
      fetch: async (url: string) => {
        const { hostname, searchParams } = new URL(url)
        asked.push(hostname)
        if (hostname.includes('sina')) return sina(Number(searchParams.get('page')))
        const page = Number(searchParams.get('pn'))
        const diff = page > 31 ? [] : rows(100).map(({ code }) => ({ f2: 11, f6: 5, f12: code, f14: 'x', f18: '-' }))
        return Response.json({ data: { total: 3100, diff } })
      },
    },
    gate: { ...memoryGate(() => NOW), turn: async () => 0 },
    clock: () => NOW,
    pauseMs: 0,
  })
  const whole = await listedPrices(
    listing((page) => Response.json(rows(page <= 31 ? 100 : 20))),
    signal,
  )
  expect([whole.prices?.length, whole.runs.map(({ provider, success }) => [provider, success])]).toEqual([
    3120,
    [['sina', true]],
  ])
  for (const bad of [
    () => Response.json(rows(20)),
    () => Response.json({ error: 1 }),
    () => new Response('<html>', { headers: { 'content-type': 'text/html' } }),
    () => new Response('', { status: 403 }),
  ]) {
    const { prices, runs } = await listedPrices(listing(bad), signal)
    expect(prices?.length).toBe(3100)
    expect(runs).toMatchObject([
      { provider: 'sina', success: false, fallbackTo: 'eastmoney' },
      { provider: 'eastmoney', success: true, fallbackFrom: 'sina' },
    ])
  }
  expect(asked).not.toContain('query1.finance.yahoo.com')
  const none = await listedPrices({ ...listing(() => new Response('')), options: { providers: ['yahoo'] } }, signal)
  expect(none).toEqual({ prices: null, runs: [] })
  const down = listing(() => {
    throw new UpstreamError({ service: 'sina', reason: 'network' })
  })
  expect((await listedPrices({ ...down, options: { ...down.options, providers: ['sina'] } }, signal)).prices).toBeNull()
})
