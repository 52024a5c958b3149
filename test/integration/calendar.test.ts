import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { answerStore } from '../../src/db/market-state.ts'
import { addDays, localDate } from '../../src/market/calendar.ts'
import { type Client, client, request } from '../helpers/app.ts'

const PATH = '/api/v1/calendar'
const headers = { 'accept-language': 'en' }
type Day = { id: string; kind: string; date: string; stock_code: string; amount_per_share: number | null } & {
  held_quantity: number | null
  expected_amount: number | null
  notice: string | null
  ex_date: string | null
}
type Calendar = {
  from: string
  to: string
  items: Day[]
  total: number
  listings: { stock_code: string; state: string; message: string | null; notice: string | null }[]
}
const today = () => localDate('cn', Date.now())

async function watching(...codes: string[]): Promise<Client> {
  const ann = await client()
  const made = await ann.ask('/api/v1/analysis/watchlists', {
    method: 'POST',
    body: { name: 'One', stock_codes: codes },
  })
  expect(made.status).toBe(201)
  return ann
}

const ask = (who: Client, query: string) => who.json<Calendar>(`${PATH}?${query}`, { headers })

test('every listing that is watched has a row: its days, or that no source tells them; nobody sees the days of another', async () => {
  const ann = await watching('600519', 'AAPL', '600000', 'SPX')
  const year = `from=${today()}&to=${addDays(today(), 366)}`
  const found = await ask(ann, year)
  expect(found.listings.map(({ stock_code, state, notice }) => [stock_code, state, notice])).toEqual([
    ['600519', 'known', 'synthetic'],
    ['AAPL', 'known', 'synthetic'],
    ['600000', 'no_source', null],
    [expect.stringContaining('SPX'), 'no_source', null],
  ])
  expect(found.listings[2]?.message).toBe('No configured source tells days of such a listing in the mainland')
  expect(new Set(found.items.map(({ kind }) => kind))).toEqual(new Set(['earnings', 'ex_dividend', 'dividend_payment']))
  expect(found.items.every(({ notice }) => notice === 'synthetic')).toBe(true)
  expect(found.items.map(({ date }) => date)).toEqual(found.items.map(({ date }) => date).sort())
  expect(new Set(found.items.map(({ id }) => id)).size).toBe(found.total)
  const second = await ask(ann, `${year}&page=2&page_size=3`)
  expect(second.items).toEqual(found.items.slice(3, 6))
  const results = await ask(ann, `${year}&kind=earnings&stock_codes=aapl`)
  expect(new Set(results.items.map(({ kind, stock_code }) => `${kind} ${stock_code}`))).toEqual(
    new Set(['earnings AAPL']),
  )
  const other = await client()
  expect(await ask(other, year)).toMatchObject({ items: [], listings: [], total: 0 })
})

test('a dividend of what is held says what is expected: the shares of the day before it times its amount', async () => {
  const ann = await client()
  const { id } = await (await ann.ask('/api/v1/portfolio/accounts', { method: 'POST', body: { name: 'Main' } })).json<{
    id: number
  }>()
  const trade = { account_id: id, symbol: 'AAPL', trade_date: '2025-12-02', side: 'buy', quantity: '12.5', price: 200 }
  expect((await ann.ask('/api/v1/portfolio/trades', { method: 'POST', body: trade })).status).toBe(200)
  const year = `from=${addDays(today(), 1)}&to=${addDays(today(), 200)}`
  const held = await ask(ann, `${year}&scope=holdings&kind=ex_dividend`)
  expect(held.total).toBeGreaterThan(0)
  for (const { held_quantity, amount_per_share, expected_amount } of held.items) {
    expect(held_quantity).toBe(12.5)
    expect(expected_amount).toBe(Number((12.5 * (amount_per_share ?? Number.NaN)).toFixed(8)))
  }
  // Before it was bought nothing was paid.
  const before = await ask(ann, `from=2025-06-01&to=2025-11-30&scope=holdings&kind=ex_dividend`)
  expect(before.items.map((one) => [one.held_quantity, one.expected_amount])).toEqual(before.items.map(() => [0, null]))
  expect((await ask(ann, `${year}&scope=watchlist`)).listings).toEqual([])
  const missing = await ann.ask(`${PATH}?account_id=999`, { headers })
  expect([missing.status, await missing.json()]).toMatchObject([404, { error: 'not_found' }])
  expect((await ann.ask(`${PATH}?watchlist_id=none`)).status).toBe(404)
})

