// Every fact that a model is given, told in plain words: the checker keeps what is right, and never what is wrong.

import { expect, inject, test } from 'vitest'
import { checkSentence } from '../../src/analysis/write/claims/check.ts'
import { factLabel } from '../../src/analysis/write/claims/keys.ts'
import { type FactName, type KnownFacts, SIGNED, UNITS } from '../../src/analysis/write/claims/known.ts'
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

type FactSentence = { text: string; known: KnownFacts }

/** One sheet of each kind of money; all of them for the proof. */
const TOLD_OF = SHEETS.filter(({ isSuspended }) => !isSuspended).filter(
  ({ currency }, i, all) => inject('isProof') || all.findIndex((other) => other.currency === currency) === i,
)

const told = (change: (fact: FactName, value: number) => number): FactSentence[] =>
  TOLD_OF.flatMap((sheet) => {
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
  const known: KnownFacts = {
    ...knownOfSheet(sheet),
    headlines: [{ title: 'Novalt target 9999 USD, says desk', source: 'Wire', date: '2026-03-19' }],
  }
  const box = (text: string, language: 'zh' | 'en' | 'ko') =>
    modelBox([text], known, { model: 'm', action: null, advised: null, language }).evidence.map((row) => row.text)
  expect(box('近20日上涨11.81%。', 'zh')).toEqual(['20日涨跌幅: +11.81%'])
  expect(box('RSI12는 77.6이다.', 'ko')).toEqual(['RSI12: 77.60'])
  expect(box('The lower Bollinger band is 352.27.', 'en')).toEqual(['lower Bollinger band: 352.27 USD'])
  expect(box('The headline reads "Novalt target 9999 USD, says desk".', 'en')).toEqual([
    'Wire 2026-03-19: Novalt target 9999 USD, says desk',
  ])
})

/** The sheet with results of 130.9 billion, 26 of 30 points for the trend, and two boards, as `knownOfSheet` has them. */
function plainSheet(changes: Partial<KnownFacts> = {}): KnownFacts {
  const sheet = SHEETS.find(({ key }) => key === 'cn-up') ?? SHEETS[0]
  if (sheet === undefined) throw new Error('no sheet')
  return { ...knownOfSheet(sheet), ...changes }
}

const verdicts = (texts: readonly string[], known: KnownFacts) =>
  texts.map((text) => [text, checkSentence(text, known)])
const all = (texts: readonly string[], verdict: string) => texts.map((text) => [text, verdict])

test('parts of the score, holdings, results, flows and boards are told as people write them', () => {
  const known = plainSheet({ currency: 'CNY', resultsCurrency: 'CNY' })
  const right = [
    '趋势部分得26分（满分30分）。',
    '评分中量能项得7分。',
    '获利比例为61.4%。',
    '营业收入为1309.04亿元。',
    '净利润646.27亿元，毛利率41.27%。',
    '5日主力资金净流出7.22亿元。',
    '当日主力资金净流入2.13亿元。',
    '所属板块：酿酒行业、白酒。',
    '酿酒行业板块当日下跌1.2%。',
    'The trend part of the score has 26 of 30 points.',
    'The MACD part scores 11 out of 15.',
    '61.4% of holdings are in profit.',
    'Revenue was 130.90 billion CNY.',
    'Net profit reached 64.63 billion yuan.',
    'Operating cash flow of 31.42 billion yuan.',
    'The gross margin was 41.27%.',
    'The 5-day net outflow of main money is 721.9 million yuan.',
    '추세 항목 점수는 26점(만점 30점)이다.',
    '매출총이익률은 41.27%이다.',
    '수익 물량 비율은 61.4%이다.',
  ]
  expect(verdicts(right, known)).toEqual(all(right, 'confirmed'))
  const wrong = [
    '趋势部分得24分（满分30分）。',
    '趋势部分得26分（满分40分）。',
    '获利比例为16.4%。',
    '营业收入为1903.04亿元。',
    '营业收入为1309.04亿美元。',
    '5日主力资金净流入7.22亿元。',
    '当日主力资金净流出2.13亿元。',
    '酿酒行业板块当日上涨1.2%。',
    'The trend part of the score has 24 of 30 points.',
    '16.4% of holdings are in profit.',
    'Revenue was 190.90 billion CNY.',
    'The gross margin was 14.27%.',
    'The 5-day net inflow of main money is 721.9 million yuan.',
    '매출총이익률은 14.27%이다.',
  ]
  expect(verdicts(wrong, known).filter(([, verdict]) => verdict === 'confirmed')).toEqual([])
  // Of a board whose move nobody tells none is decided.
  expect(checkSentence('白酒板块当日上涨1.2%。', known)).toBe('doubtful')
})

test('results in other money than the shares are told in theirs', () => {
  const known = plainSheet({ currency: 'HKD', resultsCurrency: 'CNY' })
  expect(checkSentence('营业收入为1309.04亿元人民币。', known)).toBe('confirmed')
  expect(checkSentence('营业收入为1309.04亿港元。', known)).toBe('false')
})

test('whether the market is open, and whether this is a day of trading, is decided by the phase of the report', () => {
  const open = [
    '市场目前处于开盘交易中。',
    '目前处于盘中。',
    'The market is open right now.',
    'The session is still running.',
    '시장은 현재 장중이다.',
  ]
  const closed = [
    '市场现已收盘。',
    '市场尚未开盘。',
    'The market is closed now.',
    "The market isn't open yet.",
    '시장은 마감했다.',
  ]
  const running = plainSheet({ isOpen: true })
  const over = plainSheet({ isOpen: false })
  expect(verdicts(open, running)).toEqual(all(open, 'confirmed'))
  expect(verdicts(closed, over)).toEqual(all(closed, 'confirmed'))
  expect(verdicts(open, over)).toEqual(all(open, 'false'))
  expect(verdicts(closed, running)).toEqual(all(closed, 'false'))
  const unknown = plainSheet({ isOpen: null })
  expect(verdicts([...open, ...closed], unknown)).toEqual(all([...open, ...closed], 'doubtful'))
  const holiday = ['今天休市。', 'Today is a holiday.', '오늘은 휴장이다.']
  expect(verdicts(holiday, plainSheet({ isTradingDay: false }))).toEqual(all(holiday, 'confirmed'))
  expect(verdicts(holiday, plainSheet({ isTradingDay: true }))).toEqual(all(holiday, 'false'))
})

test('while a session runs nothing is told as its close, and prices of Taipei are in its own money', () => {
  const { values } = plainSheet()
  const told = [
    `收盘价为${values.price}元。`,
    `The closing price is ${values.price}.`,
    `종가는 ${values.price}위안이다.`,
  ]
  const running = plainSheet({ isPartial: true })
  expect(verdicts(told, running)).toEqual(all(told, 'doubtful'))
  expect(verdicts(told, plainSheet())).toEqual(all(told, 'confirmed'))
  expect(checkSentence(`昨收${values.prevClose}元。`, running)).toBe('confirmed')
  const taipei = plainSheet({ currency: 'TWD' })
  const own = [
    `最新价为${values.price}新台币元。`,
    `The last price is ${values.price} TWD.`,
    `현재가는 ${values.price}대만달러다.`,
  ]
  expect(verdicts(own, taipei)).toEqual(all(own, 'confirmed'))
  expect(verdicts(own, plainSheet()).filter(([, verdict]) => verdict === 'confirmed')).toEqual([])
})
