import { expect, inject, test } from 'vitest'
import { printTrials } from '../../../scripts/evaluate/table.ts'
import { PLANTED, trialsOf } from '../../../scripts/evaluate/trials.ts'
import { walkOf } from '../../../scripts/evaluate/walks.ts'
import { FIRST_JUDGED, judgedDays, NO_STANCE, regimesOf } from '../../../src/analysis/evidence/replay.ts'
import { EvidenceBook, rowsOf } from '../../../src/analysis/evidence/rows.ts'
import { STANCES } from '../../../src/analysis/evidence/vocabulary.ts'
import { decide } from '../../../src/analysis/judge/decision.ts'
import { heldToPlan } from '../../../src/analysis/judge/guardrails.ts'
import { costsOf, hasPlan, strategyLevels } from '../../../src/analysis/judge/levels.ts'
import { scoredAt, technicalAt, technicalView } from '../../../src/analysis/judge/signals.ts'
import { priceDecimals } from '../../../src/analysis/texts/format.ts'
import { columns, indicatorSeries } from '../../../src/market/indicators/index.ts'
import { parseCode } from '../../../src/market/instruments.ts'
import { listSamples, loadSampleBars } from '../../../src/market/providers/sample.ts'

const IS_PROOF = inject('isProof')
function instrumentOf(key: string) {
  const parsed = parseCode(key)
  if (!parsed.ok) throw new Error(`${key} is no code`)
  return parsed.instrument
}

const ALONE = { coreIsSound: true, flowKnown: false }

test('the replay of a day is the judgement of a report that ends with it, whatever bars come after', async () => {
  const reports = IS_PROOF ? 10_000 : 600
  const samples = listSamples().map(async (sample) => ({
    instrument: instrumentOf(sample.key),
    bars: await loadSampleBars(sample),
  }))
  const series = await Promise.all(samples)
  const enough = Math.max(25, Math.ceil(reports / 250))
  for (let seed = 1; series.length < enough; seed++) series.push(walkOf({ seed, bars: 400, drift: 0 }))
  const each = Math.ceil(reports / series.length)
  let compared = 0
  for (const { instrument, bars } of series) {
    const judged = judgedDays({ instrument, bars })
    const table = columns(bars)
    const whole = { series: indicatorSeries(table), closes: table.close, bars }
    const step = Math.max(1, Math.floor((bars.length - FIRST_JUDGED) / each))
    for (let day = FIRST_JUDGED; day < bars.length; day += step) {
      const seen = bars.slice(0, day + 1)
      const view = technicalView(seen)
      const scored = scoredAt(whole, day)
      expect(JSON.stringify(scored)).toBe(
        JSON.stringify(view && { trend: view.trend, horizons: view.horizons, score: view.score, signal: view.signal }),
      )
      expect(JSON.stringify(technicalAt(whole, day))).toBe(JSON.stringify(view))
      const price = seen.at(-1)?.close ?? 0
      const [place, costs] = [
        { price, decimals: priceDecimals(instrument, price) },
        costsOf(instrument, bars[day]?.date ?? ''),
      ]
      const decision = heldToPlan(
        decide(view, ALONE),
        (side) => view !== null && hasPlan({ side, technical: view, ...place }, costs),
      )
      expect([STANCES[judged.stances[day] ?? NO_STANCE], judged.scores[day]]).toEqual([decision.type, decision.score])
      compared += 1
    }
  }
  expect(compared).toBeGreaterThanOrEqual(reports)
})

test('bars that are appended change no byte of the reports, trades and regimes before them', () => {
  const { instrument, bars } = walkOf({ seed: 9, bars: 500, drift: 0 })
  const short = bars.slice(0, 400)
  const [before, after] = [judgedDays({ instrument, bars: short }), judgedDays({ instrument, bars })]
  expect(after.stances.slice(0, 400)).toEqual(before.stances)
  expect(after.scores.slice(0, 400)).toEqual(before.scores)
  expect(regimesOf(bars).slice(0, 400)).toEqual(regimesOf(short))
  const levels = (some: typeof bars) => JSON.stringify(strategyLevels(technicalView(some.slice(0, 300)), 50, 2))
  expect(levels(bars)).toBe(levels(short))
  const plans = [short, bars].map((some) => new EvidenceBook(1).add({ instrument, bars: some }).observations)
  const [early, late] = plans.map((some) =>
    some.filter(({ measure }) => measure === 2).map(({ date, net }) => [date, net]),
  )
  expect(late?.slice(0, early?.length)).toEqual(early)
})

test('where there is nothing to find hardly an edge is claimed, and as much is bought as sold', () => {
  const found = trialsOf({ panels: IS_PROOF ? 10_000 : 60, width: 1, bars: 500, seed: 1, drift: 0 })
  printTrials('random walks', found)
  expect(found.claims).toBeLessThanOrEqual(0.05)
  expect(Math.abs(found.stances.buy - found.stances.sell)).toBeLessThanOrEqual(0.03)
  const panels = trialsOf({ panels: IS_PROOF ? 200 : 4, width: PLANTED.width, bars: 500, seed: 2, drift: 0 })
  printTrials('random walks in panels', panels)
  expect(panels.claims).toBeLessThanOrEqual(0.05)
}, 3_600_000)

test('a planted edge is found', () => {
  const found = trialsOf({ panels: IS_PROOF ? 100 : 4, bars: 500, seed: 3, ...PLANTED })
  printTrials('planted edge', found)
  expect(found.claims).toBeGreaterThanOrEqual(0.8)
}, 3_600_000)

test('rows add up: groups share out the observations, scopes contain each other, few are called few', () => {
  const book = new EvidenceBook(1)
  for (let seed = 1; seed <= 3; seed++) book.add(walkOf({ seed, bars: 420, drift: 0 }))
  const rows = rowsOf(book)
  const count = (group: string, regime: string) =>
    rows.find((row) => row.measure === 'sessions_5' && row.group === group && row.regime === regime)?.count ?? 0
  const all = count('buy', 'all') + count('hold', 'all') + count('sell', 'all')
  expect(all).toBe(3 * (420 - FIRST_JUDGED - 6))
  const buckets = ['score_0_19', 'score_20_39', 'score_40_59', 'score_60_79', 'score_80_100']
  expect(buckets.reduce((sum, group) => sum + count(group, 'all'), 0)).toBe(all)
  const regimes = ['bull', 'bear', 'sideways', 'unknown']
  expect(regimes.reduce((sum, regime) => sum + count('buy', regime), 0)).toBe(count('buy', 'all'))
  for (const row of rows) {
    expect(row.effective_size).toBeLessThanOrEqual(row.count)
    if (row.effective_size < 30) expect(['too_few', 'no_claim']).toContain(row.verdict)
    if (row.effective_size < 30) expect([row.confidence_probability, row.brier_skill]).toEqual([null, null])
  }
  expect(rows).toEqual(rowsOf(book))
})
