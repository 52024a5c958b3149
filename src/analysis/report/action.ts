// From advice as text to one action. Code and models that know the action say so; the text is only parsed when they do
// not. A hold that contradicts its own score follows the score unless a named rule set it.

import { z } from 'zod'
import { Action, ReportLanguage } from '../schemas.ts'
import { textsOf } from '../texts/book.ts'

export type ActionQuestion = {
  explicit: string | null
  advice: string
  score: number
  guardrailReason: string | null
  isMarketReview?: boolean
}

const SYNONYMS: Record<string, Action> = {
  'strong buy': 'buy',
  accumulate: 'add',
  trim: 'reduce',
  'strong sell': 'sell',
  wait: 'watch',
}

/** The action of a report; null for a market review and for text without a clear action. */
export function deriveAction(question: ActionQuestion): Action | null {
  if (question.isMarketReview) return null
  const stated = explicitAction(question.explicit) ?? parseAdvice(question.advice)
  if (question.guardrailReason || (stated !== 'hold' && stated !== 'watch')) return stated
  const canonical = bandAction(question.score)
  return canonical === 'watch' ? stated : canonical
}

export function actionLabel(action: Action | null, language: ReportLanguage): string | null {
  return action === null ? null : textsOf(language).report.action[action]
}

/** The action for a score. */
export function bandAction(score: number): Action {
  if (score >= 60) return 'buy'
  if (score >= 40) return 'watch'
  return score >= 20 ? 'reduce' : 'sell'
}

function explicitAction(text: string | null): Action | null {
  const word =
    text
      ?.trim()
      .toLowerCase()
      .replaceAll(/[_\s]+/g, ' ') ?? ''
  const parsed = Action.safeParse(word)
  return parsed.success ? parsed.data : (SYNONYMS[word] ?? labelledAction(word))
}

/** If the whole text is one of the labels, in any language, that decides. */
function labelledAction(text: string): Action | null {
  for (const language of ReportLanguage.options) {
    const { action } = textsOf(language).report
    const found = Action.options.find((key) => action[key].toLowerCase() === text)
    if (found !== undefined) return found
  }
  return null
}

// Terms that contain an action's word without advising it.
const COMPOUNDS =
  /buy-?\s?backs?|sell-?\s?offs?|(buy|sell)-side|buying (power|pressure)|selling pressure|买入返售|卖出回购|买入评级|买盘|卖盘|자사주 매입|매수세|매도세|매수 우위|매도 우위/g

// Advice that postpones an entry says nothing about today.
const DEFERRED = [
  /(等待|等到|待|等).{0,12}(再|后|时机|机会|方可|才).{0,4}(买入|建仓|布局|加仓|入场)/,
  /(等待|等到|等)(买入|建仓|布局|加仓|入场).{0,3}(时机|机会|信号|点)/,
  /wait(ing)?\b[^.;]{0,60}\b(before|until|to|for)\b[^.;]{0,40}\b(buy|buying|entry|enter|entering|add|adding)\b/,
  /매수.{0,8}(기다|대기|보류)|(기다|대기).{0,10}매수/,
]

const DO_NOT = '(?:不建议|不宜|不要|不可|暂不|切勿|避免|勿|不|无需|不必|不需要|不用)'
const NEVER = "(?:do not|don't|not|never|avoid|no need to|neither|nor|no)"

type Negation = { pattern: RegExp; action: 'avoid' | 'hold' }

