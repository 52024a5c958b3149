import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Mood } from '../../../src/analysis/codes.ts'
import { flowView } from '../../../src/analysis/gather/company.ts'
import type { PreviousReport } from '../../../src/analysis/gather/previous.ts'
import { type Decision, decide } from '../../../src/analysis/judge/decision.ts'
import {
  guarded,
  type Situation,
  type Structure,
  steadied,
  structureOf,
} from '../../../src/analysis/judge/guardrails.ts'
import { type Technical, technicalView } from '../../../src/analysis/judge/signals.ts'
import { deriveAction } from '../../../src/analysis/report/action.ts'
import { ReportLanguage } from '../../../src/analysis/schemas.ts'
import { textsOf } from '../../../src/analysis/texts/book.ts'
import type { FlowDay } from '../../../src/market/company.ts'
import { barsOf, wave } from './series.ts'

const STRUCTURE: Structure = {
  support: 90,
  resistance: 110,
  nearSupport: false,
  broken: false,
  nearResistance: false,
  breakout: false,
}
const QUIET: Situation = { price: 100, structure: STRUCTURE, flow: 'unavailable', seriousRisk: false, mood: null }

function technical(total: number, trend: Technical['trend'], signal: Technical['signal']): Technical {
  const base = technicalView(barsOf(wave(60, 0)))
  if (base === null) throw new Error('no technical view')
  return { ...base, trend, signal, score: { ...base.score, total } }
}

const known = { coreIsSound: true, flowKnown: true }
const buy = decide(technical(72, 'bull', 'buy'), known)
const sell = decide(technical(25, 'bear', 'strong_sell'), known)
const day = (date: string, mainNet: number): FlowDay => ({
  date,
  mainNet,
  smallNet: 0,
  mediumNet: 0,
  largeNet: 0,
  superLargeNet: 0,
  mainNetPct: null,
})

test('flow has a direction only when every sum agrees, and three days are never called five', () => {
  const days = (...nets: number[]) =>
    flowView(nets.map((net, i) => day(`2026-03-${String(i + 1).padStart(2, '0')}`, net)))
  expect(flowView([])).toMatchObject({ bias: 'unavailable', today: null })
  expect(days(1, 2, 3)).toMatchObject({ bias: 'inflow', today: 3, days5: null, days10: null, date: '2026-03-03' })
  expect(days(-9, 1, 1, 1, 1)).toMatchObject({ bias: 'neutral', days5: -5 })
  expect(days(-1, -1, -1, -1, -1, -1, -1, -1, -1, -1)).toMatchObject({ bias: 'outflow', days5: -5, days10: -10 })
  expect(days(5, 0)).toMatchObject({ bias: 'neutral' })
})

test('an advice is held back only where the flow is known to speak against it, and each time by its name', () => {
  const near = { ...STRUCTURE, nearResistance: true }
  const low = { ...STRUCTURE, nearSupport: true }
  const cases: [Decision, Partial<Situation>, Decision['guard'], Decision['advice']][] = [
    [buy, {}, null, 'buy'],
    [buy, { structure: near }, null, 'buy'],
    [buy, { structure: near, flow: 'neutral' }, 'buy_near_resistance', 'watch'],
    [buy, { structure: near, flow: 'inflow' }, null, 'buy'],
    [buy, { flow: 'outflow' }, 'buy_against_outflow', 'watch'],
    [buy, { flow: 'outflow', structure: { ...STRUCTURE, breakout: true } }, null, 'buy'],
    [buy, { flow: 'neutral' }, 'buy_in_mid_range', 'watch'],
    [buy, { flow: 'neutral', structure: low }, null, 'buy'],
    [sell, { structure: low, flow: 'neutral' }, 'sell_near_support', 'hold'],
    [sell, { structure: low, flow: 'outflow' }, null, 'strong_sell'],
    [sell, { flow: 'inflow' }, 'sell_into_inflow', 'hold'],
    [sell, { flow: 'inflow', structure: { ...STRUCTURE, broken: true } }, null, 'strong_sell'],
    [sell, { flow: 'inflow', seriousRisk: true }, null, 'strong_sell'],
    [buy, { structure: null, flow: 'outflow' }, null, 'buy'],
    [buy, { mood: 'defensive' }, 'defensive_market', 'watch'],
    [sell, { mood: 'defensive' }, null, 'strong_sell'],
  ]
  for (const [decision, situation, guard, advice] of cases) {
    const after = guarded(decision, { ...QUIET, ...situation })
    expect([situation, after.guard, after.advice]).toEqual([situation, guard, advice])
    if (guard === null) {
      expect(after).toEqual(decision)
      continue
    }
    expect(after.rawScore).toBe(decision.score)
    expect(after.confidence).not.toBe('high')
    expect(after.interventions).toEqual([
      expect.objectContaining({
        guard,
        from: decision.advice,
        to: advice,
        rawScore: decision.score,
        score: after.score,
      }),
    ])
    // With its reason the action stays where the guard put it, whatever the score says.
    expect(deriveAction({ explicit: after.action, advice, score: after.score, guardrailReason: 'why' })).toBe(
      after.action,
    )
    for (const language of ReportLanguage.options) expect(textsOf(language).report.guard[guard]).not.toBe('')
  }
  expect(guarded(buy, { ...QUIET, flow: 'outflow' }).score).toBe(59)
  expect(guarded(buy, { ...QUIET, mood: 'defensive' }).score).toBe(52)
})

