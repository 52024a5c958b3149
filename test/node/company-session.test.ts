import { expect, test } from 'vitest'
import { parseCode } from '../../src/market/instruments.ts'
import { createMarketData } from '../../src/market/providers/index.ts'
import { startLoopbackMarket } from '../support/loopback-market.ts'

test('over real connections, results come after one session is made, and the next company needs none', async () => {
  const market = await startLoopbackMarket()
  try {
    const variables = { YAHOO_URL: market.url, YAHOO_COOKIE_URL: market.url }
    const data = () => createMarketData({ providers: ['yahoo'], variables })
    const ask = async (code: string) => {
      const parsed = parseCode(code)
      if (!parsed.ok) throw new Error(parsed.reason)
      market.asked.length = 0
      const fetched = await (await data()).fundamentals(parsed.instrument)
      return fetched.ok ? fetched.value : fetched.runs
    }
    expect(await ask('AAPL')).toMatchObject({ report: { period: 'quarter', currency: 'USD', roePct: 50 } })
    expect(market.asked.filter((path) => !path.startsWith('/v8/'))).toEqual([
      '/ws/fundamentals-timeseries/v1/finance/timeseries/AAPL',
      '/',
      '/v1/test/getcrumb',
      '/ws/fundamentals-timeseries/v1/finance/timeseries/AAPL',
    ])
    expect(await ask('HK00700')).toMatchObject({
      report: { currency: 'CNY' },
      dividends: [{ currency: 'HKD' }, {}, {}, {}],
    })
    expect(market.asked.filter((path) => !path.startsWith('/v8/'))).toHaveLength(1)
  } finally {
    await market.close()
  }
})
