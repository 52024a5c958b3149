// Days in their written forms, and which day they are claimed to be.

import type { KnownFacts } from './known.ts'
import { eastAsianNumeral } from './numerals.ts'

export type WrittenDay = {
  readonly at: number
  readonly end: number
  readonly year: number | null
  readonly month: number
  readonly day: number
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const NAME = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\\.?'
const CN = '[〇零一二三四五六七八九十]'
const PATTERN = new RegExp(
  [
    '(?<![\\d.])(?<y1>20\\d\\d)[-/.](?<m1>\\d{1,2})[-/.](?<d1>\\d{1,2})(?!\\d)',
    '(?<![\\d.]|\\d,)(?<y2>20\\d\\d)(?<m2>[01]\\d)(?<d2>[0-3]\\d)(?![\\d,.]\\d|\\d|万|亿|股|元)',
    '(?:(?<y3>20\\d\\d)\\s?[年년]\\s?|(?<now>今年))?(?<m3>\\d{1,2})\\s?[月월]\\s?(?<d3>\\d{1,2})\\s?[日号일]',
    `(?:(?<y4>${CN}{4})年)?(?<m4>${CN}{1,2})月(?<d4>${CN}{1,3})[日号]`,
    `\\b(?<d5>\\d{1,2})(?:st|nd|rd|th)? (?:of )?(?<m5>${NAME}),?(?: (?<y5>20\\d\\d))?`,
    `\\b(?<m6>${NAME}) (?<d6>\\d{1,2})(?:st|nd|rd|th)?(?!\\d)(?:,? (?<y6>20\\d\\d))?`,
  ].join('|'),
  'gi',
)

const numberOf = (text: string | undefined): number | null => {
  if (text === undefined) return null
  if (/^\d+$/.test(text)) return Number(text)
  const month = MONTHS.indexOf(text.slice(0, 3).toLowerCase())
  return month >= 0 ? month + 1 : (eastAsianNumeral(text)?.value ?? null)
}

export function daysIn(text: string): WrittenDay[] {
  return [...text.matchAll(PATTERN)].flatMap((match) => {
    const g = match.groups ?? {}
    const part = (name: string) =>
      numberOf([1, 2, 3, 4, 5, 6].map((i) => g[`${name}${i}`]).find((it) => it !== undefined))
    const [year, month, day] = [part('y'), part('m'), part('d')]
    if (month === null || day === null || month < 1 || month > 12 || day < 1 || day > 31) return []
    return [{ at: match.index, end: match.index + match[0].length, year, month, day }]
  })
}

export function isDay({ year, month, day }: WrittenDay, date: string | null): boolean {
  if (date === null) return false
  const [y, m, d] = date.split('-').map(Number)
  return m === month && d === day && (year === null || year === y)
}

/** Whether the day is the one that its clause refers to; null when the clause does not say which one that is. */
export function isRightDay(written: WrittenDay, around: string, { dates }: KnownFacts): boolean | null {
  if (/拆|split|분할/i.test(around)) return isDay(written, dates.split)
  const isHigh = /(?:最高|高点|高价|新高|\bhigh\b|peak|최고|고점)/i.test(around)
  const isLow = /(?:最低|低点|低价|新低|\blow\b|bottom|trough|최저|저점)/i.test(around)
  if (isHigh !== isLow) return isDay(written, isHigh ? dates.high52 : dates.low52)
  if (isHigh) return isDay(written, dates.high52) || isDay(written, dates.low52)
  if (/业绩|财务|报告期|财报|results|period|earnings|실적|기간/i.test(around)) return isDay(written, dates.period)
  if (
    /行情|数据|交易日|收盘|收|今[天日]|停牌|quote|figures|session|close|trade|data|시세|데이터|거래|종가/i.test(around)
  ) {
    return isDay(written, dates.session)
  }
  return Object.values(dates).some((date) => isDay(written, date)) ? true : null
}

const MONTH_YEAR = new RegExp(
  `\\b(?<n>${NAME}) (?<y>20\\d\\d)|(?<z>20\\d\\d)\\s?[年년]\\s?(?<m>\\d{1,2})\\s?[月월](?!\\s?\\d)`,
  'gi',
)

/** Months without a day, and whether a known day is in them. */
export function monthsIn(text: string, { dates }: KnownFacts): { at: number; end: number; finding: true | null }[] {
  return [...text.matchAll(MONTH_YEAR)].map(({ index, 0: words, groups = {} }) => {
    const month = `${groups.y ?? groups.z}-${String(numberOf(groups.n ?? groups.m) ?? 0).padStart(2, '0')}`
    const isKnown = Object.values(dates).some((date) => date?.startsWith(month))
    return { at: index, end: index + words.length, finding: isKnown ? true : null }
  })
}
