import { expect, test } from 'vitest'
import { eventsOfMany } from '../../../src/market/company-calendar.ts'
import { againstPrice, type ComingDividend, entriesOf, soundEvents } from '../../../src/market/company-events.ts'
import { createMarketData } from '../../../src/market/providers/index.ts'
import { instrument, json, status, upstream } from './upstream.ts'

const NOW = Date.parse('2026-11-27T04:00:00Z')
const seconds = (moment: string) => ({ raw: Date.parse(moment) / 1000, fmt: moment.slice(0, 10) })

const chart = (symbol: string, paid: Record<string, number>, price = 270) => ({
  chart: {
    result: [
      {
        meta: {
          ...{ symbol, currency: 'USD', regularMarketPrice: price, chartPreviousClose: price },
          regularMarketTime: Date.parse('2026-11-25T21:00:00Z') / 1000,
        },
        timestamp: [Date.parse('2026-11-24T14:30:00Z') / 1000, Date.parse('2026-11-25T14:30:00Z') / 1000],
        events: {
          dividends: Object.fromEntries(
            Object.entries(paid).map(([day, amount]) => {
              const date = Date.parse(`${day}T14:30:00Z`) / 1000
              return [date, { amount, date }]
            }),
          ),
        },
        indicators: {
          quote: [
            { open: [price, price], high: [price, price], low: [price, price], close: [price, price], volume: [1, 1] },
          ],
          adjclose: [{ adjclose: [price, price] }],
        },
      },
    ],
  },
})

const summary = (calendarEvents: object) => ({ quoteSummary: { result: [{ calendarEvents }], error: null } })

async function yahoo(rules: Parameters<typeof upstream>[0]) {
  const { fetch, asked } = upstream(rules)
  const variables = { YAHOO_URL: 'https://y.test', YAHOO_COOKIE_URL: 'https://c.test' }
  return { asked, market: await createMarketData({ providers: ['yahoo'], variables, clock: () => NOW, fetch }) }
}

test('Yahoo: a window of estimated results stays one, and the newest payment goes to the dividend that it belongs to', async () => {
  const { market, asked } = await yahoo({
    'modules=calendarEvents': json(
      summary({
        earnings: {
          earningsDate: [seconds('2027-01-28T21:00:00Z'), seconds('2027-02-01T21:00:00Z')],
          isEarningsDateEstimate: true,
        },
        // Midnight in UTC is a day, not the evening before in New York.
        exDividendDate: seconds('2026-12-10T00:00:00Z'),
        dividendDate: seconds('2026-11-13T00:00:00Z'),
      }),
    ),
    '/chart/AAPL?': json(chart('AAPL', { '2026-11-10': 0.26, '2026-08-11': 0.26 })),
  })
  const fetched = await market.companyEvents(instrument('AAPL'))
  expect(fetched).toMatchObject({ ok: true, provider: 'yahoo' })
  const blank = { recordDate: null, announcedOn: null, marks: [] }
  expect(fetched.ok && fetched.value).toEqual({
    earnings: [{ from: '2027-01-28', to: '2027-02-01', certainty: 'estimate', period: null }],
    dividends: [
      { ...blank, exDate: '2026-08-11', payDate: null, amount: 0.26, currency: 'USD' },
      { ...blank, exDate: '2026-11-10', payDate: '2026-11-13', amount: 0.26, currency: 'USD' },
      { ...blank, exDate: '2026-12-10', payDate: null, amount: null, currency: null },
    ],
    leftOut: 0,
  })
  expect(asked.filter((url) => url.includes('calendarEvents'))).toEqual([
    'https://y.test/v10/finance/quoteSummary/AAPL?modules=calendarEvents',
  ])
})

test('Yahoo: a day that nobody calls an estimate is scheduled; an estimate that is over and a company without days are no days', async () => {
  const told = async (calendarEvents: object) => {
    const { market } = await yahoo({
      calendarEvents: json(summary(calendarEvents)),
      '/chart/': json(chart('AAPL', {})),
    })
    const fetched = await market.companyEvents(instrument('AAPL'))
    return fetched.ok ? fetched.value : fetched.runs.map(({ errorType }) => errorType)
  }
  const at = (isEarningsDateEstimate: boolean | undefined, ...days: string[]) => ({
    earnings: { earningsDate: days.map((one) => seconds(`${one}T21:00:00Z`)), isEarningsDateEstimate },
  })
  const one = { from: '2027-01-28', to: '2027-01-28', period: null }
  expect(await told(at(false, '2027-01-28'))).toMatchObject({ earnings: [{ ...one, certainty: 'scheduled' }] })
  expect(await told(at(undefined, '2027-01-28'))).toMatchObject({ earnings: [{ ...one, certainty: 'estimate' }] })
  expect(await told(at(true, '2026-10-29'))).toMatchObject({ earnings: [] })
  expect(await told({})).toEqual({ earnings: [], dividends: [], leftOut: 0 })
  // A window of half a year, and a day in another decade.
  expect(await told(at(true, '2026-12-01', '2027-06-01'))).toMatchObject({ earnings: [], leftOut: 1 })
  expect(await told(at(false, '2037-01-28'))).toMatchObject({ earnings: [], leftOut: 1 })
})

