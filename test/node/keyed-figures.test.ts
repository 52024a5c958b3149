// Figures that a model names by their keys: what a reader gets has none of the keys, only figures of the report, each beside words that it
// bears or with its own name.

import { expect, test } from 'vitest'
import { type KeyedFigure, keyedFigures } from '../../src/analysis/write/claims/keys.ts'
import { type FactName, type KnownFacts, UNITS } from '../../src/analysis/write/claims/known.ts'
import { type ModelBox, modelBox } from '../../src/analysis/write/model-box.ts'
import { SHEETS } from '../fixtures/sentences/facts.ts'
import { FRAMES } from '../fixtures/sentences/frames.ts'
import { UNSEEN_MEASURE_ONLY, UNSEEN_OPEN } from '../fixtures/sentences/unseen.ts'
import { keyedSentence } from '../support/claims/keyed-sentences.ts'
import { knownOfSheet } from '../support/claims/known-of-sheet.ts'

type Language = 'zh' | 'en' | 'ko'

function sheet(key: string, changes: Partial<KnownFacts> = {}): KnownFacts {
  const found = SHEETS.find((one) => one.key === key)
  if (found === undefined) throw new Error(`no sheet ${key}`)
  return { ...knownOfSheet(found), ...changes }
}

const boxed = (text: string, known: KnownFacts, language: Language = 'en'): ModelBox =>
  modelBox([text], known, { model: 'm', action: null, advised: null, language })

/** The sentences as they are shown; a mark is told behind them. */
const shown = (text: string, known: KnownFacts, language: Language = 'en') =>
  boxed(text, known, language).sentences.map((one) => (one.mark === null ? one.text : `${one.text} [${one.mark}]`))

const valued = (fact: FactName, value: number): KnownFacts => {
  const known = sheet('cn-up')
  return { ...known, values: { ...known.values, [fact]: value } }
}

test('a key is put in as the report prints its figure, in its language, with unit and currency, and the row that bears it is cited', () => {
  const known = sheet('cn-up', { decimals: 2 })
  const values = { ...known.values, price: 1060.24, rsi12: 48.8545, changePct: -1.5, marketCap: 1.33e12, score: 59 }
  const own = { ...known, values }
  expect(shown('最新价为{{price}}，RSI12为{{rsi_12}}。', own, 'zh')).toEqual(['最新价为1060.24元，RSI12为48.85。'])
  expect(shown('The last price is {{price}} and RSI12 is {{RSI12}}.', own)).toEqual([
    'The last price is 1060.24 CNY and RSI12 is 48.85.',
  ])
  expect(shown('현재가는 {{price}}, 시가총액은 {{market_cap}}이다.', own, 'ko')).toEqual([
    '현재가는 1060.24위안, 시가총액은 1.33조위안이다.',
  ])
  // The sign stands where no word tells the way, and a unit that is written once more stands once.
  expect(shown('当日下跌{{change_pct}}。', own, 'zh')).toEqual(['当日下跌1.50%（当日涨跌幅）。'])
  expect(shown('当日涨跌幅为{{change_pct}}%。', own, 'zh')).toEqual(['当日涨跌幅为-1.50%。'])
  expect(shown('最新价为｛｛ price ｝｝元。', own, 'zh')).toEqual(['最新价为1060.24元。'])
  const box = boxed('The score is {{score}} and RSI12 is {{rsi_12}}.', own)
  expect(box.evidence.map(({ text }) => text)).toEqual(['overall score: 59', 'RSI12: 48.85'])
  expect(box.sentences[0]?.cites).toEqual([1, 2])
})

test('money of the results is named in full where the shares are in other money, and a small price keeps its digits', () => {
  const known = sheet('cn-up', { currency: 'HKD', resultsCurrency: 'CNY' })
  expect(shown('营业收入为{{revenue}}。', known, 'zh')).toEqual(['营业收入为1309.04亿元人民币。'])
  const penny = sheet('cn-up', { currency: 'USD', decimals: 4 })
  const values = { ...penny.values, price: 0.0621, dif: 0.000093 }
  expect(shown('The last price is {{price}} and DIF {{dif}}.', { ...penny, values })).toEqual([
    'The last price is 0.0621 USD and DIF 0.00010.',
  ])
})

