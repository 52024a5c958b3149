import fc from 'fast-check'
import { expect, inject, test } from 'vitest'
import { packagedNames } from '../../../src/kits/market-names/index.ts'
import { rejectionText } from '../../../src/market/names/rejection-texts.ts'
import { listSamples } from '../../../src/market/providers/sample.ts'
import { resolvePasted } from '../../../src/market/readings.ts'
import { resolveEntries, resolveInput } from '../../../src/market/resolve.ts'

const names = await packagedNames()

/** `key as stockCode`, the reason of the refusal, or `blank`. */
function outcome(text: string): string {
  const resolution = resolveInput(text, names)
  if (resolution === null) return 'blank'
  return resolution.ok ? `${resolution.instrument.key} as ${resolution.stockCode}` : resolution.reason
}

function message(text: string): string {
  const resolution = resolveInput(text, names)
  return resolution && !resolution.ok ? rejectionText(resolution, 'en') : ''
}

test('an entry becomes a listing by its code, then as a known ticker, then by its name', () => {
  const rows: [string, string][] = [
    ['  ', 'blank'],
    ['600519.sh', '600519 as 600519.SH'],
    ['brk-b', 'BRK.B as BRK-B'],
    ['0700', 'HK00700 as HK00700'],
    ['7203', '7203.T as 7203.T'],
    ['005930', '005930.KS as 005930.KS'],
    ['贵州茅台', '600519 as 600519'],
    ['茅台', '600519 as 600519'],
    ['腾讯控股', 'HK00700 as HK00700'],
    ['苹果', 'AAPL as AAPL'],
    ['kweichow  moutai', '600519 as 600519'],
    ['guizhoumaotai', '600519 as 600519'],
    ['gzmt', 'GZMT as GZMT'],
    ['TXKG', 'TXKG as TXKG'],
    ['GLW', 'GLW as GLW'],
    ['RY', 'RY as RY'],
    ['600519.XSHG', '600519 as 600519.XSHG'],
    ['000001.XSHE', '000001 as 000001.XSHE'],
    ['sh600519', '600519 as SH600519'],
    ['600519 CH', '600519 as 600519 CH'],
    ['700 HK', 'HK00700 as 700 HK'],
    ['AAPL US', 'AAPL as AAPL US'],
    ['7203 JP', '7203.T as 7203 JP'],
    ['BRK/B', 'BRK.B as BRK/B'],
    ['BRK.B', 'BRK.B as BRK.B'],
    ['285A.T', '285A.T as 285A.T'],
    ['0126Z0.KS', '0126Z0.KS as 0126Z0.KS'],
    ['沪深300', 'SH000300 as SH000300'],
    ['阿里巴巴-W', 'HK09988 as HK09988'],
    ['Google', 'GOOGL as GOOGL'],
    ['MSFT', 'MSFT as MSFT'],
    ['PDD', 'PDD as PDD'],
    ['qzxv', 'QZXV as QZXV'],
    ['CATL', '300750 as 300750'],
    ['MT', 'MT as MT'],
    ['貴州茅臺', '600519 as 600519'],
    ['騰訊', 'HK00700 as HK00700'],
    ['台積電', '2330.TW as 2330.TW'],
    ['宁王', '300750 as 300750'],
    ['平安', '601318 as 601318'],
    ['中国平安', '601318 as 601318'],
    ['万科', '000002 as 000002'],
    ['全新', '000007 as 000007'],
    ['gui zhou mao tai', '600519 as 600519'],
    ['沪深300ETF华泰柏', 'letters_with_digits'],
    ['恒生科技', 'HSTECH as HSTECH'],
    ['n225', 'N225 as N225'],
    ['KOSPI', 'KS11 as KOSPI'],
    ['9984', '9984.T as 9984.T'],
    ['2317', '2317.TW as 2317.TW'],
    ['035720', '035720.KS as 035720.KS'],
    ['aapl.us', 'AAPL as AAPL.US'],
  ]
  for (const [text, expected] of rows) expect([text, outcome(text)]).toEqual([text, expected])
})