test('EastMoney: the newest booked day counts, a published one before it, and an amount is for one share', async () => {
  const row = (more: object) => ({ SECURITY_CODE: '600519', REPORT_DATE: '2026-12-31 00:00:00', ...more })
  const answer = (...data: object[]) => json({ success: true, result: { pages: 1, data } })
  const { fetch, asked } = upstream({
    RPT_PUBLIC_BS_APPOIN: answer(
      row({
        FIRST_APPOINT_DATE: '2027-03-30 00:00:00',
        FIRST_CHANGE_DATE: '2027-04-02 00:00:00',
        ACTUAL_PUBLISH_DATE: null,
      }),
      row({ REPORT_DATE: '2026-09-30', FIRST_APPOINT_DATE: '2026-10-28', ACTUAL_PUBLISH_DATE: '2026-10-30' }),
      // Published in the future, and before its period is over: neither can be.
      row({ REPORT_DATE: '2026-06-30', ACTUAL_PUBLISH_DATE: '2026-12-30' }),
      row({ REPORT_DATE: '2027-03-31', FIRST_APPOINT_DATE: '2027-01-30' }),
    ),
    RPT_SHAREBONUS_DET: answer(
      { ...row({}), PRETAX_BONUS_RMB: 239.57, EX_DIVIDEND_DATE: '2026-12-18', EQUITY_RECORD_DATE: '2026-12-17' },
      { ...row({}), PRETAX_BONUS_RMB: 239570, EX_DIVIDEND_DATE: '2026-12-21', EQUITY_RECORD_DATE: '2025-12-17' },
      { ...row({}), PRETAX_BONUS_RMB: 10, EX_DIVIDEND_DATE: null },
    ),
    'stock/get': json({ data: { f43: 1400, f57: '600519', f60: 1390, f86: NOW / 1000 } }),
  })
  const variables = { EASTMONEY_DATACENTER_URL: 'https://d.test', EASTMONEY_QUOTE_URL: 'https://q.test' }
  const market = await createMarketData({
    ...{ providers: ['eastmoney'], variables, clock: () => NOW, fetch },
    gate: { openUntil: async () => null, settle: async () => {}, turn: async () => 0 },
  })
  const fetched = await market.companyEvents(instrument('600519'))
  expect(fetched.ok && fetched.value).toEqual({
    earnings: [
      { from: '2027-04-02', to: '2027-04-02', certainty: 'scheduled', period: '2026-12-31' },
      { from: '2026-10-30', to: '2026-10-30', certainty: 'published', period: '2026-09-30' },
    ],
    dividends: [
      {
        ...{ exDate: '2026-12-18', recordDate: '2026-12-17', payDate: null, announcedOn: null },
        ...{ amount: 23.957, currency: 'CNY', marks: [] },
      },
      {
        ...{ exDate: '2026-12-21', recordDate: null, payDate: null, announcedOn: null },
        // More than a share costs.
        ...{ amount: null, currency: null, marks: ['record_left_out', 'amount_left_out'] },
      },
    ],
    leftOut: 2,
  })
  expect(asked.every((url) => url.includes('pageSize=8') || url.startsWith('https://q.test'))).toBe(true)
})

const DIVIDEND: ComingDividend = {
  ...{ exDate: '2026-12-10', recordDate: null, payDate: null, announcedOn: null },
  ...{ amount: 2, currency: 'USD', marks: [] },
}