test('words between a list, its figures and a span of sessions are read as people mean them', () => {
  const known = sheet('cn-up')
  const texts: [Language, string][] = [
    ['zh', '股价与MA20（{{ma_20}}）的乖离率为{{bias_20}}。'],
    ['en', 'Against the twenty-day line at {{ma_20}} it stands {{bias_20}} away.'],
    ['zh', '中期参考MA60位于{{ma_60}}。'],
    ['zh', '最近一期营业收入{{revenue}}，同比{{revenue_growth_pct}}，毛利率{{gross_margin_pct}}。'],
    ['en', 'The net inflow of main money was {{flow_today}} on the day and {{flow_5}} over five sessions.'],
    ['en', 'Leave below the stop at {{stop}}.'],
  ]
  for (const [language, text] of texts) {
    const { counts } = boxed(text, known, language)
    expect([text, counts]).toEqual([text, { checked: 1, confirmed: 1, marked: 0, dropped: 0 }])
  }
})

test('a figure whose name stands in no words that are known brings its own', () => {
  const known = valued('rsi12', 48.85)
  expect(shown('Momentum reads {{rsi_12}}.', known)).toEqual(['Momentum reads 48.85 (RSI12).'])
  expect(shown('动能读数{{rsi_12}}。', known, 'zh')).toEqual(['动能读数48.85（RSI12）。'])
})

test('a key told as something else, or against the way it went, is dropped or marked; a comparison of keys is decided', () => {
  const known = sheet('us-up')
  const { ma5 = 0, ma20 = 0 } = known.values as Record<'ma5' | 'ma20', number>
  const wrong: [string, Language][] = [
    ['RSI12 is {{ma_20}}.', 'en'],
    ['RSI12为{{ma_20}}。', 'zh'],
    ['RSI12는 {{ma_20}}이다.', 'ko'],
    ['MA5 and MA20 are {{ma_20}} and {{ma_5}}.', 'en'],
    ['{{stop}} is the first target.', 'en'],
    [`The close ${(known.values.changePct ?? 0) > 0 ? 'fell' : 'rose'} {{change_pct}}.`, 'en'],
    [`MA5 ({{ma_5}}) is ${ma5 > ma20 ? 'below' : 'above'} MA20 ({{ma_20}}).`, 'en'],
    [`{{ma_5}} is ${ma5 > ma20 ? 'below' : 'above'} {{ma_20}}.`, 'en'],
    ['The MACD histogram is negative at {{histogram}}.', 'en'],
    ['The dividend yield is not {{dividend_yield_pct}}.', 'en'],
    ['The P/E ratio of its peers is {{pe}}.', 'en'],
    ['RSI12 is {{rsi_12}} and the close is 1.', 'en'],
  ]
  for (const [text, language] of wrong) {
    const { counts } = boxed(text, known, language)
    expect([text, counts.confirmed]).toEqual([text, 0])
  }
})

test('a sentence with a key that is none of the report’s is dropped and counted, whatever the key is', () => {
  const known = sheet('cn-up')
  const hostile = [
    'RSI12 is {{rsi_99}}.',
    'The price is {{600000.price}}.',
    'The price is {{AAPL:price}}.',
    'The price is {{price}.',
    'The price is {price}.',
    'The price is {{{{price}}}}.',
    'The price is {{ {{price}} }}.',
    'The price is {{constructor}} {{__proto__}}.',
    'The price is {{}}.',
    `The price is {{${'x'.repeat(300)}}}.`,
    `${'{{price}} '.repeat(10_000)}.`,
    `RSI12 ${'{{'.repeat(10_000)}`,
  ]
  for (const text of hostile) {
    const { sentences, counts } = boxed(text, known)
    expect([text.slice(0, 60), sentences, counts]).toEqual([
      text.slice(0, 60),
      [],
      { checked: 1, confirmed: 0, marked: 0, dropped: 1 },
    ])
  }
  // A figure that the report does not have today has no key either.
  const { values } = known
  expect(boxed('MA250 is {{ma_250}}.', { ...known, values: { ...values, ma250: null } }).counts.dropped).toBe(1)
})

