// The parts of a stored report with their own display. A part that is missing, as in older reports, or has an
// unexpected shape is not shown.

import { say, type Text } from '../texts.ts'
import type { Report } from '../wire.ts'

/** The markets in which red means a rising price. */
export const RED_RISES: ReadonlySet<string> = new Set(['cn', 'tw', 'jp', 'kr'])

type Json = Record<string, unknown>

export type Horizon = { label: string; direction: string; directionLabel: string }
export type Fact = { label: string; value: string }
export type LabelledText = { label: string; text: string }
export type Sentence = { text: string; mark: 'doubtful' | 'undecidable' | null; cites: number[] }
export type Comment = {
  notice: string
  contradiction: string | null
  sentences: Sentence[]
  evidence: { n: number; text: string }[]
  dropped: number
}

export type StoredParts = {
  /** `brief`: the three components of the overall trend, in one line. */
  horizons: { rows: Horizon[]; holds: string | null; brief: string | null } | null
  plan: { figures: Fact[]; text: string } | null
  performance: Fact[]
  beside: LabelledText[]
  evidence: { text: string; figures: Fact[] } | null
  comment: Comment | null
}

export function storedParts({ details }: Pick<Report, 'details'>): StoredParts {
  const raw = objectOf(details?.raw_result)
  return {
    horizons: horizonsIn(objectOf(raw.horizons)),
    plan: planIn(objectOf(raw.trade_plan)),
    performance: performanceIn(objectOf(objectOf(objectOf(details?.context_snapshot).enhanced_context).trend_analysis)),
    beside: BESIDE.flatMap((name) => toldIn(raw[name])),
    evidence: evidenceIn(raw),
    comment: commentIn(raw.model_comment),
  }
}

const objectOf = (value: unknown): Json => (isObject(value) ? value : {})
const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)
const numberOf = (value: unknown): number | null => (typeof value === 'number' && Number.isFinite(value) ? value : null)
const listOf = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : [])

function horizonsIn({ rows, holds }: Json): StoredParts['horizons'] {
  const told = listOf(rows).flatMap((row): Horizon[] => {
    const [label, direction, directionLabel] = [row.label, row.direction, row.direction_label].map(textOf)
    return label && direction && directionLabel ? [{ label, direction, directionLabel }] : []
  })
  return told.length === 0 ? null : { rows: told, holds: textOf(holds), brief: briefOf(listOf(rows)) }
}

