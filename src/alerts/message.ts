// Fired alerts as a sentence and as a message.

import { escapeMarkdown } from '../analysis/report/render/markdown-text.ts'
import type { ReportLanguage } from '../analysis/schemas.ts'
import { textsOf } from '../analysis/texts/book.ts'
import type { AlertType, Parameters } from './kinds.ts'
import type { Facts, Rule, StoredFacts } from './rule.ts'
import { ALERT_TEXTS } from './texts.ts'

/** The rest is only counted, because users read a message and do not search it. */
const MOST_LINES = 50

export type AlertFigures = { target: string; value: number; threshold: number; facts: Facts }

export function alertMessage(rule: Rule, told: readonly AlertFigures[]): { title: string; markdown: string } {
  const { language, row, type, parameters } = rule
  const words = ALERT_TEXTS[language]
  const title = words.title(words.severity[row.severity] ?? row.severity, row.name, told.length)
  const lines = told.slice(0, MOST_LINES).map((one) => {
    const sentence = reasonText({ type, parameters, ...one }, language)
    return `- **${escapeMarkdown(one.target)}**: ${escapeMarkdown(sentence)}`
  })
  const rest = told.length > MOST_LINES ? [words.more(told.length - MOST_LINES)] : []
  return { title, markdown: [`# ${escapeMarkdown(title)}`, [...lines, ...rest].join('\n')].join('\n\n') }
}

export type Reasoned = AlertFigures & { type: AlertType; parameters: Parameters }

/** Why it fired, without the target's name. */
export function reasonText(reasoned: Reasoned, language: ReportLanguage): string {
  const words = ALERT_TEXTS[language]
  const { marks = [] } = reasoned.facts
  const sentence = sentenceOf(reasoned, language)
  const names = marks.map((mark) => textsOf(language).consistency.check[mark])
  return marks.length === 0 ? sentence : `${sentence}; ${words.marked(names.join(', '))}`
}

function sentenceOf({ type, parameters, value, threshold, facts }: Reasoned, language: ReportLanguage): string {
  const words = ALERT_TEXTS[language]
  const { session = '', account = '', level = '', status = '' } = facts
  const isUp = parameters.direction === 'above' || parameters.direction === 'bullish_cross'
  switch (type) {
    case 'price_cross':
      return words.reached(figure(value), figure(threshold), isUp)
    case 'price_change_percent':
      return words.changed(signed(value), signed(threshold))
    case 'volume_spike': {
      const times = Number(parameters.multiplier)
      return words.volume(whole(value), figure(times), whole(threshold / times))
    }
    case 'level_touch':
      return words.level(words.levels[level] ?? level, figure(threshold), figure(value))
    case 'new_advice':
      return words.advice(facts.text ?? facts.action ?? '')
    case 'portfolio_stop_loss':
      return words.loss(percent(value), percent(threshold), account)
    case 'portfolio_concentration':
      return words.weight(percent(value), percent(threshold))
    case 'portfolio_drawdown':
      return words.fall(percent(value), percent(threshold))
    case 'portfolio_price_stale':
      return words.noPrice(account)
    case 'market_light_status':
      return words.light(words.lights[status] ?? status, whole(value))
    case 'market_light_score_drop':
      return words.drop(whole(value), session)
    default:
      return words.crossed(words.indicator[type], figure(value), figure(threshold), isUp, session)
  }
}

/** The sentence of a stored trigger. */
export function storedReason(
  stored: { type: AlertType; target: string; observed: number | null; threshold: number | null; facts: StoredFacts },
  language: ReportLanguage,
): string {
  const { type, target, observed, threshold, facts } = stored
  const words = ALERT_TEXTS[language]
  const { reason, parameters, count = 0, text = '', since = '', marks = [] } = facts
  if (reason === 'missed') return words.missed(since)
  if (reason !== undefined) {
    const names = marks.map((mark) => textsOf(language).consistency.check[mark])
    return [words.doubtful(words.doubt[reason], count, text), names.join(', ')].filter((one) => one !== '').join(' · ')
  }
  return reasonText({ type, parameters, target, value: observed ?? 0, threshold: threshold ?? 0, facts }, language)
}

const figure = (value: number): string =>
  value.toLocaleString('en-US', { useGrouping: false, maximumFractionDigits: Math.abs(value) < 10 ? 4 : 2 })
const whole = (value: number): string => value.toLocaleString('en-US', { useGrouping: false, maximumFractionDigits: 0 })
const percent = (value: number): string => `${value.toFixed(2)}%`
const signed = (value: number): string => `${value > 0 ? '+' : ''}${value.toFixed(2)}%`