test('without flow no purchase is lost, whatever the structure: unknown is not bad', () => {
  const flag = fc.boolean()
  const structure = fc.record({
    support: fc.constant(90),
    resistance: fc.constant(110),
    nearSupport: flag,
    broken: flag,
    nearResistance: flag,
    breakout: flag,
  })
  const mood = fc.constantFrom<Mood | null>(null, 'balanced', 'risk_on')
  fc.assert(
    fc.property(structure, mood, fc.boolean(), (at, now, seriousRisk) => {
      const situation: Situation = { price: 100, structure: at, flow: 'unavailable', seriousRisk, mood: now }
      expect(guarded(buy, situation)).toEqual(buy)
      expect(guarded(sell, situation)).toEqual(sell)
    }),
  )
})

test('structure is read from the twenty sessions before the last one', () => {
  const bars = barsOf([...Array<number>(20).fill(100), 104])
  const view = technicalView(bars)
  if (view === null) throw new Error('no technical view')
  expect([view.priorLow20, view.priorHigh20]).toEqual([99, 101])
  expect(structureOf(view, 104)).toMatchObject({ breakout: true, nearResistance: false, nearSupport: false })
  expect(structureOf(view, 100)).toMatchObject({ breakout: false, nearResistance: true, nearSupport: true })
  expect(structureOf(view, 97)).toMatchObject({ broken: true, nearSupport: true })
  expect(structureOf({ ...view, priorHigh20: null }, 100)).toBeNull()
})

const PREVIOUS: PreviousReport = {
  queryId: 'a',
  createdAt: '2026-03-18T08:00:00.000000Z',
  date: '2026-03-18',
  price: 100,
  score: 66,
  advice: 'buy',
  type: 'buy',
  trend: 'bull',
  parts: {},
  levels: { stop_loss: 92, take_profit: 112 },
  isSample: false,
}
const NOW = { market: 'cn', date: '2026-03-20', price: 101 } as const
const watch = (score: number) => decide(technical(score, 'bull', 'watch'), known)

test('an advice is not taken back for a point or two, unless time, a level or the distance says so', () => {
  const after = (decision: Decision, changes: Partial<PreviousReport> = {}, now: Partial<typeof NOW> = {}) =>
    steadied(decision, { ...PREVIOUS, ...changes }, { ...NOW, ...now } as typeof NOW)
  expect(after(watch(57))).toMatchObject({ advice: 'buy', type: 'buy', guard: 'unsettled', score: 57 })
  expect(after(watch(56))).toMatchObject({ advice: 'watch', guard: null })
  expect(after(watch(57), { date: '2026-03-02' })).toMatchObject({ guard: null })
  expect(after(watch(57), {}, { price: 91 } as never)).toMatchObject({ guard: null })
  expect(after(watch(57), {}, { price: 113 } as never)).toMatchObject({ guard: null })
  expect(after(buy)).toEqual(buy)
  expect(steadied(watch(57), null, NOW)).toMatchObject({ guard: null })
  expect(after(sell)).toMatchObject({ advice: 'watch', type: 'hold', guard: 'reversal' })
  const held = { type: 'hold', advice: 'hold', score: 55 } as const
  expect(after(decide(technical(62, 'bull', 'buy'), known), held)).toMatchObject({ advice: 'hold', guard: 'unsettled' })
  expect(after(decide(technical(64, 'bull', 'buy'), known), held)).toMatchObject({ advice: 'buy', guard: null })
  expect(after(decide(technical(38, 'weak_bear', 'sell'), known), held)).toMatchObject({ advice: 'hold' })
})

test('for any two reports the advice never turns from buying to selling at once within its memory', () => {
  const types = fc.constantFrom<PreviousReport['type']>('buy', 'hold', 'sell')
  fc.assert(
    fc.property(types, fc.integer({ min: 0, max: 100 }), fc.integer({ min: 93, max: 111 }), (type, score, price) => {
      const signal = score >= 60 ? 'buy' : score >= 40 ? 'watch' : 'sell'
      const decision = decide(technical(score, 'weak_bull', signal), known)
      const advice = type === 'hold' ? 'watch' : type
      const after = steadied(decision, { ...PREVIOUS, type, advice }, { ...NOW, price } as typeof NOW)
      expect([type, after.type]).not.toEqual(['buy', 'sell'])
      expect([type, after.type]).not.toEqual(['sell', 'buy'])
      expect(after.score).toBe(score)
    }),
  )
})