test('an entry that means nothing, or more than one thing, is refused by name', () => {
  const rows: [string, string][] = [
    ['600519.SZ', 'wrong_exchange'],
    ['113050.SH', 'no_share'],
    ['204001.SH', 'no_share'],
    ['128034', 'no_share'],
    ['abc123', 'letters_with_digits'],
    ['N茅台1', 'letters_with_digits'],
    ['６００５１９', 'character'],
    ['^GSPC', 'character'],
    ['S&P', 'character'],
    ['600519\u0000', 'character'],
    ['茅台😀', 'character'],
    ['../etc', 'character'],
    ['没有这家公司', 'not_found'],
    ['ABCDEFG', 'not_found'],
    ['123', 'not_found'],
    ['1234', 'not_found'],
    ['2330', 'ambiguous'],
    ['3690', 'ambiguous'],
    ['阿里巴巴', 'ambiguous'],
    ['中国石由', 'not_found'],
    ['贵州茅苔', 'not_found'],
    ['招商银', 'not_found'],
    ['宇树科技', 'not_found'],
    ['guangliwei gufen', 'not_found'],
    ['贵洲毛苔', 'not_found'],
    ['茅苔', 'not_found'],
    ['x'.repeat(10_000), 'too_long'],
  ]
  for (const [text, expected] of rows) expect([text, outcome(text)]).toEqual([text, expected])
  expect(message('^GSPC')).toContain('^ (U+005E)')
  expect(message('６００')).toContain('６ (U+FF16)')
  expect(message('600519\u0000')).toBe('"600519\\u0000" contains U+0000, which is not allowed')
  expect(message('2330')).toContain('2330.T')
  expect(message('2330')).toContain('2330.TW')
  expect(message('600519.SZ')).toContain('"600519.SZ"')
  expect(message('113050.SH')).toMatch(/^"113050.SH" is no number of a stock, fund or index of Shanghai.*bonds/)
  expect(message('113050')).toContain('113050.KS')
  expect(message('x'.repeat(10_000)).length).toBeLessThan(120)
})

test('a batch keeps the first spelling of each listing and reports every bad entry', () => {
  const { targets, rejected } = resolveEntries(
    ['600519.sh', '茅台', '600519', '', 'HK700', '0700.HK', 'abc123', '^DJI', '000001.SH', '000001'],
    names,
  )
  expect(targets.map(({ stockCode, instrument }) => [stockCode, instrument.key])).toEqual([
    ['600519.SH', '600519'],
    ['HK700', 'HK00700'],
    ['000001.SH', 'SH000001'],
    ['000001', '000001'],
  ])
  expect(rejected.map(({ input, reason }) => [input, reason])).toEqual([
    ['abc123', 'letters_with_digits'],
    ['^DJI', 'character'],
  ])
})

test('every packaged listing is known by its key, and its name leads to it or to a refusal that names it', () => {
  const counts: Record<string, number> = {}
  let ambiguous = 0
  for (const { key, zh } of names.all()) {
    const resolution = resolveInput(key, names)
    expect([key, resolution?.ok && resolution.instrument.key]).toEqual([key, key])
    if (resolution?.ok) counts[resolution.instrument.market] = (counts[resolution.instrument.market] ?? 0) + 1
    const byName = names.named(zh)
    if (byName.length === 1 && byName[0]?.key === key) continue
    ambiguous++
    // Another listing leads under the shared name, or both do and the refusal tells of both.
    const keys = byName.map((listing) => listing.key)
    expect(keys.includes(key) || keys.includes(names.byKey(key)?.leading ?? ''), `${key} ${zh}`).toBe(true)
  }
  expect(counts.cn).toBeGreaterThanOrEqual(5051)
  for (const [market, least] of Object.entries({ hk: 80, us: 120, jp: 40, kr: 20, tw: 30 })) {
    expect(counts[market], market).toBeGreaterThanOrEqual(least)
  }
  expect(ambiguous).toBeLessThan(60)
  expect(listSamples().filter(({ key }) => names.byKey(key) === null)).toEqual([])
})

test('no entry makes the resolution throw, and a refusal always says which entry it was', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 20 }), (text) => {
      const resolution = resolveInput(text, names)
      if (resolution === null) expect(text.trim()).toBe('')
      else if (!resolution.ok) {
        for (const language of ['zh', 'en', 'ko'] as const)
          expect(rejectionText(resolution, language).startsWith(JSON.stringify(text).slice(0, -1))).toBe(true)
      }
    }),
    { numRuns: 500 },
  )
})

