// A trial of a rule: whether its condition is true now. Nothing is stored and nothing is sent.

import type { ReportLanguage } from '../analysis/schemas.ts'
import { lastCompletedSession } from '../market/calendar.ts'
import { evaluateQuotes, type Memories, type SeenQuote } from './evaluate.ts'
import { crossedOn, lookAtAdvice, lookAtLight, lookAtOwnersBook, marketOf, wantedLevels } from './looks.ts'
import { reasonText } from './message.ts'
import { Round, type RoundDeps, SETTLE_MS } from './round.ts'
import type { Findings, Rule } from './rule.ts'
import { ALERT_TEXTS } from './texts.ts'
import { type Doubt, sessionNow } from './trust.ts'

export type TargetResult = {
  target: string
  status: 'triggered' | 'not_triggered' | 'evaluation_error'
  recordStatus: 'triggered' | 'skipped' | null
  observed: number | null
  threshold: number | null
  message: string
}

export type Trial = { results: TargetResult[]; evaluated: number; triggered: number; skipped: number; message: string }

const MOST_TARGETS = 100
const PATIENCE_MS = 20_000

export async function tryRule(
  deps: RoundDeps,
  rule: Rule,
  { language, now }: { language: ReportLanguage; now: number },
) {
  // A computed light would be stored, and a trial stores nothing.
  const asked = { ...deps, makeLight: async () => null }
  const round = new Round(asked, now, AbortSignal.timeout(PATIENCE_MS))
  const words = ALERT_TEXTS[language]
  const results = await resultsOf(round, rule, language)
  const of = (status: TargetResult['status']) => results.filter((one) => one.status === status).length
  const triggered = of('triggered')
  const skipped = of('evaluation_error')
  const evaluated = results.length - skipped
  const [only] = results
  const single = only === undefined ? words.test.nothing : only.message
  const message = results.length > 1 ? words.test.several(triggered, evaluated) : single
  return { results, evaluated, triggered, skipped, message } satisfies Trial
}

async function resultsOf(round: Round, rule: Rule, language: ReportLanguage): Promise<TargetResult[]> {
  if (rule.source === 'quote' || rule.source === 'bars') {
    const targets = (await round.owner(rule.row.owner).targetsOf(rule)).slice(0, MOST_TARGETS)
    if (rule.source === 'quote') return quoteResults(round, rule, { targets, language })
    return Promise.all(targets.map((target) => barResult(round, rule, { target, language })))
  }
  const findings =
    rule.source === 'book'
      ? await lookAtOwnersBook(round, rule, null)
      : rule.source === 'light'
        ? await lookAtLight(round, rule, {})
        : await lookAtAdvice(round, rule, {})
  return foundResults(rule, findings, language)
}

type TrialRequest = { targets: string[]; language: ReportLanguage }

async function quoteResults(round: Round, rule: Rule, { targets, language }: TrialRequest): Promise<TargetResult[]> {
  const now = round.now
  const open = targets.filter((target) => sessionNow(marketOf(target), now) !== null)
  await round.fetchQuotes(open)
  const results: TargetResult[] = []
  const levels = rule.type === 'level_touch' ? await round.owner(rule.row.owner).levels() : null
  for (const target of targets) {
    const market = marketOf(target)
    if (!open.includes(target)) {
      results.push(told({ target, language, doubt: null, text: ALERT_TEXTS[language].closed }))
      continue
    }
    const seen = await round.seen(target, market, rule.type === 'volume_spike')
    const doubt = typeof seen === 'string' ? seen : await doubtOfTrusted(round, target)
    if (typeof seen === 'string' || doubt !== null) results.push(told({ target, language, doubt }))
    else results.push(quoteResult(rule, { target, language, seen, known: levels?.get(target) ?? [], now }))
  }
  return results
}

async function doubtOfTrusted(round: Round, target: string): Promise<Doubt | null> {
  const trusted = await round.trusted(target, marketOf(target))
  return trusted.ok ? null : trusted.doubt
}