test('what cannot be right of a dividend is left out by name, and what is unusual stays with its mark', () => {
  const told = (change: object) => {
    const dividends = [{ ...DIVIDEND, marks: undefined, ...change }]
    return soundEvents({ earnings: [], dividends }, 'us', '2026-11-27').dividends[0]
  }
  expect(told({ payDate: '2026-12-09' })).toMatchObject({ payDate: null, marks: ['pay_left_out'] })
  expect(told({ payDate: '2028-12-09' })).toMatchObject({ payDate: null, marks: ['pay_left_out'] })
  expect(told({ payDate: '2026-12-10' })).toMatchObject({ payDate: '2026-12-10', marks: [] })
  expect(told({ recordDate: '2025-12-10' })).toMatchObject({ recordDate: null, marks: ['record_left_out'] })
  expect(told({ amount: -1 })).toMatchObject({ amount: null, currency: null, marks: ['amount_left_out'] })
  expect(told({ amount: 2, currency: null })).toMatchObject({ amount: null, marks: ['amount_left_out'] })
  expect(told({ exDate: '2026-12-12' })).toMatchObject({ marks: ['ex_closed'] })
  expect(told({ exDate: '2062-12-10' })).toBeUndefined()
  expect(told({ exDate: '2026-02-30' })).toBeUndefined()
  const against = (price: number, currency = 'USD') => againstPrice(DIVIDEND, { price, currency }, '2026-11-27')
  expect(against(2)).toMatchObject({ amount: null, marks: ['amount_left_out'] })
  expect(against(6)).toMatchObject({ amount: 2, marks: ['amount_large'] })
  expect(against(7)).toEqual(DIVIDEND)
  expect(against(1, 'JPY')).toMatchObject({ amount: 2, marks: ['amount_unchecked'] })
  expect(againstPrice(DIVIDEND, null, '2026-11-27')).toMatchObject({ amount: 2, marks: ['amount_unchecked'] })
  // The price of today says nothing of a dividend of half a year ago.
  expect(againstPrice({ ...DIVIDEND, exDate: '2026-05-11' }, { price: 1, currency: 'USD' }, '2026-11-27').amount).toBe(
    2,
  )
})

test('a span has what touches it: both ends of a window, the ex-day and the payment each by itself', () => {
  const events = {
    earnings: [{ from: '2026-12-01', to: '2026-12-05', certainty: 'estimate' as const, period: null }],
    dividends: [{ ...DIVIDEND, payDate: '2027-01-04' }],
    leftOut: 0,
  }
  const kinds = (from: string, to: string) => entriesOf(events, { from, to }).map(({ kind }) => kind)
  expect(kinds('2026-12-05', '2026-12-05')).toEqual(['earnings'])
  expect(kinds('2026-12-06', '2026-12-09')).toEqual([])
  expect(kinds('2026-12-10', '2027-01-03')).toEqual(['ex_dividend'])
  expect(kinds('2027-01-04', '2027-01-04')).toEqual(['dividend_payment'])
})

test('no source, a source that failed and one that has nothing are three things, and the sample says that it is made up', async () => {
  const sources = async (providers: string[], rules: Parameters<typeof upstream>[0], codes: string[]) => {
    const variables = { YAHOO_URL: 'https://y.test', YAHOO_COOKIE_URL: 'https://c.test' }
    const { fetch } = upstream(rules)
    const market = await createMarketData({ providers, variables, clock: () => NOW, fetch })
    const found = await eventsOfMany(market, {
      instruments: codes.map(instrument),
      signal: AbortSignal.timeout(20_000),
    })
    return found.map(({ state, notice, events }) => [state, notice, events && events.earnings.length > 0])
  }
  expect(await sources(['tencent', 'yahoo'], {}, ['600519', 'SPX', 'BJ430047'])).toEqual([
    ['no_source', null, null],
    ['no_source', null, null],
    ['no_source', null, null],
  ])
  expect(
    await sources(['yahoo'], { calendarEvents: status(500), '/chart/': json(chart('AAPL', {})) }, ['AAPL']),
  ).toEqual([['failed', null, null]])
  const nothing = { calendarEvents: json(summary({})), '/chart/': json(chart('AAPL', {})) }
  expect(await sources(['yahoo'], nothing, ['AAPL'])).toEqual([['known', null, false]])
  expect(await sources(['sample'], {}, ['600519', '600000'])).toEqual([
    ['known', 'synthetic', true],
    ['no_source', null, null],
  ])
  const market = await createMarketData({ providers: ['sample'], clock: () => NOW })
  const ended = AbortSignal.abort()
  const late = await eventsOfMany(market, { instruments: [instrument('AAPL')], signal: ended })
  expect(late.map(({ state }) => state)).toEqual(['not_asked'])
})

test('what breaks off at the end of the time is asked another time, and what breaks before it is a fault that is told', async () => {
  const ending = new AbortController()
  const breaking = (isOver: boolean) => ({
    companyEvents: async () => {
      if (isOver) ending.abort()
      throw new TypeError('no source throws')
    },
  })
  const asked = { instruments: [instrument('AAPL')], signal: ending.signal }
  await expect(eventsOfMany(breaking(false), asked)).rejects.toThrow('no source throws')
  expect((await eventsOfMany(breaking(true), asked)).map(({ state }) => state)).toEqual(['not_asked'])
})
