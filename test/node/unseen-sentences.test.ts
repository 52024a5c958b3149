// The labels of test/fixtures/sentences/unseen.ts, computed from the notes of their writer and from the facts of the oracle: an exam is checked before it is used.

import { expect, test } from 'vitest'
import { SHEETS } from '../fixtures/sentences/facts.ts'
import { FRAMES } from '../fixtures/sentences/frames.ts'
import {
  isMeasureOnly,
  UNSEEN_MARKET_MEASURE_ONLY,
  UNSEEN_MARKET_OPEN,
  UNSEEN_MEASURE_ONLY,
  UNSEEN_OPEN,
} from '../fixtures/sentences/unseen.ts'
import { knownOf } from '../support/sentences/judge.ts'
import { marketNoteHolds, noteHolds } from '../support/sentences/notes.ts'

const LANGUAGES = ['zh', 'en', 'ko'] as const
const MARKET = [...UNSEEN_MARKET_OPEN, ...UNSEEN_MARKET_MEASURE_ONLY]
const ALL = [...UNSEEN_OPEN, ...UNSEEN_MEASURE_ONLY]
const known = new Map(SHEETS.map((sheet) => [sheet.key, knownOf(sheet)]))

function knownSheet(key: string) {
  const found = known.get(key)
  if (found === undefined) throw new Error(`no sheet ${key}`)
  return found
}

const SCALES: Readonly<Record<string, number>> = { 조: 1e12, 억: 1e8, 만: 1e4 }

/** 7조 5,578억, 1,016만 7,500: one figure in parts. */
const compound = (text: string) =>
  [...text.matchAll(/([\d.]+)([조억만]?)/g)].reduce(
    (sum, [, size, unit = '']) => sum + Number(size) * (SCALES[unit] ?? 1),
    0,
  )

/** Figures with a point, or of three digits and more: those that a writer can get wrong by a digit. */
function figuresIn(text: string): number[] {
  const plain = text.normalize('NFKC').replaceAll(/(\d),(?=\d{3})/g, '$1')
  const parts = plain.match(/(?:\d+[조억만] ?)+\d+[조억만]?/g) ?? []
  const rest = parts.reduce((left, part) => left.replace(part, ''), plain)
  return [...parts.map(compound), ...(rest.match(/\d+\.\d+|\d{3,}/g) ?? []).map(Number)]
}

test('every label is what the notes of its sentence give by the facts of the oracle', () => {
  const wrong = ALL.flatMap(({ sheet, text, label, notes }) => {
    if (notes === '') return label === 'true' ? [`${text}: a true sentence without notes`] : []
    const failed = notes.split(' ').filter((note) => !noteHolds(knownSheet(sheet), note))
    const computed = failed.length === 0 ? 'true' : 'false'
    return computed === label ? [] : [`${text}: ${label}, but of its notes ${JSON.stringify(failed)} fail`]
  })
  expect(wrong).toEqual([])
})

test('no figure of a sentence is left out of its notes', () => {
  const wrong = ALL.flatMap(({ text, sheet, notes }) => {
    if (notes === '' || notes.includes('headline:')) return []
    // A figure may be told in another scale (1.2亿) or as a percentage of a ratio: of those only the digits are compared.
    const digits = (value: number) =>
      String(Math.abs(value))
        .replace(/e\+?\d+$/, '')
        .replace('.', '')
        .replace(/^0+|0+$/g, '')
    const told = new Set(
      [...notes.matchAll(/[=:][~<>]?-?([\d.]+(?:e\d+)?)/g)].map(([, figure]) => digits(Number(figure))),
    )
    const { code, limitPct } = knownSheet(sheet).sheet
    const named = [code, String(limitPct), '250', '120', '2025', '2026', '100'].flatMap((one) =>
      figuresIn(one).map(digits),
    )
    return figuresIn(text)
      .filter((figure) => !told.has(digits(figure)) && !named.includes(digits(figure)))
      .map((figure) => `${figure} of ${text}`)
  })
  expect(wrong).toEqual([])
})

test('a false sentence differs from its true one, and no text comes twice', () => {
  const texts = ALL.map(({ text }) => text)
  const seen = new Set<string>()
  expect(texts.filter((text) => seen.size === seen.add(text).size)).toEqual([])
})

test('a headline that is called one has its words, and what is called invented is in none', () => {
  for (const { text, notes, sheet, label } of ALL) {
    const id = /headline:(n\d)/.exec(notes)?.[1]
    if (id === undefined) continue
    const headline = knownSheet(sheet).sheet.headlines.find((one) => one.id === id)
    expect(text.includes(headline?.title ?? '?'), text).toBe(label === 'true')
    expect(text, text).toContain(headline?.source ?? '?')
  }
})

