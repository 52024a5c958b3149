import fc from 'fast-check'
import { expect, test } from 'vitest'
import { knownName, namesDisagree } from '../../../src/analysis/gather/stock-name.ts'
import { type Block, contextPackOverview, dataQuality } from '../../../src/analysis/judge/evidence.ts'
import { escapeMarkdown } from '../../../src/analysis/report/render/markdown-text.ts'
import { ReportLanguage as Languages, type ReportLanguage } from '../../../src/analysis/schemas.ts'
import { fill, textsOf } from '../../../src/analysis/texts/book.ts'
import {
  aside,
  currencyOf,
  emptyNewsDisclosure,
  fixed,
  keptBeside,
  keptDecimals,
  largeNumber,
  priceDecimals,
  quotedCurrency,
  round,
  sentimentLevel,
  signedPct,
  stageMessage,
  withUnit,
} from '../../../src/analysis/texts/format.ts'
import { finding } from '../../../src/market/consistency/types.ts'
import type { Instrument } from '../../../src/market/instruments.ts'
import { nameIn, namesOf } from '../../../src/market/names/labels.ts'

/** Path and placeholders of every text in a pack of texts. */
function templates(pack: unknown, path = ''): [string, string[]][] {
  if (typeof pack === 'string') return [[path, [...pack.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '').sort()]]
  if (typeof pack !== 'object' || pack === null) return []
  return Object.entries(pack).flatMap(([key, value]) => templates(value, `${path}.${key}`))
}

test('every text exists in all languages, says something, and takes the same values', () => {
  const packs = (language: ReportLanguage) => ({
    labels: textsOf(language).report,
    phrases: textsOf(language).analysis,
  })
  const withoutSteps = (language: ReportLanguage) =>
    templates(packs(language)).filter(([path]) => !path.includes('.magnitudes'))
  for (const language of Languages.options) {
    expect(withoutSteps(language)).toEqual(withoutSteps('zh'))
    const empty = templates(packs(language)).filter(([path]) => {
      const value = path
        .slice(1)
        .split('.')
        .reduce((part: unknown, key) => Object(part)[key], packs(language))
      return String(value).trim() === ''
    })
    expect(empty).toEqual([])
  }
  expect(fill('{a} and {b}', { a: 1 })).toBe('1 and {b}')
})

/** Every text in a pack, those of functions with plain arguments. */
function wordsIn(pack: unknown, path = ''): [string, string][] {
  if (typeof pack === 'string') return [[path, pack]]
  if (typeof pack === 'function') return [0, 1, 2].map((n) => [path, String(pack(n, n))])
  if (typeof pack !== 'object' || pack === null) return []
  return Object.entries(pack).flatMap(([key, value]) => wordsIn(value, `${path}.${key}`))
}

test('English and Korean texts have no punctuation of Chinese ones, and Chinese texts none of theirs between Chinese words', () => {
  const packs = (language: ReportLanguage) => ({
    labels: textsOf(language).report,
    phrases: textsOf(language).analysis,
    skills: textsOf(language).skills,
  })
  const breaches = (language: ReportLanguage, pattern: RegExp) =>
    wordsIn(packs(language)).filter(([, words]) => pattern.test(words))
  for (const language of ['en', 'ko'] as const) {
    expect(breaches(language, /[\u3000-\u303f\uff00-\uffef]/)).toEqual([])
  }
  expect(breaches('en', /\p{Script=Han}|\p{Script=Hangul}/u)).toEqual([])
  expect(breaches('zh', /\p{Script=Han}[,;:?!()]|[,;:?!()]\p{Script=Han}/u)).toEqual([])
  expect([stageMessage('news', { name: 'AAPL', language: 'en' }), textsOf('ko').task.cancelled('AAPL')]).toEqual([
    'AAPL：searching the news',
    'AAPL：취소되었습니다',
  ])
})