test('what cannot be asked is refused with the field that is wrong', async () => {
  const ann = await client()
  const refusal = async (query: string) => {
    const answer = await ann.ask(`${PATH}?${query}`, { headers })
    return [answer.status, (await answer.json<{ message?: string }>()).message]
  }
  expect(await refusal('from=2026-02-01&to=2026-01-01')).toEqual([400, 'from: 2026-02-01 is after 2026-01-01'])
  expect(await refusal('from=2026-02-01&to=2028-01-01')).toEqual([400, 'to: at most 366 days after the first'])
  expect((await ask(ann, 'from=9999-01-01&to=9999-12-31')).to).toBe('9999-12-31')
  expect((await ask(ann, 'from=9999-12-31')).to).toBe('9999-12-31')
  expect(await refusal('stock_codes=,')).toEqual([400, 'stock_codes: 0 codes; name 1 to 50'])
  expect((await refusal('stock_codes=neverheardofit1'))[0]).toBe(400)
  expect((await refusal('from=2026-02-30'))[0]).toBe(422)
  expect((await refusal('kind=split'))[0]).toBe(422)
})

test('the file for calendars has the same days, names what it has no days of, and is text', async () => {
  const ann = await watching('MSFT', '600000')
  const year = `from=${today()}&to=${addDays(today(), 200)}`
  const { items } = await ask(ann, year)
  const file = await ann.ask(`${PATH}.ics?${year}`, { headers })
  expect(file.headers.get('content-type')).toBe('text/calendar; charset=utf-8')
  expect(file.headers.get('content-disposition')).toBe('attachment; filename="calendar.ics"')
  const text = (await file.text()).replaceAll('\r\n ', '')
  expect([...text.matchAll(/^UID:(.*)@bellwether\r$/gm)].map(([, uid]) => uid)).toEqual(items.map(({ id }) => id))
  expect(text).toContain('X-WR-CALNAME:Results and dividends (days not known of: 600000)')
  expect(text).toContain('synthetic\\n')
})

test('a kept answer is told with its age when the source fails, and is asked for again only when it is old', async () => {
  const ann = await watching('TSLA')
  const to = addDays(today(), 20)
  const day = addDays(today(), 10)
  const body = JSON.stringify({
    earnings: [{ from: day, to: day, certainty: 'scheduled', period: null }],
    ...{ dividends: [], leftOut: 3 },
  })
  const keep = (age: number) =>
    answerStore(env.DB).put('company_events', 'TSLA', { body, provider: 'yahoo', keptAt: Date.now() - age * 3_600_000 })
  const down = { MARKET_DATA: 'yahoo', YAHOO_URL: 'http://127.0.0.1:9', YAHOO_COOKIE_URL: 'http://127.0.0.1:9' }
  const told = async () => {
    const { items, listings } = await (
      await request(`${PATH}?from=${today()}&to=${to}`, { headers: { ...headers, 'x-session-api-key': ann.key } }, down)
    ).json<Calendar>()
    return [items.map(({ date }) => date), listings]
  }
  await keep(5)
  expect(await told()).toMatchObject([[day], [{ state: 'known', source: 'yahoo', is_stale: false, left_out: 3 }]])
  await keep(50)
  expect(await told()).toMatchObject([[day], [{ state: 'known', source: 'yahoo', is_stale: true }]])
  await keep(24 * 40)
  expect(await told()).toMatchObject([[], [{ state: 'failed', is_stale: false }]])
})