/** Without the periods in brackets after a name. */
function briefOf(rows: readonly Json[]): string | null {
  const told = ['short', 'medium', 'long'].flatMap((key) => {
    const row = rows.find((one) => one.key === key)
    const [name, direction] = [textOf(row?.label)?.split(/[(（]/)[0]?.trim(), textOf(row?.direction_label)]
    return name && direction ? [`${name} ${direction}`] : []
  })
  return told.length === 0 ? null : told.join(' · ')
}

function planIn(plan: Json): StoredParts['plan'] {
  const text = textOf(plan.text)
  if (text === null) return null
  const share = (value: number) => `${trimmed(value)} %`
  return {
    text,
    figures: [
      ...factOf(say('Reward / risk'), plan.reward_risk, (value) => `${value.toFixed(2)} : 1`),
      ...factOf(say('To win, after costs'), plan.reward_pct, share),
      ...factOf(say('To lose, after costs'), plan.risk_pct, share),
      ...factOf(
        say('Position, to lose {share} % at most', { share: numberOf(plan.risk_budget_pct) ?? '?' }),
        plan.position_pct,
        (value) => `≤ ${share(value)}`,
      ),
    ],
  }
}

const PERFORMANCE: [field: string, label: Text, isSigned: boolean][] = [
  ['return_5d_pct', 'Return, 5 sessions', true],
  ['return_20d_pct', 'Return, 20 sessions', true],
  ['return_60d_pct', 'Return, 60 sessions', true],
  ['return_250d_pct', 'Return, 250 sessions', true],
  ['volatility_60d_pct', 'Volatility a year, of 60 sessions', false],
  ['max_drawdown_250d_pct', 'Maximum drawdown, 250 sessions', true],
]

/** A figure that is not known yet is shown as a dash, so that it is not taken for an omission. */
function performanceIn(trend: Json): Fact[] {
  if (!PERFORMANCE.some(([field]) => numberOf(trend[field]) !== null)) return []
  return PERFORMANCE.map(([field, label, isSigned]) => {
    const value = numberOf(trend[field])
    return { label: say(label), value: value === null ? '–' : `${isSigned ? withSign(value) : trimmed(value)} %` }
  })
}

const BESIDE = ['market_comparison', 'liquidity', 'company_dates', 'peer_multiples']

function toldIn(part: unknown): LabelledText[] {
  const { label, text } = objectOf(part)
  return typeof label === 'string' && typeof text === 'string' ? [{ label, text }] : []
}

function evidenceIn(raw: Json): StoredParts['evidence'] {
  const evidence = objectOf(raw.evidence)
  const text = textOf(evidence.text)
  if (text === null) return null
  const row = objectOf(evidence.row)
  const signed = (value: number) => `${withSign(value)} %`
  return {
    text,
    figures: [
      ...factOf(say('Cases, as independent ones'), row.effective_size, (value) => value.toFixed(0)),
      ...factOf(say('Mean return'), row.mean_return_pct, signed),
      ...factOf(say('Random entry'), row.random_entry_pct, signed),
      ...factOf(say('Probability'), raw.confidence_probability, (value) => `${(value * 100).toFixed(0)} %`),
    ],
  }
}

function commentIn(value: unknown): Comment | null {
  const comment = objectOf(value)
  const notice = textOf(comment.notice)
  if (notice === null) return null
  const numbers = (cites: unknown) => (Array.isArray(cites) ? cites.flatMap((n) => numberOf(n) ?? []) : [])
  return {
    notice,
    contradiction: textOf(comment.contradiction),
    sentences: listOf(comment.sentences).flatMap(({ text, mark, cites }): Sentence[] => {
      if (typeof text !== 'string') return []
      return [{ text, mark: mark === 'doubtful' || mark === 'undecidable' ? mark : null, cites: numbers(cites) }]
    }),
    evidence: listOf(comment.evidence).flatMap(({ n, text }) => {
      return typeof n === 'number' && typeof text === 'string' ? [{ n, text }] : []
    }),
    dropped: numberOf(objectOf(comment.counts).dropped) ?? 0,
  }
}

function factOf(label: string, value: unknown, shown: (value: number) => string): Fact[] {
  const number = numberOf(value)
  return number === null ? [] : [{ label, value: shown(number) }]
}

const trimmed = (value: number): string => value.toFixed(Math.abs(value) < 10 ? 2 : 1)
const withSign = (value: number): string => `${value > 0 ? '+' : value < 0 ? '−' : ''}${trimmed(Math.abs(value))}`

// The checks of a stored report with a warning or a failure, by group of figures.

export type Figures = 'price' | 'change' | 'averages' | 'range' | 'levels' | 'volume' | 'valuation'

type Alarm = { label: string; text: string; touches: string[] }

export type Checks = { isBlocked: boolean; alarms: Alarm[] }

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

/** The results of a report's checks; reports from before the checks existed have none. */
export function checksOf({ details }: Pick<Report, 'details'>): Checks {
  const raw = details?.raw_result
  const consistency = isObject(raw) ? raw.consistency : null
  if (!isObject(consistency)) return { isBlocked: false, alarms: [] }
  const findings = Array.isArray(consistency.findings) ? consistency.findings : []
  return { isBlocked: consistency.blocked === true, alarms: findings.flatMap(alarmOf) }
}

function alarmOf(finding: unknown): Alarm[] {
  if (!isObject(finding) || (finding.verdict !== 'warn' && finding.verdict !== 'fail')) return []
  const { label, text, touches } = finding
  if (typeof text !== 'string' || !Array.isArray(touches)) return []
  return [{ label: typeof label === 'string' ? label : text, text, touches: touches.map(String) }]
}