test('one figure is written with the same digits in every place, from its stored form or its own', () => {
  const rows: [number, number, string][] = [
    [0.995, 2, '1.00'],
    [0.99496, 2, '1.00'],
    [547.675, 2, '547.68'],
    [1.005, 2, '1.01'],
    [-1.005, 2, '-1.01'],
    [-0.00004, 2, '0.00'],
    [12.34567, 4, '12.3457'],
    [71234.5, 0, '71235'],
  ]
  expect(rows.map(([value, decimals]) => fixed(value, decimals))).toEqual(rows.map(([, , shown]) => shown))
  const price = fc.double({ min: -1e6, max: 1e6, noNaN: true })
  fc.assert(
    fc.property(price, fc.integer({ min: 0, max: 4 }), (value, decimals) => {
      expect(fixed(round(value), decimals)).toBe(fixed(value, decimals))
      expect(Math.abs(Number(fixed(value, decimals)) - value)).toBeLessThanOrEqual(0.5 * 10 ** -decimals + 0.5001e-4)
    }),
  )
})

test('an amount and its unit are written alike wherever they stand, money without a name by its code', () => {
  const units = Languages.options.flatMap((language) => [
    withUnit('12.30', 'HKD', language) + aside('x', language),
    withUnit('12.30', 'EUR', language),
  ])
  const b: Instrument = { key: '900948', market: 'cn', exchange: 'SH', kind: 'stock', code: '900948' }
  // A B share of Shanghai trades in dollars.
  expect([currencyOf(b), quotedCurrency(b, null), currencyOf({ ...b, kind: 'index' })]).toEqual([
    'USD',
    'USD',
    'points',
  ])
  expect(units).toEqual(['12.30港元（x）', '12.30 EUR', '12.30 HKD (x)', '12.30 EUR', '12.30홍콩달러 (x)', '12.30 EUR'])
})

test('the bands of sentiment begin at 80, 60, 40 and 20', () => {
  const words = [100, 80, 79, 60, 59, 40, 39, 20, 19, 0].map(
    (score) => textsOf('en').report.sentiment[sentimentLevel(score)],
  )
  const bands = ['Very Bullish', 'Bullish', 'Neutral', 'Bearish', 'Very Bearish']
  expect(words).toEqual(bands.flatMap((word) => [word, word]))
})

test('missing news is admitted in one of two wordings, and only when it is known to be missing', () => {
  for (const language of Languages.options) {
    const told = (known: boolean, count: number | null, evidencePresent = false) =>
      emptyNewsDisclosure({ known, count, evidencePresent }, language)
    expect(told(true, null)).toMatch(/^⚠/)
    expect(told(true, 0)).toMatch(/^⚠/)
    expect(told(true, 0)).not.toBe(told(true, null))
    expect(told(true, 3)).toBeNull()
    expect(told(true, 0, true)).toBeNull()
    expect(told(false, null)).toBeNull()
  }
})

test('prices, percentages and large numbers read as their market and language write them', () => {
  expect([0.004, -0.004, 1.239, -2].map((value) => signedPct(value))).toEqual(['0.00%', '0.00%', '+1.24%', '-2.00%'])
  const large = [123_456_789, 23_456, 999, 999.5, -12.4, -23_456, 1e8, 1e4, 9_999.4].map((value) =>
    largeNumber(value, 'zh'),
  )
  expect(large).toEqual(['1.23亿', '2.35万', '999', '1000', '-12', '-2.35万', '1.00亿', '1.00万', '9999'])
  expect(largeNumber(1_234_567, 'en')).toBe('1.23M')
  const decimals = (market: 'cn' | 'hk' | 'us' | 'jp' | 'kr', kind: 'stock' | 'etf' | 'index', price: number) =>
    priceDecimals({ key: 'x', code: 'x', exchange: 'SH', market, kind }, price)
  expect(decimals('cn', 'stock', 1500)).toBe(2)
  expect(decimals('cn', 'etf', 1.5)).toBe(3)
  expect([decimals('hk', 'stock', 0.5), decimals('hk', 'stock', 500)]).toEqual([3, 2])
  expect([decimals('us', 'stock', 0.5), decimals('us', 'stock', 5)]).toEqual([4, 2])
  expect([decimals('kr', 'stock', 71_000), decimals('kr', 'index', 2700)]).toEqual([0, 2])
})

const SOUND = [finding('same_day_close', 'pass')]
const NO_FINDINGS = {
  ...{ findings: SOUND, isBlocked: false, withheld: [], marks: {} },
  adjustment: { kind: 'forward' as const, source: 'tencent' },
}

