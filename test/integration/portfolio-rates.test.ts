import { env } from 'cloudflare:workers'
import { expect, inject, test } from 'vitest'
import { referenceDays } from '../../src/db/reference-rates.ts'
import { takeTurn } from '../../src/db/upkeep.ts'
import { formatAmount, parseAmount } from '../../src/lib/decimal.ts'
import { rateFinder } from '../../src/portfolio/rates.ts'
import { daysIn, newestDue, refreshReference } from '../../src/portfolio/reference-rates.ts'
import { converted } from '../../src/portfolio/valuation.ts'
import { onCron } from '../../src/schedule/cron.ts'
import { type Client, client, request } from '../helpers/app.ts'
import { ecbDay, ecbXml } from '../support/ecb-files.ts'

const BASE = '/api/v1/portfolio'
const SOURCE = 'ecb'

/** Nothing is known, and the source may be asked at once. */
async function forget(): Promise<void> {
  await env.DB.batch([
    env.DB.prepare('DELETE FROM reference_rates'),
    env.DB.prepare("DELETE FROM upkeep_jobs WHERE name IN ('fx-refresh', 'fx-rates')"),
  ])
}

const refresh = async (who: Client, address: string, vars: Record<string, string> = {}) => {
  const init = { method: 'POST', headers: { 'x-session-api-key': who.key } }
  const url = `http://${inject('providerHost')}${address}`
  const answer = await request(`${BASE}/fx/refresh`, init, { FX_RATES: 'ecb', ECB_URL: url, ...vars })
  expect(answer.status).toBe(200)
  return answer.json<Record<string, unknown>>()
}

test('the newest day that is out is that of the last working day of the bank, from the afternoon on', () => {
  const at = (text: string) => Date.parse(`${text}Z`)
  expect(newestDue('2026-11-27', at('2026-11-27T16:00'))).toBe('2026-11-27')
  expect(newestDue('2026-11-28', at('2026-11-27T16:00'))).toBe('2026-11-27')
  expect(newestDue('2026-11-27', at('2026-11-27T12:00'))).toBe('2026-11-26')
  expect(newestDue('2026-11-29', at('2026-11-29T23:00'))).toBe('2026-11-27')
  // Easter Monday and Good Friday of 2026, Christmas, New Year.
  expect(newestDue('2026-04-06', at('2026-11-27T12:00'))).toBe('2026-04-02')
  expect(newestDue('2025-12-26', at('2026-11-27T12:00'))).toBe('2025-12-24')
  expect(newestDue('2026-01-01', at('2026-11-27T12:00'))).toBe('2025-12-31')
})

test('a file of the bank is read by its own form, and another text is none', () => {
  const xml = ecbXml([
    ecbDay('2026-11-27', { USD: '1.1583', CNY: '8.2105', BAD: '0', EUR: '1' }),
    ecbDay('2026-11-26', { USD: '1.16' }).replaceAll('"', "'"),
    ecbDay('2026-11-25', { USD: '1.17' }),
  ])
  expect(daysIn(xml, { since: '2026-11-25', latest: '2026-11-27' })).toEqual([
    { date: '2026-11-27', rates: { USD: '1.1583', CNY: '8.2105' } },
    { date: '2026-11-26', rates: { USD: '1.16' } },
  ])
  expect(daysIn(xml, { since: '2026-11-27', latest: '2026-11-27' })).toEqual([])
  for (const text of [
    '',
    '<html>',
    ecbXml([]),
    ecbXml([ecbDay('2026-11-27', { USD: '-1' })]),
    ecbXml([ecbDay('2999-01-01', { USD: '1' })]),
  ]) {
    expect(() => daysIn(text, { since: '2026-11-25', latest: '2026-11-27' })).toThrow('malformed')
  }
})

test('cross rates are exact fractions: what is converted is rounded once, and turning a rate round loses nothing', () => {
  const reference = [
    { date: '2026-11-27', rates: { USD: '1.1583', CNY: '8.2105' } },
    { date: '2026-11-26', rates: { KRW: '1704.63', CNY: '8.2' } },
  ]
  const rate = rateFinder([], '2026-11-28', reference)
  const shown = (from: string, to: string) => {
    const found = rate(from, to)
    return found === null ? null : [formatAmount(found.rate), found.date, found.source]
  }
  expect(shown('USD', 'CNY')).toEqual(['7.08840542', '2026-11-27', 'ECB'])
  expect(shown('EUR', 'USD')).toEqual(['1.1583', '2026-11-27', 'ECB'])
  expect(shown('KRW', 'CNY')).toEqual(['0.00481043', '2026-11-26', 'ECB'])
  expect(shown('TWD', 'CNY')).toBe(null)
  const won = rate('KRW', 'CNY')
  const amount = parseAmount('123456789012.5') ?? 0n
  // 123456789012.5 × 8.2 / 1704.63, with more places than the rate is shown with.
  expect(won && formatAmount(converted(amount, won))).toBe('593880003.22797323')
  const own = { currency: 'CNY', quote: 'KRW', date: '2026-11-27', rate: parseAmount('3') ?? 0n }
  const turned = rateFinder([own], '2026-11-27')('KRW', 'CNY')
  expect(turned && formatAmount(converted(parseAmount('3000000000') ?? 0n, turned))).toBe('1000000000')
  // Of the same day the owner's counts, else the newer one.
  const both = (date: string) =>
    rateFinder([{ currency: 'USD', quote: 'CNY', date, rate: 700_000_000n }], '2026-11-28', reference)
  expect(both('2026-11-27')('USD', 'CNY')?.source).toBe('owner')
  expect(both('2026-11-26')('USD', 'CNY')?.source).toBe('ECB')
  expect(rateFinder([], '2026-12-05', reference)('USD', 'CNY')).toBe(null)
})

