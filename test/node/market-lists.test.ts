// The lists of the markets, refreshed from hosts on loopback that answer in the formats of the real ones.

import { expect, onTestFinished, test } from 'vitest'
import { currentNames, forgetNames, type Listing, packagedNames } from '../../src/kits/market-names/index.ts'
import { refreshLists } from '../../src/market/names/refresh-lists.ts'
import { marketLists } from '../../src/market/names/sources.ts'
import { memoryGate } from '../../src/market/providers/gate.ts'
import { resolvePasted } from '../../src/market/readings.ts'
import { type ListAnswers, startLoopbackLists } from '../support/loopback-lists.ts'

const clock = () => Date.parse('2026-11-22T21:40:00Z')

async function refreshed(instead: ListAnswers = {}, providers: string[] = ['eastmoney']) {
  const lists = await startLoopbackLists(instead)
  onTestFinished(() => lists.close())
  const variables = {
    NASDAQ_TRADER_URL: lists.url,
    MOPS_URL: lists.url,
    KIND_URL: lists.url,
    EASTMONEY_QUOTE_URL: lists.url,
  }
  const known = new Map((await packagedNames()).all().map((listing) => [listing.key, listing]))
  const changed = new Map<string, Listing>()
  const store = {
    known: async () => [...known.values()],
    save: async (some: readonly Listing[]) => {
      for (const listing of some) {
        known.set(listing.key, listing)
        changed.set(listing.key, listing)
      }
    },
  }
  const outcomes = await refreshLists(
    store,
    marketLists({ providers, variables, clock, gate: memoryGate(clock) }),
    clock,
  )
  return { outcomes, changed, asked: lists.asked }
}

test('each market’s list adds what is missing from the packaged one, in the format of its own host', async () => {
  const { outcomes, changed, asked } = await refreshed()
  expect(outcomes.map((outcome) => [outcome.list, outcome.source, outcome.ok && outcome.listed])).toEqual([
    ['us', 'nasdaqtrader', 5_206],
    ['kr', 'kind', 703],
    ['kr-kosdaq', 'kind', 1_302],
    ['tw', 'mops', 802],
    ['tw-otc', 'mops', 701],
    ['hk', 'eastmoney', 2_102],
    ['cn-funds', 'eastmoney', 902],
  ])
  expect(asked).toHaveLength(7)
  expect(changed.get('GLW')).toMatchObject({
    zh: 'Corning',
    en: 'Corning',
    aliases: ['Corning Incorporated'],
    kind: 'stock',
  })
  expect(changed.get('XLB')).toMatchObject({ kind: 'etf' })
  expect(changed.get('MPLX')?.en).toBe('MPLX')
  for (const none of ['ABR.D', 'AACBW', 'ZVZZT']) expect(changed.has(none), none).toBe(false)
  expect(changed.get('086280.KS')?.zh).toBe('현대글로비스')
  expect(changed.get('058470.KQ')?.zh).toBe('리노공업')
  expect(changed.get('2059.TW')).toMatchObject({ zh: '川湖', en: 'KING SLIDE' })
  expect(changed.get('HK02513')?.zh).toBe('智谱')
  // What was known keeps its name; what the list calls it beside that becomes an alias.
  expect(changed.get('AAPL')).toMatchObject({ zh: '苹果', en: 'Apple', aliases: ['苹果公司', 'Apple Inc.'] })
})

test('what a refresh brought is found by its name, and everything that was known is found as before', async () => {
  const { changed } = await refreshed()
  forgetNames()
  const { version } = await packagedNames()
  const names = await currentNames({
    state: async () => ({ seededFrom: version, revision: 'refreshed' }),
    seed: async () => {},
    changed: async () => [...changed.values()],
  })
  forgetNames()
  const rows: [string, string][] = [
    ['Corning Inc.', 'GLW'],
    ['Royal Bank of Canada', 'RY'],
    ['현대글로비스', '086280.KS'],
    ['川湖', '2059.TW'],
    ['川湖(2059)', '2059.TW'],
    ['智谱', 'HK02513'],
    ['058470', '058470.KQ'],
    ['Apple Inc.', 'AAPL'],
    ['贵州茅台', '600519'],
    ['宇树科技', 'not_found'],
  ]
  for (const [text, expected] of rows) {
    const resolution = resolvePasted(text, names)
    expect([text, resolution?.ok ? resolution.instrument.key : resolution?.reason]).toEqual([text, expected])
  }
  const packaged = await packagedNames()
  const lost = packaged.all().filter(({ key }) => names.byKey(key) === null)
  expect(lost).toEqual([])
})

test('a list that is short, of another form or not to be had changes nothing, and the others count', async () => {
  const { outcomes, changed } = await refreshed({
    nasdaq: 'Nasdaq Traded|Symbol|Security Name|ETF|Test Issue\r\nY|GLW|Corning|N|N\r\n',
    kind: '<html><title>점검</title></html>',
    mops: '<html>busy</html>',
  })
  expect(outcomes.map((outcome) => [outcome.list, outcome.ok ? 'ok' : outcome.reason])).toEqual([
    ['us', 'only 1 listings'],
    ['kr', expect.stringContaining('malformed')],
    ['kr-kosdaq', expect.stringContaining('malformed')],
    ['tw', expect.stringContaining('malformed')],
    ['tw-otc', expect.stringContaining('malformed')],
    ['hk', 'ok'],
    ['cn-funds', 'ok'],
  ])
  expect([...changed.keys()].every((key) => /^(?:HK)?\d+$/.test(key))).toBe(true)
})

test('EastMoney is asked for its lists only where it is among the providers', async () => {
  const { outcomes } = await refreshed({}, ['yahoo'])
  expect(outcomes.map(({ list }) => list)).toEqual(['us', 'kr', 'kr-kosdaq', 'tw', 'tw-otc'])
})