test('what is no name is refused with the listings that may be meant, and read as the first of them when confirmed', () => {
  const refused = resolveInput('贵州茅苔', names)
  expect(refused).toMatchObject({ ok: false, reason: 'not_found' })
  expect(refused?.ok === false && rejectionText(refused, 'zh')).toContain('600519 (贵州茅台)')
  if (refused?.ok === false) expect(refused.candidates[0]?.key).toBe('600519')
  const shared = resolveInput('阿里巴巴', names)
  if (shared?.ok === false)
    expect(shared.candidates.map(({ key }) => key)).toEqual(expect.arrayContaining(['BABA', 'HK09988']))
  const { targets, rejected } = resolveEntries(['贵州茅苔', '腾讯控股', 'qqqqzzzzxxxx', '茅台😀'], names, {
    confirm: true,
  })
  expect(targets.map(({ instrument: { key }, readFrom }) => [key, readFrom])).toEqual([
    ['600519', '贵州茅苔'],
    ['HK00700', null],
  ])
  expect(rejected.map(({ reason }) => reason)).toEqual(['not_found', 'character'])
})

test('what people paste is read: marks, full-width characters, a code beside its name, names in any script', () => {
  const rows: [string, string][] = [
    ['６００５１９', '600519'],
    ['贵州茅台(600519)', '600519'],
    ['贵州茅台（600519）', '600519'],
    ['贵州茅台 600519', '600519'],
    ['600519 贵州茅台', '600519'],
    ['^GSPC', 'SPX'],
    ['$AAPL', 'AAPL'],
    ['Apple Inc.', 'AAPL'],
    ['Apple (AAPL)', 'AAPL'],
    ['三星电子', '005930.KS'],
    ['贵州茅台', '600519'],
    ['삼성전자', '005930.KS'],
    ['삼성전자'.normalize('NFD'), '005930.KS'],
    ['(주)카카오', '035720.KS'],
    ['トヨタ', '7203.T'],
    ['ﾄﾖﾀ自動車株式会社', '7203.T'],
    ['maotai', '600519'],
    ['NASDAQ: AAPL', 'AAPL'],
    ['Russell 2000', 'RUT'],
    ['Apple Inc. (NASDAQ: AAPL)', 'AAPL'],
    ['腾讯控股 (0700.HK)', 'HK00700'],
    ['台积电(2330)', '2330.TW'],
    ['中国平安(02318)', 'HK02318'],
    ['Alibaba (BABA)', 'BABA'],
    ['The Coca-Cola Company', 'KO'],
    ['腾讯控股有限公司', 'HK00700'],
    // The code of another, a code that no list has, and a holding that is not the company itself.
    ['贵州茅台(000858)', 'ambiguous'],
    ['腾讯 (TCEHY)', 'ambiguous'],
    ['Apple Holdings', 'not_found'],
    ['113050.SH', 'no_share'],
    ['南银转债(113050)', 'no_share'],
  ]
  const keyIn = (text: string) => {
    const resolution = resolvePasted(text, names)
    return resolution?.ok ? resolution.instrument.key : resolution?.reason
  }
  for (const [text, key] of rows) expect([text, keyIn(text)]).toEqual([text, key])
  for (const text of ['茅台😀', '../etc', '600519\u0000', ''])
    expect(resolvePasted(text, names)?.ok ?? false).toBe(false)
})

test('made-up names become no listing', () => {
  const syllable = fc.constantFrom(...'龙腾宇星海云天华瑞恒达信科创新能源智慧数联光电子生物医药材料')
  const word = fc.constantFrom('Zentrix', 'Quorvana', 'Belmora', 'Hyptonic', 'Vexalon', 'Trundle', 'Aquistar')
  const madeUp = fc.oneof(
    fc.array(syllable, { minLength: 3, maxLength: 6 }).map((some) => some.join('')),
    fc.tuple(word, word).map((some) => some.join(' ')),
  )
  fc.assert(
    fc.property(madeUp, (text) => {
      const resolution = resolveInput(text, names)
      if (resolution?.ok) expect(names.named(text).map(({ key }) => key)).toContain(resolution.instrument.key)
    }),
    { numRuns: inject('isProof') ? 3000 : 200 },
  )
})
