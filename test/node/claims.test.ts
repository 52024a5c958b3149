// The checker of a model's words against labelled sentences.

import { expect, test } from 'vitest'
import { checkSentence } from '../../src/analysis/write/claims/check.ts'
import { SHEETS } from '../fixtures/sentences/facts.ts'
import { FRAMES } from '../fixtures/sentences/frames.ts'
import { FRESH } from '../fixtures/sentences/fresh.ts'
import { generate } from '../fixtures/sentences/grammar.ts'
import { FRESH as OTHER_STYLES } from '../fixtures/sentences/other-styles.ts'
import { hashOf } from '../fixtures/sentences/random.ts'
import { SECOND } from '../fixtures/sentences/second-grammar.ts'
import { DEVELOPMENT } from '../fixtures/sentences/split.ts'
import { LATER, THIRD } from '../fixtures/sentences/third-grammar.ts'
import { UNSEEN_MEASURE_ONLY, UNSEEN_OPEN } from '../fixtures/sentences/unseen.ts'
import { confusion, faults } from '../support/claims/confusion.ts'
import { knownOfSheet } from '../support/claims/known-of-sheet.ts'

test('of the made sentences for development at most 1 % of the false ones pass and 1 % of the true ones are hurt', () => {
  const { passed, hurt } = faults(confusion(DEVELOPMENT.made, ({ language }) => language))
  expect(passed).toBeLessThanOrEqual(0.01)
  expect(hurt).toBeLessThanOrEqual(0.01)
})

test('of sentences written by hand, and of those in other styles, no false one passes and at most 2 % of the true ones are hurt', () => {
  const { passed, hurt } = faults(confusion(DEVELOPMENT.byHand, ({ language }) => language))
  expect(passed).toBeLessThanOrEqual(0.01)
  expect(hurt).toBeLessThanOrEqual(0.02)
  const fresh = faults(confusion(FRESH, ({ language }) => language))
  expect(fresh.passed).toBe(0)
  expect(fresh.hurt).toBeLessThanOrEqual(0.01)
})

// Written for another checker. Half of each, drawn by its text, was looked at to mend this one; the other half was not.
test('of sentences of another grammar and of other styles no false one passes, and few of the true ones are hurt', () => {
  const isStudied = (text: string) => Math.floor(hashOf(`unseen half 1 ${text}`) / 65_536) % 2 === 0
  for (const [sentences, most] of [
    [SECOND, 0.01],
    [OTHER_STYLES.filter(({ text }) => isStudied(text)), 0],
    [OTHER_STYLES.filter(({ text }) => !isStudied(text)), 0.2],
  ] as const) {
    const { passed, hurt } = faults(confusion(sentences, ({ language }) => language))
    expect(passed).toBe(0)
    expect(hurt).toBeLessThanOrEqual(most)
  }
})

test('of a third grammar and of forms of language models no false sentence passes and at most 1 % of the true ones are hurt', () => {
  for (const sentences of [THIRD, LATER]) {
    const { passed, hurt } = faults(confusion(sentences, ({ language }) => language))
    expect(passed).toBe(0)
    expect(hurt).toBeLessThanOrEqual(0.01)
  }
})

// Written without a look at the checker. The open part was read to mend it. Of the part that nobody reads the bounds are what is measured, far from what the
// checker is held to: they keep it from getting worse.
test('of sentences of models and reporters that were written for no checker no open false one passes, and the rest is no worse than measured', () => {
  const open = faults(confusion(UNSEEN_OPEN, ({ language }) => language))
  expect(open.passed).toBe(0)
  expect(open.hurt).toBeLessThanOrEqual(0.15)
  const unread = faults(confusion(UNSEEN_MEASURE_ONLY, ({ language }) => language))
  expect(unread.passed).toBeLessThanOrEqual(0.08)
  expect(unread.hurt).toBeLessThanOrEqual(0.42)
})

test('a right figure in a wrong frame passes unmarked in no sentence, no forecast does, and true ones of the same build are kept', () => {
  const rows = confusion(FRAMES, ({ language }) => language)
  const { passed, hurt } = faults(rows)
  expect(passed).toBe(0)
  expect(rows.filter(({ label, confirmed }) => label === 'undecidable' && confirmed > 0)).toEqual([])
  expect(hurt).toBeLessThanOrEqual(0.02)
})

/** What a sentence about the sheet comes to. */
function verdictOf(key: string, text: string) {
  const sheet = SHEETS.find((one) => one.key === key)
  if (sheet === undefined) throw new Error(`no sheet ${key}`)
  return checkSentence(text, knownOfSheet(sheet))
}

