// The signal of a finished report: its advice, its validity, and the completeness of its plan.

import { z } from 'zod'
import type { NewSignal } from '../../db/signals.ts'
import {
  lastCompletedSession,
  localDate,
  type MarketPhase,
  nextTradingDay,
  sessionEnd,
  startedSession,
} from '../../market/calendar.ts'
import { type Market, parseCode } from '../../market/instruments.ts'
import { Action, ReportLanguage } from '../schemas.ts'
import { textsOf } from '../texts/book.ts'

/** The fields of a stored report that are used; those after `action` are JSON. */
export type ReportOfSignal = {
  id: number
  owner: string
  queryId: string
  key: string
  stockCode: string
  stockName: string | null
  reportLanguage: string
  action: string
  actionLabel: string | null
  score: number | null
  price: number | null
  dataNotice: string | null
  dataChecks: string | null
  createdAt: string
  phase: string | null
  dashboard: string | null
  confidence: string | null
  probability: number | null
  evidence: string | null
  quality: string | null
}

export const HORIZONS = ['intraday', '1d', '3d', '5d', '10d', 'swing', 'long'] as const
export type SignalHorizon = (typeof HORIZONS)[number]

const Sentences = z.array(z.string()).catch([])
const Text = z.string().nullable().catch(null)

const Dashboard = z.object({
  core_conclusion: z.object({ one_sentence: Text }).catch({ one_sentence: null }),
  intelligence: z
    .object({ risk_alerts: Sentences, positive_catalysts: Sentences })
    .catch({ risk_alerts: [], positive_catalysts: [] }),
  battle_plan: z
    .object({
      levels: z.array(z.object({ key: z.string(), price: z.number() })).catch([]),
      position_strategy: z.object({ risk_control: Text }).catch({ risk_control: null }),
    })
    .catch({ levels: [], position_strategy: { risk_control: null } }),
  phase_decision: z.object({ watch_conditions: Sentences }).catch({ watch_conditions: [] }),
})
type Dashboard = z.infer<typeof Dashboard>

const Phase = z.object({ phase: z.string() })

/** Null for a report without advice on a listing. */
export function signalOfReport(report: ReportOfSignal): NewSignal | null {
  const action = Action.safeParse(report.action)
  const parsed = parseCode(report.key)
  if (!action.success || !parsed.ok) return null
  const { market } = parsed.instrument
  const at = Date.parse(report.createdAt)
  const phase = Phase.safeParse(jsonOf(report.phase)).data?.phase ?? null
  const horizon = defaultHorizon(action.data, phase)
  const prices = pricesOf(report)
  const words = wordsOf(report)
  return {
    ...{ owner: report.owner, identity: `report:${report.id}`, key: report.key, market },
    ...{ stockCode: report.stockCode, stockName: report.stockName, sourceType: 'analysis', sourceAgent: null },
    ...{ sourceReportId: report.id, traceId: report.queryId, triggerSource: 'analysis', decisionProfile: 'balanced' },
    ...{ marketPhase: phase, action: action.data, actionLabel: report.actionLabel, horizon },
    ...{ confidence: confidenceOf(report), score: report.score, price: report.price, ...prices },
    planQuality: planQuality({ ...prices, ...words }),
    unscorable: report.dataNotice === null ? (report.price === null ? 'no_price' : null) : 'sample',
    ...{ madeOn: localDate(market, at), anchor: startedSession(market, at) },
    ...{ createdAt: report.createdAt, expiresAt: expiryOf(horizon, market, at) },
    words: JSON.stringify(words),
  }
}

/** Joined sentences, and values that are shown unchanged. */
export type SignalWords = {
  reason: string | null
  catalystSummary: string | null
  watchConditions: string | null
  riskSummary: string | null
  invalidation: string | null
  evidence: unknown
  dataQuality: unknown
  metadata: unknown
}

