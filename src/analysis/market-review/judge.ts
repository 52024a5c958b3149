// The traffic light of a market: the breadth, strength and heat of its day, as one figure.

import type { LightState, Temperature } from '../codes.ts'
import type { ReportLanguage } from '../schemas.ts'
import { textsOf } from '../texts/book.ts'
import type { Breadth, RegionFacts } from './facts.ts'
import { REGION_SPECS, type Region } from './regions.ts'

type Dimension = { score: number; available: boolean }

/** In its wire form: it is stored and sent unchanged, and analyses of the day read it. */
export type MarketLight = {
  region: Region
  trade_date: string
  status: LightState
  score: number
  label: string
  temperature_label: string
  reasons: string[]
  guidance: string
  dimensions: { breadth: Dimension; index: Dimension; limit: Dimension }
  data_quality: 'ok' | 'partial' | 'unavailable'
}

const NEUTRAL: Dimension = { score: 50, available: false }
const MAX_REASONS = 4

/** Null for a market without a light. */
export function marketLight(facts: RegionFacts): MarketLight | null {
  const spec = REGION_SPECS[facts.region]
  if (!spec.hasLight) return null
  const words = textsOf(facts.language).review
  const { breadth: counted } = facts
  const breadth = counted === null ? NEUTRAL : share(counted.up, counted.down)
  const limit = counted === null ? NEUTRAL : share(counted.limitUp, counted.limitDown)
  const index = indexDimension(facts)
  const score = Math.round(0.45 * breadth.score + 0.35 * index.score + 0.2 * limit.score)
  const status = score >= 60 ? 'green' : score >= 40 ? 'yellow' : 'red'
  const dimensions = { breadth, index, limit }
  return {
    region: facts.region,
    trade_date: facts.date,
    status,
    score,
    label: words.light[status],
    temperature_label: words.temperature[temperatureOf(score)],
    reasons: reasonsOf(facts, averageChange(facts)),
    guidance: words.guidance[status],
    dimensions,
    data_quality: qualityOf(dimensions, spec.hasBreadth),
  }
}

export function temperatureOf(score: number): Temperature {
  if (score >= 70) return 'strong'
  if (score >= 55) return 'warm'
  return score >= 40 ? 'mixed' : 'weak'
}

function share(more: number, less: number): Dimension {
  return more + less === 0 ? NEUTRAL : { score: Math.round((more / (more + less)) * 100), available: true }
}

function indexDimension(facts: RegionFacts): Dimension {
  const average = averageChange(facts)
  if (average === null) return NEUTRAL
  return { score: Math.round(Math.min(100, Math.max(0, 50 + 12 * average))), available: true }
}

/** The mean of the indices that rise with the market; an index of fear is left out. */
export function averageChange({ indices }: Pick<RegionFacts, 'indices'>): number | null {
  const counted = indices.filter(({ key }) => key !== 'VIX')
  return counted.length === 0 ? null : counted.reduce((sum, { changePct }) => sum + changePct, 0) / counted.length
}

function reasonsOf(facts: RegionFacts, average: number | null): string[] {
  const words = textsOf(facts.language).review
  const [main] = facts.indices
  const strongest = facts.boards?.industries.top[0]
  const told = [
    main && words.reason.main(main.name, signed(main.changePct)),
    average === null || facts.indices.length < 2 ? null : words.reason.average(signed(average)),
    facts.breadth && breadthReason(facts.breadth, facts.language),
    facts.breadth && words.reason.limits(facts.breadth.limitUp, facts.breadth.limitDown),
    strongest && words.reason.leader(strongest.name, signed(strongest.changePct ?? 0)),
  ]
  return told.flatMap((reason) => reason ?? []).slice(0, MAX_REASONS)
}

const breadthReason = ({ up, down }: Breadth, language: ReportLanguage): string =>
  textsOf(language).review.reason.breadth(up, down)

function qualityOf(dimensions: MarketLight['dimensions'], hasBreadth: boolean): MarketLight['data_quality'] {
  const wanted = hasBreadth ? Object.values(dimensions) : [dimensions.index]
  if (wanted.every(({ available }) => available)) return 'ok'
  return wanted.some(({ available }) => available) ? 'partial' : 'unavailable'
}

const signed = (value: number): string => `${value > 0 ? '+' : ''}${value.toFixed(2)}%`
