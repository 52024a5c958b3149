// The strategies that a request may name, each a list of conditions that are asked of the computed view. They judge beside
// the score and never change it; a purchase that every chosen strategy speaks against loses confidence.

import type { CheckKey, SkillId, SkillVerdict } from '../codes.ts'
import type { ReportLanguage } from '../schemas.ts'
import { textsOf } from '../texts/book.ts'
import { answerTo, type SkillView } from './skill-checks.ts'

/** In the order in which they are offered. */
const CHECKS: Record<SkillId, readonly CheckKey[]> = {
  bull_trend: ['averages_rise', 'above_ma20', 'not_chasing', 'macd_rises'],
  ma_golden_cross: ['golden_cross', 'above_ma20', 'not_chasing', 'heavy_volume'],
  volume_breakout: ['breaks_high', 'heavy_volume', 'rsi_not_hot'],
  hot_theme: ['in_hot_board', 'money_flows_in', 'above_ma20'],
  shrink_pullback: ['averages_rise', 'shrinking_volume', 'near_short_average'],
  event_driven: ['has_news', 'heavy_volume', 'turns_up'],
  box_oscillation: ['narrow_box', 'at_box_bottom', 'rsi_not_hot'],
  growth_quality: ['sales_grow', 'profit_grows', 'good_roe', 'fair_price'],
  bottom_volume: ['long_fall', 'heavy_volume', 'turns_up'],
  expectation_repricing: ['profit_grows', 'margin_widens', 'has_news', 'not_chasing'],
  chan_theory: ['bottom_fractal', 'macd_rises', 'turns_up'],
  wave_theory: ['rising_turns', 'golden_retracement', 'above_ma20'],
  dragon_head: ['leads_board', 'in_hot_board', 'heavy_volume', 'money_flows_in'],
  emotion_cycle: ['rsi_cold', 'calm_turnover', 'shrinking_volume'],
  one_yang_three_yin: ['yang_rest_yang', 'averages_rise', 'above_ma20'],
}

const SKILL_IDS = Object.keys(CHECKS) as SkillId[]
export const DEFAULT_SKILL: SkillId = 'bull_trend'

export type SkillFinding = {
  id: SkillId
  name: string
  description: string
  verdict: SkillVerdict
  verdictLabel: string
  met: string[]
  unmet: string[]
  /** Conditions that nothing is known about. */
  unknown: string[]
}

export type Skill = { id: SkillId; name: string; description: string }

export function listSkills(language: ReportLanguage): Skill[] {
  return SKILL_IDS.map((id) => ({ id, ...textsOf(language).skills.skill[id] }))
}

export type ChosenSkills = { known: SkillId[]; unknown: string[] }

/** The strategies that a request names, each once, and the names that are none. */
export function chosenSkills(ids: readonly string[] | null): ChosenSkills {
  const distinct = [...new Set(ids ?? [])]
  const isKnown = (id: string): id is SkillId => Object.hasOwn(CHECKS, id)
  return { known: distinct.filter(isKnown), unknown: distinct.filter((id) => !isKnown(id)) }
}

/** What the strategies find; without a price none can be asked. */
export function skillFindings(
  ids: readonly SkillId[],
  view: SkillView | null,
  language: ReportLanguage,
): SkillFinding[] {
  const texts = textsOf(language).skills
  return ids.map((id) => {
    const answers = CHECKS[id].map((check) => {
      return { text: texts.check[check], answer: view === null ? null : answerTo(check, view) }
    })
    const told = (answer: boolean | null) => answers.filter((one) => one.answer === answer).map(({ text }) => text)
    const [met, unmet, unknown] = [told(true), told(false), told(null)]
    const verdict = verdictOf(met.length, unmet.length, unknown.length)
    return { id, ...texts.skill[id], verdict, verdictLabel: texts.verdict[verdict], met, unmet, unknown }
  })
}

/** Nothing fits as a whole while a part of it cannot be told. */
function verdictOf(met: number, unmet: number, unknown: number): SkillVerdict {
  if (met + unmet === 0) return 'unknown'
  if (unmet === 0) return unknown === 0 ? 'fits' : 'partly'
  return met > unmet ? 'partly' : 'not'
}

/** Whether every strategy that can tell speaks against buying. */
export function speaksAgainst(findings: readonly SkillFinding[]): boolean {
  const told = findings.filter(({ verdict }) => verdict !== 'unknown')
  return told.length > 0 && told.every(({ verdict }) => verdict === 'not')
}