type QuoteTrial = {
  target: string
  language: ReportLanguage
  seen: SeenQuote
  known: Parameters<typeof wantedLevels>[1]
  now: number
}

/** As if the condition had been false a moment ago. */
function quoteResult(rule: Rule, { target, language, seen, known, now }: QuoteTrial): TargetResult {
  if (rule.type === 'level_touch') {
    const [level] = wantedLevels(rule, known)
    if (level === undefined) return told({ target, language, doubt: 'no_levels' })
    const figures = { observed: seen.price, threshold: level.price }
    return { ...plain(target, language, false), ...figures }
  }
  if (rule.type === 'volume_spike' && (seen.volume === null || seen.meanVolume === null)) {
    return told({ target, language, doubt: seen.volume === null ? 'no_volume' : 'no_bars' })
  }
  const memories: Memories = { [target]: [-1, 0, null, seen.session.day, null] }
  const batch = { targets: [target], quotes: new Map([[target, seen]]), memories, now }
  const [fired] = evaluateQuotes(rule, batch).changes.firings
  const figures = { observed: fired?.value ?? seen.price, threshold: fired?.threshold ?? null }
  if (fired === undefined) return { ...plain(target, language, false), ...figures }
  return { ...plain(target, language, true), ...figures, message: sentence(rule, fired, language) }
}

async function barResult(
  round: Round,
  rule: Rule,
  { target, language }: { target: string; language: ReportLanguage },
): Promise<TargetResult> {
  const market = marketOf(target)
  const session = lastCompletedSession(market, round.now - SETTLE_MS)
  const bars = await round.barsUntil(target, session)
  const found = crossedOn(bars, { rule, key: target, market, session, now: round.now })
  if ('doubt' in found) return told({ target, language, doubt: found.doubt })
  const { hasHappened, value, threshold } = found
  const result = { ...plain(target, language, hasHappened), observed: value, threshold }
  if (!hasHappened) return result
  return { ...result, message: sentence(rule, { target, value, threshold, facts: { session } }, language) }
}

function foundResults(rule: Rule, findings: Findings, language: ReportLanguage): TargetResult[] {
  const doubtful = [...findings.doubts].flatMap(([doubt, targets]) =>
    targets.map((target) => told({ target, language, doubt })),
  )
  const readings = new Map(findings.readings.map((one) => [one.slot, { ...one, holds: one.side === 1 }]))
  const happened = findings.happenings.filter(({ slot }) => !slot.startsWith('#'))
  const all = [...readings.values(), ...happened.map((one) => ({ ...one, holds: one.hasHappened }))]
  const looked = all.map(({ slot, target, value, threshold, holds }): TargetResult => {
    const facts = findings.facts.get(slot) ?? findings.facts.get(target) ?? {}
    const result = { ...plain(target, language, holds), observed: value, threshold }
    return holds ? { ...result, message: sentence(rule, { target, value, threshold, facts }, language) } : result
  })
  return [...looked, ...doubtful].slice(0, MOST_TARGETS)
}

function plain(target: string, language: ReportLanguage, holds: boolean): TargetResult {
  const { test } = ALERT_TEXTS[language]
  return {
    target,
    status: holds ? 'triggered' : 'not_triggered',
    recordStatus: holds ? 'triggered' : null,
    ...{ observed: null, threshold: null, message: holds ? test.holds : test.holdsNot },
  }
}

type Doubtful = { target: string; language: ReportLanguage; doubt: Doubt | null; text?: string }

function told({ target, language, doubt, text }: Doubtful): TargetResult {
  const message = text ?? (doubt === null ? '' : ALERT_TEXTS[language].doubt[doubt])
  return { target, status: 'evaluation_error', recordStatus: 'skipped', observed: null, threshold: null, message }
}

type Firing = { target: string; value: number; threshold: number; facts?: object }

const sentence = ({ type, parameters }: Rule, { facts = {}, ...figures }: Firing, language: ReportLanguage): string =>
  reasonText({ type, parameters, ...figures, facts }, language)
