import fc from 'fast-check'
import { expect, test } from 'vitest'
import { checkFigures, type KnownFigures, type NamedFigure } from '../../../src/analysis/write/figures.ts'

const pct = (value: number) => ({ value, isPercent: true })
const plain = (value: number) => ({ value, isPercent: false })
const named = (names: string[], value: number, decimals = 2): NamedFigure => ({
  names,
  value,
  decimals,
  isPercent: false,
})

const MA20 = named(['MA20', '20日均线'], 1432.1)
const KNOWN: KnownFigures = {
  figures: [
    plain(1498.2),
    pct(-0.64),
    plain(1432.1),
    plain(1450),
    plain(174_144_000_000),
    pct(15.66),
    plain(62.4),
    plain(56),
  ],
  named: [MA20, named(['RSI12'], 62.4, 1), named(['评分', 'score'], 56, 0)],
  dates: new Set(['2026-03-20', '2025-12-31']),
  words: ['600519', '茅台2000'],
}
const check = (text: string) => checkFigures(text, KNOWN)

test('figures that were given stay, in every scale and precision in which people write them', () => {
  const good = [
    '收盘价1498.20元，下跌0.64%。',
    '价格约1500元。',
    '营收1741.44亿元，同比增长15.66%。',
    'Revenue came to 174.1 billion, up 15.7%.',
    'The price of 1,498.2 is above MA20 (1432.10).',
    '截至2026-03-20，MA5 > MA10 > MA20，RSI12为62.4。',
    '2025年12月31日的年报显示增长。',
    '价格创52周新高，位于20日均线上方。',
    '600519 的评分为56分。',
    '1. 趋势向上；2. 茅台2000 仍强。',
  ]
  for (const text of good) {
    const { text: after, counts } = check(text)
    expect([text, after, counts.struck, counts.corrected]).toEqual([text, text, 0, 0])
  }
})

test('a figure that nobody gave takes its sentence with it, and only its sentence', () => {
  expect(check('趋势向上。目标价1888元。风险不大。')).toEqual({
    text: '趋势向上。风险不大。',
    counts: { checked: 1, matched: 0, corrected: 0, struck: 1 },
  })
  expect(check('Up 15.66% on the year. It may gain 40% soon. Watch it.').text).toBe('Up 15.66% on the year. Watch it.')
  const invented = ['净利润999亿元', 'ROE 为 33%', '1999-01-01 上市', '3月21日公布', 'price of -5', '上涨0.64%', '１２']
  for (const text of invented.slice(0, 6)) expect([text, check(`${text}。`).text]).toEqual([text, ''])
})

test('a percentage is no plain number, and a fall is no rise', () => {
  expect(check('评分56%。').counts.struck).toBe(1)
  expect(check('股价下跌0.64%。').counts.struck).toBe(0)
  expect(check('股价上涨0.64%。').counts.struck).toBe(1)
  expect(check('变动 -0.64%。').counts.struck).toBe(0)
})

test('a figure under another name is put right, because the name tells what was meant', () => {
  expect(check('股价高于MA20（1450.00）。')).toEqual({
    text: '股价高于MA20（1432.10）。',
    counts: { checked: 1, matched: 0, corrected: 1, struck: 0 },
  })
  expect(check('RSI12 is 71.0 and the score is 80.').text).toBe('RSI12 is 62.4 and the score is 56.')
  expect(check('20日均线为1450元').text).toBe('20日均线为1432.10元')
})

test('for any text nothing is added, and what is left quotes nothing that was not given', () => {
  const words = fc.constantFrom(
    '价格',
    '上涨',
    'MA20',
    '。',
    '，',
    ' ',
    'score',
    '1498.2',
    '77',
    '0.64%',
    '12亿',
    '-3',
    '. ',
    '2026-03-20',
    '\n',
  )
  fc.assert(
    fc.property(fc.array(words, { maxLength: 30 }), (parts) => {
      const { text, counts } = check(parts.join(''))
      expect(counts.matched + counts.corrected + counts.struck).toBe(counts.checked)
      const again = check(text)
      expect([again.text, again.counts.struck, again.counts.corrected]).toEqual([text, 0, 0])
    }),
  )
})