test('what is said of the price and a line that stands before it is compared, also by a pronoun', () => {
  expect(verdictOf('cn-suspended', 'The 60-day moving average sits at 12.35, above the current price.')).toBe(
    'confirmed',
  )
  expect(verdictOf('cn-suspended', 'The 60-day moving average sits at 12.35, below the current price.')).toBe('false')
  expect(verdictOf('cn-up', '60일 이동평균선은 21.95이며 주가는 그보다 높다.')).toBe('confirmed')
  expect(verdictOf('cn-up', '60일 이동평균선은 21.95이며 주가는 그보다 낮다.')).toBe('false')
  expect(verdictOf('kr-down', '60일선 80,410원과 120일선 85,410원이 위에 있다.')).toBe('confirmed')
})

test('an oscillator is compared with the mark that it is said to be above or below', () => {
  expect(verdictOf('us-new', 'The RSI12 of 49.80 is below the neutral 50.')).toBe('confirmed')
  expect(verdictOf('us-new', 'The RSI12 of 49.80 is above the neutral 50.')).toBe('false')
  expect(verdictOf('us-new', 'RSI12는 49.80로 중립선 50을 웃돈다.')).toBe('false')
  // What is said behind the figure counts up to the end of the clause, and no further.
  expect(verdictOf('us-new', 'RSI12는 49.80로 중립선 50을 웃돌지 않는다.')).toBe('confirmed')
  expect(verdictOf('us-new', 'RSI12는 49.80로 중립선 50을 밑돌지 않는다.')).toBe('false')
  expect(verdictOf('us-new', 'RSI12为49.80，低于50的中线；走势没有变化。')).toBe('confirmed')
  expect(verdictOf('us-new', 'RSI12为49.80，没有高于50。')).toBe('confirmed')
})

test('a move without a sign needs a verb that is known, and the verb beside the figure counts before those of the sentence', () => {
  expect(verdictOf('us-split', '순이익은 전년 대비 8.25% 줄었고 매출은 5.40% 늘었다.')).toBe('false')
  expect(verdictOf('us-split', '순이익은 전년 대비 8.25% 늘었고 매출은 5.40% 늘었다.')).toBe('confirmed')
  expect(verdictOf('jp-up', 'Net profit grew 13.90% from a year earlier, while revenue contracted 8.66%.')).toBe(
    'false',
  )
  expect(verdictOf('jp-up', 'Net profit grew 13.90% from a year earlier, while revenue flummoxed 8.66%.')).toBe(
    'doubtful',
  )
  expect(verdictOf('jp-up', '今日股价由3,371日元跌至3,412日元，涨幅1.22%。')).not.toBe('confirmed')
})

test('a price and a percentage bound no range together', () => {
  expect(verdictOf('cn-suspended', '52주 고점 15.51에서 23.73% 밀려 있다.')).toBe('confirmed')
  expect(verdictOf('cn-suspended', '52주 고점 11.45에서 23.73% 밀려 있다.')).toBe('false')
  expect(verdictOf('cn-suspended', '52주 고점 15.51에서 27.46% 밀려 있다.')).not.toBe('confirmed')
})

test('a reading that a sign, a bracket or a word in passing allowed bears no sentence any more', () => {
  const wrong: [string, string][] = [
    // Level with the close before is neither above nor below it.
    ['hk-flat', 'The stock ended below its previous close.'],
    ['hk-flat', 'The stock ended above its previous close!'],
    // What stands behind a bracket inside a name is no change of the day.
    ['hk-flat', '近一个月（20个交易日）涨了０ %！'],
    ['cn-limit-up', '股价位于52周区间自下而上约一成的位置。'],
    // The sign between two bounds says no "about".
    ['us-up', '현재 노발트의 52주 범위는 221.44~415.34입니다.'],
    // A day behind a full-width comma.
    ['cn-limit-up', '新闻标题：“云栖智造中标58.4亿元机器人项目”（东方商报，20260228）！'],
    // Claims without a figure beside a true one.
    ['cn-suspended', 'The dividend yield is 1.1%, and earnings per share are negative.'],
    ['us-split', '20일 등락률은 +4.22%인 가운데 브리코푸드는 배당이 전혀 없습니다.'],
    ['us-up', 'The MA250 is USD 303.94, while volume did not grow from the day before.'],
    ['cn-limit-down', '신란반도체는 장부가치보다 낮게 거래됩니다.'],
  ]
  for (const [key, text] of wrong) expect([text, verdictOf(key, text)]).toEqual([text, 'false'])
  const right: [string, string][] = [
    ['us-split', '支撑与压力区间为54.7美元—60.0美元。'],
    ['cn-limit-up', '一年来最低13.46，最高33.30。'],
    ['cn-suspended', 'MACD近日没有金叉，DIF仍在DEA之下。'],
    ['hk-flat', 'The report neither buys nor sells: its advice is to hold or watch.'],
    ['hk-penny', '라마에너지 RSI24는 오십으로 나타났습니다.'],
  ]
  for (const [key, text] of right) expect([text, verdictOf(key, text)]).toEqual([text, 'confirmed'])
})

