import { expect, test } from 'vitest'
import { checkReviewSentence } from '../../../src/analysis/market-review/claims.ts'
import type { IndexFact, RegionFacts } from '../../../src/analysis/market-review/facts.ts'

const index = (key: string, name: string, [current, change, changePct]: [number, number, number]): IndexFact => ({
  ...{ key, code: key, name, current, change, changePct },
  ...{ open: 3460, high: 3510, low: 3450, volume: null, amount: 5e11, amplitude: 1.73, date: '2026-08-14' },
  ...{ provenance: null, checks: null, closes: [] },
})
const board = (name: string, changePct: number, mainNet: number) => ({
  ...{ code: name, name, changePct, rank: 1, risingCount: 1, fallingCount: 1, leader: null, mainNet },
})
const FACTS: RegionFacts = {
  ...{ region: 'cn', language: 'zh', date: '2026-08-14', flows: [], gaps: [], provenance: null },
  ...{ isPartial: false, runs: [] },
  indices: [
    index('SH000001', '上证指数', [3500.12, 42, 1.21]),
    index('SZ399001', '深证成指', [11_020.5, -22.1, -0.2]),
    index('SZ399006', '创业板指', [2210.33, 15.4, 0.7]),
  ],
  overnight: [index('SPX', '标普500', [6120.4, -31.2, -0.51])],
  breadth: { up: 4000, down: 1000, flat: 100, limitUp: 90, limitDown: 10, totalAmount: 12_345.6 },
  boards: {
    industries: { top: [board('半导体', 4.26, 1.2e9)], bottom: [board('煤炭', -3.76, -9.9e8)] },
    concepts: { top: [], bottom: [] },
  },
  news: [{ title: '央行宣布降准0.5个百分点', snippet: '', source: '社', publishedDate: '2026-08-14', url: '' }],
}
const verdict = (text: string) => checkReviewSentence(text, FACTS)

test('what the figures of a market’s day bear passes, in three languages', () => {
  const borne = [
    '上证指数收于3500.12点，上涨1.21%。',
    '沪指涨42点，报3500.12点。',
    '上证指数、深证成指分别涨1.21%和跌0.20%。',
    '上涨4000家，下跌1000家，涨停90家。',
    '市场涨多跌少。',
    '半导体领涨，涨幅4.26%；煤炭下跌3.76%。',
    '半导体主力资金净流入12亿元。',
    '沪指站上3500点。',
    '隔夜标普500收跌0.51%。',
    '深证成指收跌，创业板指走高。',
    '“央行宣布降准0.5个百分点”',
    'The Shanghai Composite rose 1.21% to 3,500.12.',
    'ChiNext gained 0.7%, while the S&P 500 fell 0.51%.',
    '4,000 stocks rose and 1,000 fell short of that.'.replace(' fell short of that', ' stocks fell'),
    'Advancers outnumbered decliners.',
    '상하이종합지수는 1.21% 상승한 3500.12에 마감했다.',
    '상승 종목은 4000개, 하락 종목은 1000개였다.',
    '차이넥스트는 0.7% 올랐다.',
  ]
  for (const text of borne) expect([text, verdict(text)]).toEqual([text, 'confirmed'])
})

test('one is compared with the other that the clause names, never with the one before it', () => {
  const verdicts = {
    ...{ '沪指涨1.21%，强于创业板指。': 'confirmed', '沪指涨1.21%，弱于创业板指。': 'false' },
    ...{ '沪指涨1.21%，沪指强于创业板指。': 'confirmed', '沪指涨1.21%，深证成指强于创业板指。': 'false' },
    ...{ '沪指涨1.21%，创业板指跑赢大盘。': 'doubtful', '沪指涨1.21%，创业板指弱于大盘。': 'doubtful' },
    'The Shanghai Composite rose 1.21%, outperforming ChiNext.': 'confirmed',
    'The Shanghai Composite rose 1.21%, ChiNext outperformed.': 'doubtful',
    'The Shanghai Composite rose 1.21%, ChiNext underperformed.': 'doubtful',
    '상하이종합지수는 1.21% 올랐고, 차이넥스트지수보다 강했다.': 'confirmed',
    '상하이종합지수는 1.21% 올랐고, 차이넥스트지수보다 약했다.': 'false',
    '상하이종합지수는 1.21% 올랐고, 차이넥스트지수는 시장보다 강했다.': 'doubtful',
  }
  expect(Object.fromEntries(Object.keys(verdicts).map((text) => [text, verdict(text)]))).toEqual(verdicts)
})

test('what they contradict is false, and what they do not tell is marked', () => {
  const wrong = [
    '上证指数下跌1.21%。',
    '上证指数收于3600点。',
    '深证成指上涨0.20%。',
    '三大指数全线上涨。',
    '市场跌多涨少。',
    '上涨1000家，下跌4000家。',
    '煤炭领涨两市。',
    '半导体主力资金净流出12亿元。',
    '沪指跌破3500点。',
    '沪指没有上涨。',
    'The Shanghai Composite fell 1.21%.',
    'The S&P 500 closed at 6,200.',
    'Decliners outnumbered advancers.',
    '120 stocks hit limit-up.',
    '상하이종합지수는 1.21% 하락했다.',
    '상한가 종목은 120개였다.',
    '报道的标题是“央行宣布加息”。',
  ]
  for (const text of wrong) expect([text, verdict(text)]).toEqual([text, 'false'])
  const untold = [
    '军工板块涨1.21%。',
    '上证指数涨1.21%，但带动军工板块上涨的资金其实有1.21%。',
    '原油期货上涨1.21%。',
    '上证指数今年累计上涨1.21%。',
    '目标是4000点。',
    '央行降准0.5个百分点，推动上证指数上涨1.21%。',
    'Gold futures rose 1.21%.',
    'On Monday the S&P 500 fell 0.51%.',
    'Tomorrow the S&P 500 will fall 0.51%.',
    '上证指数上涨1.21%，创2020年以来最佳。',
    'The Shanghai Composite closed at 3,500.12, a five-year low.',
    '코스피가 아닌 상하이종합지수는 5년 만에 1.21% 상승했다.',
    'The Shanghai Composite did not close at 3,500.12.',
    'The rally may go on.',
    '시장은 불안하다.',
  ]
  for (const text of untold) expect([text, ['doubtful', 'undecidable'].includes(verdict(text))]).toEqual([text, true])
})
