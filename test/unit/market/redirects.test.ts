// Where a market source redirects to is chosen by whoever answers there: every hop is checked as a stranger's address.

import { afterEach, expect, test, vi } from 'vitest'
import { parseCode } from '../../../src/market/instruments.ts'
import { createMarketData } from '../../../src/market/providers/index.ts'

afterEach(() => vi.restoreAllMocks())

const apple = () => {
  const parsed = parseCode('AAPL')
  if (!parsed.ok) throw new Error('AAPL')
  return parsed.instrument
}

type SentRequest = { url: string; headers: Headers }

/** A network in which every address answers with what `reply` says; nothing leaves the machine. */
function network(reply: (url: URL) => Response): SentRequest[] {
  const asked: SentRequest[] = []
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    asked.push({ url: String(input), headers: new Headers(init?.headers) })
    return reply(new URL(String(input)))
  })
  return asked
}

const SOURCES = ['tencent', 'yahoo', 'eastmoney', 'sina', 'finnhub', 'alphavantage']
const variables = { FINNHUB_API_KEY: 'finn-secret', ALPHAVANTAGE_API_KEY: 'alpha-secret' }
const to = (location: string, status = 302) => new Response(null, { status, headers: { location } })

const INSIDE = [
  'https://127.0.0.1:8787/api/keys',
  'https://localhost/',
  'https://10.0.0.7/',
  'https://192.168.1.1/',
  'https://169.254.169.254/latest/meta-data/',
  'https://[::1]/',
  'https://[::ffff:10.0.0.1]/',
  'https://2130706433/',
  'file:///etc/passwd',
]

test('no source gets a request sent inside, by its first redirect or by a later one, and none is tried again', async () => {
  for (const source of SOURCES) {
    for (const inside of INSIDE) {
      const asked = network(({ host }) => (host === 'hop.example' ? to(inside, 307) : to('https://hop.example/next')))
      const market = await createMarketData({ providers: [source], variables })
      const quote = await market.quote(apple())
      expect([source, inside, quote.ok, quote.runs[0]?.errorType]).toEqual([source, inside, false, 'redirect'])
      const hosts = asked.map(({ url }) => new URL(url).host)
      expect([source, inside, hosts.slice(1)]).toEqual([source, inside, ['hop.example']])
      vi.restoreAllMocks()
    }
    const direct = network(() => to('https://10.0.0.7/'))
    await (await createMarketData({ providers: [source], variables })).quote(apple())
    expect([source, direct.length]).toEqual([source, 1])
    vi.restoreAllMocks()
  }
})

test('a key stays with the source that it is for, also when that redirects to a public address', async () => {
  for (const source of ['finnhub', 'alphavantage']) {
    const asked = network(({ host }) =>
      host === 'mirror.example' ? Response.json({}) : to('https://mirror.example/x'),
    )
    await (await createMarketData({ providers: [source], variables })).quote(apple())
    const mirrored = asked.filter(({ url }) => url.startsWith('https://mirror.example'))
    expect([source, mirrored.length > 0]).toEqual([source, true])
    for (const { url, headers } of mirrored) expect(JSON.stringify([url, ...headers])).not.toContain('secret')
    vi.restoreAllMocks()
  }
})