const NEGATIONS: Negation[] = [
  { pattern: new RegExp(`${DO_NOT}(?:再|继续|追高|盲目)?(?:买入|建仓|布局|追高)`, 'g'), action: 'avoid' },
  { pattern: new RegExp(`\\b${NEVER}\\s+(?:recommend(?:ed)?\\s+)?(?:to\\s+)?(?:buy|buying)\\b`, 'g'), action: 'avoid' },
  { pattern: /매수(하지|는 하지|를 피|을 피| 금지| 비추천| 자제)/g, action: 'avoid' },
  { pattern: new RegExp(`${DO_NOT}(?:再|继续|急于)?(?:加仓|增持|卖出|清仓|减仓)`, 'g'), action: 'hold' },
  {
    pattern: new RegExp(
      `\\b${NEVER}\\s+(?:to\\s+)?(?:add|adding|sell|selling|trim|trimming|reduce|clear|exit)\\b`,
      'g',
    ),
    action: 'hold',
  },
  { pattern: /(매도|추가 매수|비중축소)(할 필요|하지|는 하지| 불필요)/g, action: 'hold' },
]

const GUARDS: [RegExp, Action][] = [
  [/回避|规避|\bavoid\b|회피/, 'avoid'],
  [/预警|警惕|\balert\b|경고/, 'alert'],
]

// Longer words first: each match is blanked, so that `추가 매수` does not count as `매수`, too.
const KEYWORDS: [RegExp, Action][] = [
  [/加仓|增持|\baccumulate\b|\badd to\b|추가 매수/g, 'add'],
  [/减仓|\btrim\b|\breduce\b|비중축소|비중 축소/g, 'reduce'],
  [/卖出|清仓|\bsell\b|매도/g, 'sell'],
  [/买入|布局|建仓|\bbuy\b|매수/g, 'buy'],
  [/持有|洗盘观察|\bhold\b|보유/g, 'hold'],
  [/观望|等待|\bwait\b|\bwatch\b|관망/g, 'watch'],
]

/** The only action that the advice names; null when it names none or several. */
export function parseAdvice(advice: string): Action | null {
  const whole = advice.trim().toLowerCase()
  const label = SYNONYMS[whole] ?? labelledAction(whole)
  if (label !== null && label !== undefined) return label
  const text = whole.replace(COMPOUNDS, ' ')
  if (DEFERRED.some((pattern) => pattern.test(text))) return null
  const negated = new Set(NEGATIONS.filter(({ pattern }) => text.search(pattern) >= 0).map(({ action }) => action))
  // "Neither buy nor sell" is an advice: to wait.
  if (negated.size > 0) return negated.size > 1 ? 'watch' : ([...negated][0] ?? null)
  const guard = GUARDS.find(([pattern]) => pattern.test(text))
  return guard ? guard[1] : keyword(text)
}

function keyword(text: string): Action | null {
  let rest = text
  const found = new Set<Action>()
  for (const [pattern, action] of KEYWORDS) {
    const blanked = rest.replace(pattern, ' ')
    if (blanked !== rest) found.add(action)
    rest = blanked
  }
  const actions = [...found]
  if (actions.length === 1) return actions[0] ?? null
  return actions.length === 2 && found.has('hold') && found.has('watch') ? 'watch' : null
}

const Text = z.string().trim().min(1).optional().catch(undefined)
const Guarded = z
  .object({
    guardrail_reason: Text,
    downgrade_reason: Text,
    decision_score_guardrail_reason: Text,
    dashboard: z
      .object({
        decision_score_calibration: z.object({ guardrail_reason: Text }).optional().catch(undefined),
        decision_stability: z
          .object({ applied: z.literal(true), reason: Text })
          .optional()
          .catch(undefined),
      })
      .optional()
      .catch(undefined),
    metadata: z.object({ guardrail_reason: Text, downgrade_reason: Text }).optional().catch(undefined),
  })
  .catch({})

/** The first reason in a raw result for an action that differs from its score. */
export function guardrailReason(rawResult: unknown): string | null {
  const raw = Guarded.parse(rawResult)
  return (
    raw.guardrail_reason ??
    raw.downgrade_reason ??
    raw.decision_score_guardrail_reason ??
    raw.dashboard?.decision_score_calibration?.guardrail_reason ??
    raw.dashboard?.decision_stability?.reason ??
    raw.metadata?.guardrail_reason ??
    raw.metadata?.downgrade_reason ??
    null
  )
}
