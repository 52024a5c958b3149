// How far a level is from the price, in the wordings of reports: right distances are kept, and never one that is wrong or on the other side.

import { expect, inject, test } from 'vitest'
import { checkSentence, type Verdict } from '../../src/analysis/write/claims/check.ts'
import type { FactName, KnownFacts } from '../../src/analysis/write/claims/known.ts'
import { SHEETS } from '../fixtures/sentences/facts.ts'
import { knownOfSheet } from '../support/claims/known-of-sheet.ts'

const LISTED = SHEETS.filter(({ isSuspended }) => !isSuspended)
/** One sheet of each kind of money; all of them for the proof. */
const ASKED = LISTED.filter(
  ({ currency }, i) => inject('isProof') || LISTED.findIndex((other) => other.currency === currency) === i,
)

const MONEY: Record<string, readonly [zh: string, en: string, ko: string]> = {
  CNY: ['元', ' yuan', '위안'],
  HKD: ['港元', ' HKD', '홍콩달러'],
  USD: ['美元', ' dollars', '달러'],
  KRW: ['韩元', ' won', '원'],
  JPY: ['日元', ' yen', '엔'],
}
const NAMES: readonly (readonly [FactName, zh: string, en: string, ko: string])[] = [
  ['bollUpper', '布林上轨', 'upper Bollinger band', '볼린저 상단'],
  ['ma60', 'MA60', 'MA60', 'MA60'],
  ['resistance', '阻力位', 'resistance', '저항선'],
  ['support', '支撑位', 'support', '지지선'],
  ['stop', '止损位', 'stop', '손절가'],
  ['target1', '目标价', 'target', '목표가'],
]

type PriceMove = { zh: string; en: string; ko: string; pct: string; isUp: boolean }

const WORDINGS: readonly ((told: PriceMove) => string)[] = [
  ({ en, pct, isUp }) => `The ${en} is ${pct}% ${isUp ? 'above' : 'below'} the current price.`,
  ({ en, pct, isUp }) => `The ${en} lies ${pct}% ${isUp ? 'over' : 'under'} the price.`,
  ({ en, pct, isUp }) => `From the current price, the ${en} is ${pct}% ${isUp ? 'higher' : 'lower'}.`,
  ({ en, pct, isUp }) => `There is ${pct}% of ${isUp ? 'upside' : 'downside'} to the ${en}.`,
  ({ zh, pct, isUp }) => `${zh}，${isUp ? '高于' : '低于'}现价${pct}%。`,
  ({ zh, pct, isUp }) => `${zh}，比现价${isUp ? '高' : '低'}${pct}%。`,
  ({ zh, pct, isUp }) => `${zh}，股价${isUp ? '低' : '高'}出${pct}%。`,
  ({ zh, pct, isUp }) => `${zh}，位于现价${isUp ? '上方' : '下方'}约${pct}%。`,
  ({ zh, pct, isUp }) => `距离${zh}还有${pct}%的${isUp ? '上行' : '下行'}空间。`,
  ({ ko, pct, isUp }) => `${ko}은 현재가보다 ${pct}% ${isUp ? '높다' : '낮다'}.`,
  ({ ko, pct, isUp }) => `${ko}으로 현재가 대비 ${pct}% ${isUp ? '위' : '아래'}에 있다.`,
  ({ ko, pct, isUp }) => `${ko}은 현재가 대비 ${isUp ? '+' : '-'}${pct}% 수준이다.`,
  ({ ko, pct, isUp }) => `현재가는 ${ko}보다 ${pct}% ${isUp ? '낮다' : '높다'}.`,
]

/** What the checker makes of every level of the sheets whose distance is told as so many times what it is; under −1 times it is on the other side. */
function verdicts(
  times: number,
  wording: (told: PriceMove) => string,
  names = NAMES,
): { text: string; verdict: Verdict }[] {
  return ASKED.flatMap((sheet) => {
    const known: KnownFacts = knownOfSheet(sheet)
    const { price } = known.values
    const [zhMoney, enMoney, koMoney] = MONEY[known.currency] ?? ['', '', '']
    return names.flatMap(([fact, zh, en, ko]) => {
      const level = known.values[fact]
      if (level === null || price === null) return []
      const gap = (level / price - 1) * 100 * times
      // Nearer than this a wrong distance may round to the right one.
      if (Math.abs(gap) < 0.5) return []
      const figure = level.toFixed(known.decimals)
      const text = wording({
        ...{ zh: `${zh}${figure}${zhMoney}`, en: `${en} at ${figure}${enMoney}`, ko: `${ko} ${figure}${koMoney}` },
        ...{ pct: Math.abs(gap).toFixed(2), isUp: gap > 0 },
      })
      return [{ text, verdict: checkSentence(text, known) }]
    })
  })
}

test('how far a level is from the price is read in every wording', () => {
  for (const wording of WORDINGS) {
    const told = verdicts(1, wording)
    expect(told.length).toBeGreaterThan(15)
    expect(told.filter(({ verdict }) => verdict !== 'confirmed')).toEqual([])
  }
})

test('a wrong distance is dropped, and so is one on the other side of the price', () => {
  for (const wording of WORDINGS) {
    for (const times of [1.6, 0.4, -1])
      expect(verdicts(times, wording).filter(({ verdict }) => verdict !== 'false')).toEqual([])
  }
})

test('in brackets a stop below the price is no gain and a target above it no loss', () => {
  const bracketed: ((told: PriceMove) => string)[] = [
    ({ en, pct, isUp }) => `The ${en} (${isUp ? '+' : '-'}${pct}%).`,
    ({ zh, pct, isUp }) => `${zh}（${isUp ? '+' : '-'}${pct}%）。`,
  ]
  const plan = NAMES.filter(([fact]) => fact === 'stop' || fact === 'target1')
  for (const wording of bracketed) {
    expect(verdicts(1, wording, plan).filter(({ verdict }) => verdict !== 'confirmed')).toEqual([])
    expect(verdicts(-1, wording, plan).filter(({ verdict }) => verdict !== 'false')).toEqual([])
  }
})

test('a distance without a side is read, and a range as a share of the price', () => {
  const away = ({ zh, pct }: PriceMove) => `${zh}，距现价${pct}%。`
  expect(verdicts(1, away).filter(({ verdict }) => verdict !== 'confirmed')).toEqual([])
  expect(verdicts(1.6, away).filter(({ verdict }) => verdict === 'confirmed')).toEqual([])
  for (const sheet of ASKED) {
    const known = knownOfSheet(sheet)
    const { atr, price } = known.values
    if (atr === null || price === null) continue
    const text = (times: number) =>
      `ATR14约${atr.toFixed(known.decimals)}，相当于现价的${((atr / price) * 100 * times).toFixed(2)}%。`
    expect([checkSentence(text(1), known), checkSentence(text(1.6), known)], text(1)).toEqual(['confirmed', 'false'])
  }
})

test('the price that a distance is counted from is still checked where its own figure is told', () => {
  for (const sheet of ASKED) {
    const known = knownOfSheet(sheet)
    const { price, stop } = known.values
    const money = MONEY[known.currency]?.[1] ?? ''
    if (price === null || stop === null) continue
    const text = (times: number) =>
      `The stop at ${stop.toFixed(known.decimals)}${money} is ${((1 - stop / price) * 100).toFixed(2)}% below the current price of ${(price * times).toFixed(known.decimals)}${money}.`
    expect([checkSentence(text(1), known), checkSentence(text(1.1), known)], text(1)).toEqual(['confirmed', 'false'])
  }
})