function wordsOf(report: ReportOfSignal): SignalWords {
  const board = boardOf(report)
  const { clauseJoin } = textsOf(ReportLanguage.catch('zh').parse(report.reportLanguage)).report
  const joined = (sentences: readonly string[]) => (sentences.length === 0 ? null : sentences.join(clauseJoin))
  return {
    reason: board?.core_conclusion.one_sentence ?? null,
    catalystSummary: joined(board?.intelligence.positive_catalysts ?? []),
    watchConditions: joined(board?.phase_decision.watch_conditions ?? []),
    riskSummary: joined(board?.intelligence.risk_alerts ?? []),
    invalidation: board?.battle_plan.position_strategy.risk_control ?? null,
    evidence: { confidence_probability: report.probability, text: report.evidence },
    dataQuality: jsonOf(report.quality),
    metadata: { query_id: report.queryId, data_notice: report.dataNotice, data_checks: report.dataChecks },
  }
}

function boardOf({ dashboard }: ReportOfSignal): Dashboard | null {
  return Dashboard.safeParse(jsonOf(dashboard)).data ?? null
}

function pricesOf(report: ReportOfSignal) {
  const levels = boardOf(report)?.battle_plan.levels ?? []
  const level = (key: string) => levels.find((one) => one.key === key)?.price ?? null
  const entries = [level('ideal_buy'), level('secondary_buy')].filter((price) => price !== null)
  return {
    entryLow: entries.length === 0 ? null : Math.min(...entries),
    entryHigh: entries.length === 0 ? null : Math.max(...entries),
    stopLoss: level('stop_loss'),
    targetPrice: level('take_profit'),
  }
}

const CONFIDENCE = { high: 0.8, medium: 0.6, low: 0.4 } as const

/** The level is written in the report's language. */
function confidenceOf({ confidence, reportLanguage }: ReportOfSignal): number | null {
  const words = textsOf(ReportLanguage.catch('zh').parse(reportLanguage)).report.confidence
  const level = (['high', 'medium', 'low'] as const).find((one) => words[one] === confidence)
  return level === undefined ? null : CONFIDENCE[level]
}

type Planned = {
  entryLow: number | null
  entryHigh: number | null
  stopLoss: number | null
  targetPrice: number | null
  invalidation: string | null
  watchConditions: string | null
}

export type PlanQuality = 'complete' | 'partial' | 'minimal'

export function planQuality(plan: Planned): PlanQuality {
  const parts = [plan.entryLow ?? plan.entryHigh, plan.stopLoss, plan.targetPrice]
  const known = [...parts, plan.invalidation, plan.watchConditions].filter(
    (part) => part !== null && part !== '',
  ).length
  return known >= 4 ? 'complete' : known >= 2 ? 'partial' : 'minimal'
}

const WITHIN_A_DAY: ReadonlySet<string> = new Set<MarketPhase>([
  ...(['premarket', 'intraday', 'lunch_break', 'closing_auction'] as const),
])

export function defaultHorizon(action: Action, phase: string | null): SignalHorizon {
  return action === 'alert' || (phase !== null && WITHIN_A_DAY.has(phase)) ? 'intraday' : '3d'
}

/** The number of sessions of a horizon; null when it has no end. */
const SESSIONS: Record<SignalHorizon, number | null> = {
  ...{ intraday: 1, '1d': 1, '3d': 3, '5d': 5, '10d': 10, swing: null, long: null },
}

/** The end of the horizon's last session, counting sessions that end after the advice. */
export function expiryOf(horizon: SignalHorizon | null, market: Market, at: number): string | null {
  const sessions = horizon === null ? null : SESSIONS[horizon]
  if (sessions === null) return null
  let day = lastCompletedSession(market, at)
  for (let more = sessions; more > 0; more--) day = nextTradingDay(market, day)
  return `${new Date(sessionEnd(market, day)).toISOString().slice(0, -1)}000Z`
}

function jsonOf(text: string | null): unknown {
  if (text === null) return null
  try {
    return JSON.parse(text)
  } catch {
    // A column with invalid JSON counts as empty.
    return null
  }
}