test('the third that is only measured is drawn by the wording alone, and lies in files of its own', () => {
  expect(UNSEEN_MEASURE_ONLY.filter(({ form }) => !isMeasureOnly(form))).toEqual([])
  expect(UNSEEN_OPEN.filter(({ form }) => isMeasureOnly(form))).toEqual([])
  expect(UNSEEN_MEASURE_ONLY.length / ALL.length).toBeGreaterThan(0.25)
  expect(UNSEEN_MEASURE_ONLY.length / ALL.length).toBeLessThan(0.42)
})

test('there are 150 a language, nearly half true and nearly half false', () => {
  for (const language of LANGUAGES) {
    const ones = ALL.filter((one) => one.language === language)
    const share = (label: string) => ones.filter((one) => one.label === label).length / ones.length
    expect(ones.length, language).toBeGreaterThanOrEqual(150)
    expect(share('true'), language).toBeGreaterThan(0.4)
    expect(share('false'), language).toBeGreaterThan(0.4)
    expect(share('undecidable'), language).toBeGreaterThan(0.08)
  }
  expect(new Set(ALL.map(({ form }) => form)).size).toBeGreaterThanOrEqual(250)
})

test('every label of a market sentence is what its notes give by the facts of its day', () => {
  const wrong = MARKET.flatMap(({ day, text, label, notes }) => {
    if (notes === '') return label === 'true' ? [`${text}: a true sentence without notes`] : []
    const failed = notes.split(' ').filter((note) => !marketNoteHolds(day, note))
    const computed = failed.length === 0 ? 'true' : 'false'
    return computed === label ? [] : [`${text}: ${label}, but of its notes ${JSON.stringify(failed)} fail`]
  })
  expect(wrong).toEqual([])
  expect(MARKET.length).toBeGreaterThanOrEqual(60)
  expect(new Set(MARKET.map(({ text }) => text)).size).toBe(MARKET.length)
  expect(UNSEEN_MARKET_MEASURE_ONLY.filter(({ form }) => !isMeasureOnly(form))).toEqual([])
  expect(UNSEEN_MARKET_OPEN.filter(({ form }) => isMeasureOnly(form))).toEqual([])
})

test('of the true figures in wrong frames there are some of every kind, and what makes them wrong holds of each sheet they are told of', () => {
  for (const language of LANGUAGES) {
    const ones = FRAMES.filter((one) => one.language === language)
    expect(ones.filter(({ label }) => label === 'false').length, language).toBeGreaterThan(50)
    expect(ones.filter(({ label }) => label === 'true').length, language).toBeGreaterThan(15)
  }
  for (const key of new Set(FRAMES.map(({ sheet }) => sheet))) {
    const { sheet, facts } = knownSheet(key)
    const { price, stop, support, target1, ma20, bollUpper, bollLower, open, high, changePct, score } = facts
    const closes = sheet.bars.map(({ close }) => close)
    const yesterday = sheet.bars.at(-2)
    if (price === null || stop === null || yesterday === undefined) throw new Error(`${key} has no price`)
    // Levels that are said to be broken or reached lie beyond today's and yesterday's prices.
    expect(Math.min(sheet.quote.low ?? price, yesterday.low), key).toBeGreaterThan(stop)
    expect(support === null || support <= price, key).toBe(true)
    if (target1 !== null) expect(Math.max(high ?? price, yesterday.high), key).toBeLessThan(target1)
    expect(bollUpper, key).toBeGreaterThan(bollLower ?? 0)
    // Another day has another figure.
    const then = closes.slice(-30, -10).reduce((sum, close) => sum + close, 0) / 20
    expect(Math.abs(then - (ma20 ?? 0)) / then, key).toBeGreaterThan(0.005)
    const year = closes.at(-251)
    if (year !== undefined) expect(Math.abs(year / price - 1), key).toBeGreaterThan(0.05)
    expect(open !== null && high !== null && open < Math.max(...sheet.bars.map((bar) => bar.high)), key).toBe(true)
    // No change of the day is nothing, where one is said, and no score is the one that is said to be the former.
    const told = FRAMES.filter((one) => one.sheet === key && one.form.includes('changePct'))
    expect(told.length === 0 || changePct !== 0, key).toBe(true)
    expect(score, key).not.toBe(12)
  }
})