test('no text that leaves has a key or a mark of the checker, also within a link, emphasis or code', () => {
  const known = sheet('cn-up')
  const texts = [
    '[RSI12 is {{rsi_12}}](https://example.org/{{rsi_12}}).',
    '**RSI12** is `{{rsi_12}}`.',
    '<a href="{{price}}">RSI12 is {{rsi_12}}</a>.',
    'RSI12 is \uE000{{rsi_12}}\uE001.',
    '> RSI12 is {{rsi_12}}.',
    '“RSI12 is {{rsi_12}}” it says.',
  ]
  for (const text of texts) {
    const told = JSON.stringify(boxed(text, known))
    expect([text, /[{｛]{2}|\p{Co}/u.test(told)]).toEqual([text, false])
  }
})

test('every fact has a key of its own that names it and no other', () => {
  const figures = SHEETS.flatMap((one) => keyedFigures(knownOfSheet(one), 'en'))
  const byKey = Map.groupBy(figures, ({ key }) => key)
  for (const [key, all] of byKey) expect([key, new Set(all.map(({ fact }) => fact)).size]).toEqual([key, 1])
  for (const { key } of figures) expect(key).toMatch(/^[a-z][a-z0-9_]*$/)
})

/** No figure but those that keys brought, and the numbers within names. */
const isWhole = (text: string) =>
  !/\d/.test(
    text
      .replace(/\{\{[^}]*\}\}/g, '')
      .replace(/MA\d+|RSI\d*|ATR\d*|5[二2]周|52|\d+日|\d+-(?:day|week|session)|\d+(?:거래)?일(?:선)?|\d+주/g, ''),
  )

function keyedOf(set: typeof UNSEEN_OPEN) {
  return set
    .filter(({ label }) => label === 'true')
    .flatMap((one) => {
      const known = sheet(one.sheet)
      const keyed = keyedSentence(one, known)
      return keyed !== null && isWhole(keyed.text) ? [{ ...keyed, known, language: one.language }] : []
    })
}

/** Each key in turn instead of another one of the same unit, which the sentence does not have. */
const swapped = ({ text, keys, known, language }: ReturnType<typeof keyedOf>[number]) =>
  keys.flatMap((key): { text: string; other: KeyedFigure }[] => {
    const other = keyedFigures(known, language).find(
      (figure) =>
        UNITS[figure.fact] === UNITS[key.fact] &&
        figure.text !== key.text &&
        !keys.some(({ fact }) => fact === figure.fact),
    )
    return other === undefined ? [] : [{ text: text.replace(`{{${key.key}}}`, `{{${other.key}}}`), other }]
  })

test('true sentences in styles that nobody has seen are lost less often with keys, and a wrong key never passes without its name', () => {
  const measured = [UNSEEN_OPEN, UNSEEN_MEASURE_ONLY].map((set) => {
    const all = keyedOf(set)
    const lost = all.filter(({ text, known, language }) => boxed(text, known, language).counts.confirmed === 0)
    const wrong = all.flatMap((one) => swapped(one).map((two) => ({ ...one, ...two })))
    const bare = wrong.filter(({ text, other, known, language }) => {
      const { counts, sentences } = boxed(text, known, language)
      return counts.marked + counts.dropped === 0 && !sentences.some((one) => one.text.includes(other.label))
    })
    return { sentences: all.length, lost: lost.length, wrong: wrong.length, bare: bare.length }
  })
  expect(measured[0]).toMatchObject({ sentences: 91, bare: 0 })
  expect(measured[0]?.lost).toBeLessThanOrEqual(4)
  expect(measured[1]).toMatchObject({ sentences: 57 })
  expect(measured[1]?.lost).toBeLessThanOrEqual(9)
  expect(measured[1]?.bare).toBeLessThanOrEqual(1)
})

test('a key in a wrong frame passes in none: of another party, day or money, as denied, as a deed or a wish', () => {
  const told = FRAMES.flatMap(({ text, form, sheet: key, language, label }) => {
    const known = sheet(key)
    const notes = [...form.matchAll(/\{([A-Za-z]\w*)/g)].map(([, fact]) => `${fact}=1`).join(' ')
    const keyed = keyedSentence({ text, language, notes }, known)
    return keyed === null ? [] : [{ text: keyed.text, label, counts: boxed(keyed.text, known, language).counts }]
  })
  const of = (wanted: string) => told.filter(({ label }) => label === wanted)
  expect(of('false').length).toBeGreaterThan(100)
  const passed = of('false').filter(({ counts }) => counts.marked + counts.dropped === 0)
  expect(passed.map(({ text }) => text)).toEqual([])
  const lost = of('true').filter(({ counts }) => counts.marked + counts.dropped > 0)
  expect(lost.map(({ text }) => text)).toEqual([])
})