test('what cannot be true is no evidence, and what could be compared with nothing is never good', () => {
  const whole: Block[] = (['quote', 'daily_bars', 'technical', 'chip', 'fundamentals', 'news'] as const).map((key) => {
    return { key, status: 'available', source: null, warnings: [], missing_reasons: [] }
  })
  const warned = finding('non_sessions', 'warn', { touches: ['averages'] })
  const failed = finding('corporate_action', 'fail', { touches: ['averages'] })
  const odd = finding('volume_units', 'fail', { touches: ['volume'] })
  const quality = (findings: Parameters<typeof dataQuality>[1]) => {
    const { overall_score, level, presence, limitations } = dataQuality(whole, findings)
    return [overall_score, level, presence, ...limitations]
  }
  expect(quality(SOUND)).toEqual([100, 'good', 100])
  expect(quality([finding('same_day_close', 'not_possible')])).toEqual([84, 'usable', 100])
  expect(quality([...SOUND, warned])).toEqual([80, 'usable', 100, 'non_sessions: warn'])
  expect(quality([...SOUND, odd])).toEqual([40, 'poor', 100, 'volume_units: fail'])
  expect(quality([...SOUND, warned, failed]).slice(0, 3)).toEqual([0, 'poor', 100])
})

test('the quality of the evidence is the weighted mean of its blocks, and its level has four steps', () => {
  const blocks = (status: Block['status'], chip: Block['status']): Block[] =>
    (['quote', 'daily_bars', 'technical', 'chip', 'fundamentals', 'news'] as const).map((key) => ({
      key,
      status: key === 'chip' ? chip : status,
      source: null,
      warnings: [],
      missing_reasons: [],
    }))
  expect(dataQuality(blocks('available', 'missing'), SOUND)).toEqual({
    overall_score: 97,
    plausibility: 100,
    presence: 97,
    level: 'good',
    block_scores: { quote: 100, daily_bars: 100, technical: 100, chip: 35, fundamentals: 100, news: 100 },
    limitations: ['chip: missing'],
  })
  const levels = (['partial', 'fallback', 'stale'] as const).map(
    (status) => dataQuality(blocks(status, status), SOUND).level,
  )
  expect(levels).toEqual(['usable', 'limited', 'poor'])
  const instrument: Instrument = { key: '600519', market: 'cn', exchange: 'SH', kind: 'stock', code: '600519' }
  const noisy = blocks('stale', 'not_supported').map((block) => ({
    ...block,
    warnings: ['a', 'b'],
    missing_reasons: ['1', '2', '3', '4'],
  }))
  const pack = contextPackOverview(
    { instrument, displayName: 'x', now: 0, language: 'en', consistency: NO_FINDINGS },
    noisy,
    null,
  )
  expect(pack.counts).toMatchObject({ stale: 5, not_supported: 1, available: 0 })
  expect(pack.warnings).toHaveLength(5)
  expect(pack.blocks[0]).toMatchObject({ label: 'Quote', missing_reasons: ['1', '2', '3'] })
})

