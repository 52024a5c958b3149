// Every fact that a model is given, told in plain words: the checker keeps what is right, and never what is wrong.

import { expect, test } from 'vitest'
import { checkSentence } from '../../src/analysis/write/claims/check.ts'
import { type FactName, type Known, SIGNED, UNITS } from '../../src/analysis/write/claims/known.ts'
import { factLabel } from '../../src/analysis/write/claims/labels.ts'
import { modelBox } from '../../src/analysis/write/model-box.ts'
import { SHEETS } from '../fixtures/sentences/facts.ts'
import { knownOfSheet } from '../support/claims/known-of-sheet.ts'

const LANGUAGES = ['zh', 'en', 'ko'] as const
type Language = (typeof LANGUAGES)[number]

const MONEY: Record<string, Record<Language, string>> = {
  CNY: { zh: '元', en: ' yuan', ko: '위안' },
  HKD: { zh: '港元', en: ' HKD', ko: '홍콩달러' },
  USD: { zh: '美元', en: ' dollars', ko: '달러' },
  KRW: { zh: '韩元', en: ' won', ko: '원' },
  JPY: { zh: '日元', en: ' yen', ko: '엔' },
}
const TIMES: Record<Language, string> = { zh: '倍', en: ' times', ko: '배' }
const SHARES: Record<Language, string> = { zh: '股', en: ' shares', ko: '주' }

function figureOf(fact: FactName, value: number, { language, currency }: { language: Language; currency: string }) {
  const money = MONEY[currency]?.[language] ?? ''
  switch (UNITS[fact]) {
    case 'percent':
      return `${value.toFixed(2)}%`
    case 'price':
      return `${Number(value.toFixed(3))}${money}`
    case 'money':
      return `${Math.round(value)}${money}`
    case 'shares':
      return `${Math.round(value)}${SHARES[language]}`
    case 'times':
      return `${value.toFixed(2)}${TIMES[language]}`
    case 'ratio':
      return `${value.toFixed(2)}:1`
    case 'points':
      return String(Number(value.toFixed(3)))
  }
}

const WORDINGS: Record<Language, readonly ((label: string, figure: string) => string)[]> = {
  zh: [(l, f) => `${l}为${f}。`, (l, f) => `目前${l}是${f}。`, (l, f) => `该股的${l}：${f}。`],
  en: [
    (l, f) => `The ${l} is ${f}.`,
    (l, f) => `Its ${l} stands at ${f}.`,
    (l, f) => `${l[0]?.toUpperCase()}${l.slice(1)}: ${f}.`,
  ],
  ko: [(l, f) => `${l}은 ${f}입니다.`, (l, f) => `현재 ${l}는 ${f}이다.`, (l, f) => `${l}: ${f}.`],
}

type Told = { text: string; known: Known }

const told = (change: (fact: FactName, value: number) => number): Told[] =>
  SHEETS.filter(({ isSuspended }) => !isSuspended).flatMap((sheet) => {
    const known = knownOfSheet(sheet)
    return (Object.keys(UNITS) as FactName[]).flatMap((fact) => {
      const value = known.values[fact]
      if (value === null) return []
      return LANGUAGES.flatMap((language) =>
        WORDINGS[language].map((wording) => {
          const figure = figureOf(fact, change(fact, value), { language, currency: known.currency })
          return { text: wording(factLabel(fact, language), figure), known }
        }),
      )
    })
  })

test('every fact of the sheets is kept in three plain wordings of three languages', () => {
  const lost = told((_fact, value) => value).filter(({ text, known }) => checkSentence(text, known) !== 'confirmed')
  expect(lost.map(({ text }) => text)).toEqual([])
})

test('none is kept when it is a tenth and one off, or has the other sign', () => {
  const signed: ReadonlySet<string> = new Set(SIGNED)
  const wrong = (fact: FactName, value: number) =>
    signed.has(fact) && Math.abs(value) > 0.1 ? -value : value * 1.1 + Math.sign(value || 1)
  const passed = told(wrong).filter(({ text, known }) => checkSentence(text, known) === 'confirmed')
  expect(passed.map(({ text }) => text)).toEqual([])
})

test('volatility, drawdown, the return of 250 sessions and the close before are told as people write them', () => {
  const sheet = SHEETS.find(({ key }) => key === 'us-up')
  if (sheet === undefined) throw new Error('no sheet')
  const known = knownOfSheet(sheet)
  const { volatility60Pct, drawdown250Pct, change250Pct, prevClose } = known.values
  const [vol, fall, year] = [volatility60Pct, drawdown250Pct, change250Pct].map((value) =>
    Math.abs(value ?? 0).toFixed(2),
  )
  const right = [
    `Annualised volatility over 60 sessions is ${vol}%.`,
    `Volatility over the last 60 sessions was ${vol}% annualised.`,
    `The maximum drawdown over 250 sessions is ${fall}%.`,
    `The maximum drawdown of the last 250 sessions is -${fall}%.`,
    `The return over 250 sessions is ${year}%.`,
    `The prior session ended at $${prevClose}.`,
    `60日年化波动率为${vol}%。`,
    `近250日最大回撤为${fall}%。`,
    `近250日涨幅为${year}%。`,
    `60일 연환산 변동성은 ${vol}%입니다.`,
    `250일 최대 낙폭은 ${fall}%입니다.`,
    `최근 250거래일 등락률은 ${year}%입니다.`,
  ]
  for (const text of right) expect([text, checkSentence(text, known)]).toEqual([text, 'confirmed'])
  const wrong = [
    `Annualised volatility over 60 sessions is ${(Number(vol) + 1).toFixed(2)}%.`,
    `近250日最大回撤为${(Number(fall) + 1).toFixed(2)}%。`,
  ]
  for (const text of wrong) expect([text, checkSentence(text, known)]).toEqual([text, 'false'])
})

test('evidence is labelled in the language of the report and rounded, and what a headline says is no evidence of a fact', () => {
  const sheet = SHEETS.find(({ key }) => key === 'us-up')
  if (sheet === undefined) throw new Error('no sheet')
  const known: Known = {
    ...knownOfSheet(sheet),
    headlines: [{ title: 'Novalt target 9999 USD, says desk', source: 'Wire', date: '2026-03-19' }],
  }
  const box = (text: string, language: 'zh' | 'en' | 'ko') =>
    modelBox([text], known, { model: 'm', action: null, advised: null, language }).evidence.map((row) => row.text)
  expect(box('近20日上涨11.81%。', 'zh')).toEqual(['20日涨跌幅: 11.81%'])
  expect(box('RSI12는 77.6이다.', 'ko')).toEqual(['RSI12: 77.6'])
  expect(box('The lower Bollinger band is 352.27.', 'en')).toEqual(['lower Bollinger band: 352.27'])
  expect(box('The headline reads "Novalt target 9999 USD, says desk".', 'en')).toEqual([
    'Wire 2026-03-19: Novalt target 9999 USD, says desk',
  ])
})