test('where a line or a cross is said to be is read beside its right figure, and a share of another day’s volume has its sign', () => {
  const pairs: [string, string, string][] = [
    ['hk-penny', '60日线0.768港元仍未收回。', '60日线0.768港元已经收回。'],
    [
      'kr-down',
      '5일선(73,080원)이 10일선(72,760원)보다 높지만, 주가는 두 이동평균선을 모두 하회하고 있습니다.',
      '5일선(73,080원)이 10일선(72,760원)보다 높지만, 주가는 두 이동평균선을 모두 상회하고 있습니다.',
    ],
    [
      'jp-up',
      'There is a fresh bullish MACD crossover above the zero line (DIF 51.736, DEA 46.186).',
      'There is a fresh bearish MACD crossover above the zero line (DIF 51.736, DEA 46.186).',
    ],
    ['us-new', '점수 30점, 강력 매도, 신뢰도 낮음.', '점수 30점, 강력 매수, 신뢰도 낮음.'],
    [
      'kr-down',
      'Hangang closed down 2.6% at 71,300 won, 1,900 won less than a day earlier.',
      'Hangang closed down 2.6% at 71,300 won, 1,900 won more than a day earlier.',
    ],
    [
      'hk-flat',
      'Victoria Quay ended flat at HK$12.40, on volume 38% lighter than the previous day.',
      'Victoria Quay ended flat at HK$12.40, on volume 38% heavier than the previous day.',
    ],
  ]
  for (const [key, right, wrong] of pairs) {
    expect([right, verdictOf(key, right)]).toEqual([right, 'confirmed'])
    expect([wrong, verdictOf(key, wrong)]).not.toEqual([wrong, 'confirmed'])
  }
})

test('a figure told of others, of other days or money, as denied or as a deed is not kept, also in words that no set has', () => {
  const strange = [
    "Microsoft's RSI12 is 77.6.",
    'Goldman sees $450.37.',
    'Vanguard owns 1.77% of it.',
    'On Monday it closed at $412.35.',
    'It closed at EUR 412.35.',
    'Last month it closed at $412.35.',
    'In 2019 it closed at $412.35.',
    'It is false that it closed at $412.35.',
    'Headcount rose 1.77%.',
    '腾讯收于412.35美元。',
    '贵州茅台的RSI12为77.6。',
    '王总以412.35美元买入。',
    '上月收于412.35美元。',
    '存货上涨1.77%。',
    '股价创2020年以来新高。',
    '삼성전자는 412.35달러에 마감했다.',
    '애플의 RSI12는 77.6이다.',
    '어제 412.35달러에 마감했다.',
    '워런 버핏이 412.35달러에 샀다.',
  ]
  for (const text of strange) expect([text, verdictOf('us-up', text)]).not.toEqual([text, 'confirmed'])
  const own = [
    "Novalt's RSI12 is 77.6.",
    'On Thursday it closed at $412.35.',
    '어제 405.18달러에 마감했다.',
    'The prior session ended at $405.18.',
  ]
  for (const text of own) expect([text, verdictOf('us-up', text)]).toEqual([text, 'confirmed'])
})

test('what became of a stop, a target or a support is decided by the prices of the session', () => {
  expect(verdictOf('us-up', 'The stop of $385.19 has not been hit.')).toBe('confirmed')
  expect(verdictOf('us-up', 'The stop of $385.19 has been hit.')).toBe('false')
  expect(verdictOf('us-up', '1차 목표가 450.37달러에 도달했다.')).toBe('false')
  expect(verdictOf('us-up', '第一目标450.37美元尚未达到。')).toBe('confirmed')
})

test('volume told beside a figure is a claim of its own', () => {
  expect(verdictOf('hk-penny', 'Although the MA250 is 1.154, Lamma Energy traded on rising volume!')).toBe('confirmed')
  expect(verdictOf('hk-penny', 'Although the MA250 is 1.154, Lamma Energy traded on falling volume!')).toBe('false')
})

test('of new sentences of the same grammar at most 1 % of the false ones pass and 1 % of the true ones are hurt', () => {
  const seeds = process.env.PROOF === '1' ? [...Array(10).keys()].map((i) => `claims ${i}`) : ['claims']
  const { passed, hurt } = faults(
    confusion(
      seeds.flatMap((seed) => generate(seed)),
      ({ language }) => language,
    ),
  )
  expect(passed).toBeLessThanOrEqual(0.01)
  expect(hurt).toBeLessThanOrEqual(0.01)
})

// The sealed third is opened once, when the checker is finished.
if (process.env.SEALED_SENTENCES === '1') {
  test('the sealed sentences, reported as they are', async () => {
    const { SEALED } = await import('../fixtures/sentences/sealed.ts')
    for (const rows of [
      confusion(SEALED.made, ({ language }) => language),
      confusion(SEALED.byHand, ({ language }) => language),
    ]) {
      process.stdout.write(`${JSON.stringify(rows, null, 1)}\n${JSON.stringify(faults(rows))}\n`)
    }
  })
}
