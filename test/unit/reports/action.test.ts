import { expect, test } from 'vitest'
import {
  actionLabel,
  bandAction,
  deriveAction,
  guardrailReason,
  parseAdvice,
} from '../../../src/analysis/report/action.ts'
import { Action, ReportLanguage } from '../../../src/analysis/schemas.ts'
import { textsOf } from '../../../src/analysis/texts/book.ts'

test('advice in words comes to one action, or to none when it names none or several', () => {
  const table: [string, Action | null][] = [
    ['买入', 'buy'],
    ['强烈买入', 'buy'],
    ['逢低布局', 'buy'],
    ['适合建仓', 'buy'],
    ['Strong Buy', 'buy'],
    ['We would buy here', 'buy'],
    ['적극 매수', 'buy'],
    ['加仓', 'add'],
    ['可适当增持', 'add'],
    ['accumulate', 'add'],
    ['추가 매수', 'add'],
    ['持有观察', 'hold'],
    ['洗盘观察', 'hold'],
    ['Hold for now', 'hold'],
    ['观望', 'watch'],
    ['持有，观望', 'watch'],
    ['wait', 'watch'],
    ['watch closely', 'watch'],
    ['减仓', 'reduce'],
    ['trim the position', 'reduce'],
    ['비중축소', 'reduce'],
    ['卖出', 'sell'],
    ['建议清仓', 'sell'],
    ['strong sell', 'sell'],
    // Words that only look like actions.
    ['公司宣布回购，a buyback; watch', 'watch'],
    ['sell-off continues, hold', 'hold'],
    ['buy-side interest, hold', 'hold'],
    ['买盘活跃，持有', 'hold'],
    // Put off: nothing is said about today.
    ['等待回调后再买入', null],
    ['等待买入时机', null],
    ['wait for a pull-back before buying', null],
    ['매수 대기', null],
    // Negations.
    ['不建议买入', 'avoid'],
    ['暂不买入', 'avoid'],
    ['避免买入', 'avoid'],
    ['do not buy', 'avoid'],
    ["don't buy here", 'avoid'],
    ['매수 금지', 'avoid'],
    ['无需加仓', 'hold'],
    ['不必卖出', 'hold'],
    ['no need to sell', 'hold'],
    ['不急于卖出', 'hold'],
    // Neither the one nor the other.
    ['neither buy nor sell', 'watch'],
    ['既不买入也不卖出', 'watch'],
    ['do not buy, no need to sell', 'watch'],
    // Guard words win.
    ['买入风险大，回避', 'avoid'],
    ['avoid this stock', 'avoid'],
    ['高位预警，持有者减仓', 'alert'],
    ['alert: volume spike', 'alert'],
    // Several, or none.
    ['买入或卖出', null],
    ['持有或减仓', null],
    ['', null],
    ['走势震荡', null],
    // A part of a longer word is no action.
    ['the seller holds back', null],
  ]
  expect(table.map(([advice]) => [advice, parseAdvice(advice)])).toEqual(table)
  for (const language of ReportLanguage.options) {
    for (const action of Action.options) expect(parseAdvice(textsOf(language).report.action[action])).toBe(action)
  }
})

test('an explicit action wins over the words, and a hold or watch follows the score unless a guard put it there', () => {
  const ask = (explicit: string | null, advice: string, score: number, guardrailReason: string | null = null) =>
    deriveAction({ explicit, advice, score, guardrailReason })
  expect(ask('reduce', '买入', 90)).toBe('reduce')
  expect(ask('strong buy', '观望', 10)).toBe('buy')
  expect(ask('Strong_Sell', '观望', 90)).toBe('sell')
  expect(ask('nonsense', '卖出', 50)).toBe('sell')
  expect(ask(null, '观望', 60)).toBe('buy')
  expect(ask(null, '持有', 59)).toBe('hold')
  expect(ask(null, '观望', 40)).toBe('watch')
  expect(ask(null, '持有', 39)).toBe('reduce')
  expect(ask(null, '观望', 19)).toBe('sell')
  expect(ask('watch', '观望', 75, 'averages do not agree')).toBe('watch')
  expect(ask(null, '买入', 10)).toBe('buy')
  expect(ask(null, '走势震荡', 90)).toBeNull()
  expect(
    deriveAction({ explicit: 'buy', advice: '买入', score: 90, guardrailReason: null, isMarketReview: true }),
  ).toBeNull()
  expect([100, 80, 79, 60, 59, 40, 39, 20, 19, 0].map(bandAction)).toEqual([
    'buy',
    'buy',
    'buy',
    'buy',
    'watch',
    'watch',
    'reduce',
    'reduce',
    'sell',
    'sell',
  ])
  expect(actionLabel('reduce', 'ko')).toBe('비중축소')
  expect(actionLabel(null, 'en')).toBeNull()
})

test('the guardrail reason is the first non-empty of its seven places', () => {
  const stability = (applied: boolean) => ({ dashboard: { decision_stability: { applied, reason: 'f' } } })
  expect(guardrailReason({ guardrail_reason: 'a', downgrade_reason: 'b' })).toBe('a')
  expect(guardrailReason({ guardrail_reason: ' ', downgrade_reason: 'b' })).toBe('b')
  expect(guardrailReason({ decision_score_guardrail_reason: 'c', ...stability(true) })).toBe('c')
  expect(
    guardrailReason({
      dashboard: { ...stability(true).dashboard, decision_score_calibration: { guardrail_reason: 'd' } },
    }),
  ).toBe('d')
  expect(guardrailReason(stability(true))).toBe('f')
  expect(guardrailReason(stability(false))).toBeNull()
  expect(guardrailReason({ guardrail_reason: 7, metadata: { guardrail_reason: 'h', downgrade_reason: 'i' } })).toBe('h')
  expect(guardrailReason({ metadata: { downgrade_reason: 'i' } })).toBe('i')
  expect(guardrailReason({})).toBeNull()
  expect(guardrailReason('not an object')).toBeNull()
})