test('rates are fetched once, serve totals with their day and source, and a currency without any is named', async () => {
  await forget()
  const ann = await client()
  const { id } = await ann.json<{ id: number }>(`${BASE}/accounts`, { method: 'POST', body: { name: 'Main' } })
  const today = new Date().toISOString().slice(0, 10)
  const pay = (currency: string, amount: number) => {
    const body = { account_id: id, event_date: today, direction: 'in', amount, currency }
    return ann.json(`${BASE}/cash-ledger`, { method: 'POST', body })
  }
  await pay('USD', 1_000)
  const first = await refresh(ann, '/ecb')
  expect(first).toMatchObject({
    account_count: 1,
    refresh_enabled: true,
    pair_count: 1,
    error_count: 0,
    source_error: null,
  })
  const known = await referenceDays(env.DB, { source: SOURCE, from: '2000-01-01', to: '2999-01-01' })
  // As far back as a valuation looks, and no further.
  expect(known.length).toBeGreaterThan(500)
  const snapshot = await ann.json<Record<string, unknown>>(`${BASE}/snapshot`)
  expect(snapshot).toMatchObject({ missing_rates: [], total_cash: 7078.01724138 })
  await pay('TWD', 1)
  expect(await refresh(ann, '/down')).toMatchObject({
    pair_count: 2,
    error_count: 1,
    missing_rates: ['TWD/CNY'],
    source_error: null,
  })
  expect(await ann.json(`${BASE}/snapshot`)).toMatchObject({ total_cash: null, missing_rates: ['TWD/CNY'] })
})

test('a source that is down, redirects inside, or answers with something else is told, changes nothing, and is left alone for a while', async () => {
  const ann = await client()
  await ann.json(`${BASE}/accounts`, { method: 'POST', body: { name: 'Main', base_currency: 'USD' } })
  for (const [address, why] of [
    ['/page', /malformed/],
    ['/down', /503/],
    ['/huge', /too_large/],
    ['/ecb/inward', /redirect/],
  ] as const) {
    await forget()
    const told = await refresh(ann, address)
    expect([address, told.source_error]).toEqual([address, expect.stringMatching(why)])
    expect(await referenceDays(env.DB, { source: SOURCE, from: '2000-01-01', to: '2999-01-01' })).toEqual([])
    expect((await refresh(ann, address)).source_error).toBe(null)
  }
  await forget()
  expect(await refresh(ann, '/ecb', { FX_RATES: 'off' })).toMatchObject({
    ...{ refresh_enabled: false, disabled_reason: 'disabled_by_operator', updated_count: 0 },
  })
  expect(await referenceDays(env.DB, { source: SOURCE, from: '2000-01-01', to: '2999-01-01' })).toEqual([])
})

test('a gap is filled with the smallest file that covers it, and the cron trigger does so too', async () => {
  await forget()
  const asked: string[] = []
  const now = Date.parse('2026-11-27T17:00:00Z')
  const source = {
    url: 'https://bank.example',
    timeoutMs: 5_000,
    fetch: async (url: string) => {
      asked.push(url.split('/').at(-1) ?? '')
      return new Response(
        ecbXml([
          ecbDay('2026-11-27', { USD: '1' }),
          ecbDay('2026-11-26', { USD: '2' }),
          ecbDay('2025-11-26', { USD: '2' }),
        ]),
      )
    },
  }
  await refreshReference(env.DB, source, now)
  expect(await refreshReference(env.DB, source, now)).toBe(0)
  await env.DB.prepare("DELETE FROM reference_rates WHERE date = '2026-11-27'").run()
  expect(await refreshReference(env.DB, source, now)).toBe(1)
  await env.DB.prepare("DELETE FROM reference_rates WHERE date > '2026-01-01'").run()
  await refreshReference(env.DB, source, now)
  await env.DB.prepare("UPDATE reference_rates SET date = '2026-10-01' WHERE date = '2026-11-26'").run()
  await env.DB.prepare("DELETE FROM reference_rates WHERE date = '2026-11-27'").run()
  await refreshReference(env.DB, source, now)
  expect(asked).toEqual(['eurofxref-hist.xml', 'eurofxref-daily.xml', 'eurofxref-hist.xml', 'eurofxref-hist-90d.xml'])
  await forget()
  // The other jobs have had their turn, for this test alone.
  const others = ['evidence', 'names', 'lists', 'bars', 'advice-bars', 'calendars', 'queue', 'notices', 'deliveries']
  await Promise.all(others.map((name) => takeTurn(env.DB, { name, now: Date.now(), everyMs: 3_600_000 })))
  const host = `http://${inject('providerHost')}`
  const down = `${host}/down`
  const sources = { FX_RATES: 'ecb', MARKET_DATA: 'eastmoney', ECB_URL: `${host}/ecb` }
  const prices = { EASTMONEY_QUOTE_URL: down, EASTMONEY_HISTORY_URL: down }
  const lists = { NASDAQ_TRADER_URL: down, MOPS_URL: down, KIND_URL: down }
  await onCron({ ...env, ...sources, ...prices, ...lists } as Env, Date.now())
  expect(
    (await referenceDays(env.DB, { source: SOURCE, from: '2000-01-01', to: '2999-01-01' })).length,
  ).toBeGreaterThan(500)
  await env.DB.prepare('DELETE FROM upkeep_jobs').run()
  await forget()
})