test('a name is the index’s own, never a placeholder or the code, and never breaks its line', () => {
  const instrument = { key: '600519', market: 'cn', exchange: 'SH', kind: 'stock', code: '600519' } as const
  const name = (names: Parameters<typeof knownName>[0], quoteName: string | null, language: ReportLanguage = 'zh') =>
    knownName(names, quoteName, { language, instrument })
  expect(name({ zh: '贵州茅台', en: 'Moutai' }, '别的')).toBe('贵州茅台')
  expect(name({ zh: '贵州茅台', en: 'Moutai' }, null, 'ko')).toBe('Moutai')
  expect(name({}, '别的')).toBe('别的')
  for (const placeholder of ['', ' ', 'N/A', '未知', '600519', '股票600519', null])
    expect(name({}, placeholder)).toBeNull()
  expect(name({}, 'a\r\nb\u202ec')).toBe('a b c')
  const of = (key: string, listing: { zh: string; en: string; aliases: string[] } | null, quoted: string | null) => {
    const american = { key, market: 'us', exchange: 'US', kind: 'stock', code: key } as const
    const names = listing === null ? {} : namesOf(listing)
    return Languages.options.map((language) => knownName(names, quoted, { language, instrument: american }))
  }
  expect(of('IBM', { zh: '国际商业机器', en: 'IBM', aliases: [] }, 'IBM')).toEqual(['国际商业机器', 'IBM', 'IBM'])
  expect(of('SLB', { zh: '斯伦贝谢', en: '', aliases: [] }, 'SLB Limited')).toEqual([
    '斯伦贝谢',
    'SLB Limited',
    'SLB Limited',
  ])
  expect(of('MMM', null, 'MMM')).toEqual(['MMM', 'MMM', 'MMM'])
  const samsung = { zh: '三星电子', en: 'Samsung Electronics', aliases: ['三星', 'Samsung', '삼성전자'] }
  expect(of('005930.KS', samsung, 'SamsungElec')).toEqual(['三星电子', 'Samsung Electronics', '삼성전자'])
  expect(Languages.options.map((language) => nameIn(samsung, language))).toEqual(of('005930.KS', samsung, null))
  expect([
    namesDisagree('贵州茅台', '五粮液'),
    namesDisagree('贵州茅台', 'XD贵州茅'),
    namesDisagree('贵州茅台', 'Kweichow Moutai'),
    namesDisagree('Apple', 'Apple Inc.'),
    namesDisagree('Apple', 'Microsoft Corporation'),
    namesDisagree(null, 'x'),
    namesDisagree('招商银行', '平安银行'),
    namesDisagree('中国银行', '中国银行'),
    namesDisagree('中国石油', '中石油'),
    namesDisagree('中石油', '中国石油'),
    // PetroChina and Sinopec: two characters of a short name are not all three.
    namesDisagree('中国石油', '中石化'),
    namesDisagree('中石化', '中国石油'),
  ]).toEqual([true, false, false, false, true, false, true, false, false, false, true, true])
})

test('text from outside stays text in Markdown: no tag, link, image, table cell, heading, list or new line', () => {
  const table: [string, string][] = [
    ['贵州茅台 1480.00 (MA10)', '贵州茅台 1480.00 (MA10)'],
    ['MA5 < MA10 > MA20 & S&P', 'MA5 < MA10 > MA20 & S&P'],
    ['<script>alert(1)</script>', '&lt;script>alert(1)&lt;/script>'],
    ['![x](javascript:y)', '!\\[x\\](javascript:y)'],
    ['a|b\n# c', 'a\\|b # c'],
    ['# heading', '\\# heading'],
    ['- item', '\\- item'],
    ['-1.5%', '-1.5%'],
    ['---', '\\---'],
    ['1. item', '1\\. item'],
    ['> quote', '&gt; quote'],
    ['&lt;b&gt;', '&amp;lt;b&amp;gt;'],
    ['**b** `c` _d_ ~~e~~ \\', '\\*\\*b\\*\\* \\`c\\` \\_d\\_ \\~\\~e\\~\\~ \\\\'],
    ['see https://evil.example or www.evil.example', 'see https:\\/\\/evil.example or www\\.evil.example'],
    ['a\u202eb\u200bc', 'abc'],
  ]
  expect(table.map(([text]) => [text, escapeMarkdown(text)])).toEqual(table)
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const escaped = escapeMarkdown(text)
      expect(escaped).not.toMatch(/[\r\n\u2028\u2029]/)
      expect(escaped.replace(/\\./gu, '')).not.toMatch(/[`*_[\]|~@]|:\/\/|<[a-z!/?]/i)
    }),
  )
})

test('a price below a cent keeps its digits wherever it is rounded, and others have their four decimals at most', () => {
  const us = { key: 'X', market: 'us', exchange: 'US', kind: 'stock', code: 'X' } as const
  const shown = [0.00023, 0.0008, 0.00999, 0.01, 0.5, 12].map((price) => fixed(price, priceDecimals(us, price)))
  expect(shown).toEqual(['0.0002300', '0.0008000', '0.009990', '0.0100', '0.5000', '12.00'])
  expect(round(0.000234567, keptDecimals(priceDecimals(us, 0.000234567)))).toBe(0.0002346)
  expect([round(0.000234567, keptBeside(0.00023)), round(0.1234567, keptBeside(0.12))]).toEqual([0.0002346, 0.1235])
})

test('the place of a close in its range names the index', () => {
  for (const language of Languages.options) {
    expect(textsOf(language).review.place('S&P 500', 95, 60)).toContain('S&P 500')
  }
})
