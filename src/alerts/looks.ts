// How the rules of each source are checked in a round.

import type { Bar, Fetched } from '../market/bars.ts'
import { lastCompletedSession, sessionEnd } from '../market/calendar.ts'
import { examinePrices } from '../market/consistency/examine.ts'
import type { CheckKey } from '../market/consistency/types.ts'
import type { Market } from '../market/instruments.ts'
import { bookGate, gateWithin, lookAtBook } from './book.ts'
import { crossing } from './crossings.ts'
import { evaluateQuotes, type Level, type Memories, type SeenQuote } from './evaluate.ts'
import { instrumentOf, type Round, refusing, SETTLE_MS } from './round.ts'
import { Findings, type Rule } from './rule.ts'
import type { Doubt } from './trust.ts'

/** Only quotes of open markets are checked. */
export async function lookAtQuotes(round: Round, rule: Rule, memories: Memories, open: ReadonlySet<Market>) {
  const findings = new Findings()
  const targets = await round.owner(rule.row.owner).targetsOf(rule)
  if (targets.length === 0) findings.doubt('no_targets', rule.row.target)
  const quotes = new Map<string, SeenQuote>()
  const needsVolumes = rule.type === 'volume_spike'
  const asked = targets.filter((key) => open.has(marketOf(key)))
  for (const key of asked) {
    const seen = await round.seen(key, marketOf(key), needsVolumes)
    if (typeof seen === 'string') findings.doubt(seen, key)
    else if (needsVolumes && seen.meanVolume === null) findings.doubt('no_bars', key)
    else if (needsVolumes && seen.volume === null) findings.doubt('no_volume', key)
    else quotes.set(key, seen)
  }
  const known = rule.type === 'level_touch' ? await round.owner(rule.row.owner).levels() : null
  const levels = known === null ? null : (key: string) => wantedLevels(rule, known.get(key) ?? [])
  if (levels !== null) for (const key of asked) if (levels(key).length === 0) findings.doubt('no_levels', key)
  const batch = { targets: asked, memories, now: round.now, ...(levels === null ? {} : { levels }) }
  const first = evaluateQuotes(rule, { ...batch, quotes })
  const slots = [...first.changes.memories.keys()]
  if (slots.length > 0) await withholdUntrusted({ round, findings, quotes, slots })
  const { changes, evaluated } = slots.length === 0 ? first : evaluateQuotes(rule, { ...batch, quotes })
  for (const { slot, target } of changes.firings) {
    const level = slot === target ? {} : { level: slot.slice(target.length + 1) }
    findings.facts.set(slot, { ...findings.facts.get(target), ...level })
  }
  findings.changes = changes
  findings.evaluated = evaluated
  return { findings, any: asked.length > 0 }
}

export function wantedLevels({ parameters: { level } }: Pick<Rule, 'parameters'>, known: readonly Level[]): Level[] {
  if (level === 'any') return [...known]
  return known.filter(({ name }) => name === level || (level === 'entry' && name === 'entry_low'))
}

type Suspects = { round: Round; findings: Findings; quotes: Map<string, SeenQuote>; slots: readonly string[] }

/** Quotes that would change something must pass every check first; the others count as not seen. */
async function withholdUntrusted({ round, findings, quotes, slots }: Suspects): Promise<void> {
  const suspects = new Set(slots.map((slot) => slot.split(' ')[0] ?? slot))
  for (const key of suspects) {
    const quote = quotes.get(key)
    if (quote === undefined) continue
    const trusted = await round.trusted(key, marketOf(key))
    if (!trusted.ok) {
      quotes.delete(key)
      findings.doubt(trusted.doubt, key, trusted.checks)
      continue
    }
    const { price, changePct, marks } = trusted
    quotes.set(key, { ...quote, price, changePct })
    const source = round.sourceOf(key)
    findings.facts.set(key, { ...(source === null ? {} : { source }), ...(marks.length === 0 ? {} : { marks }) })
  }
}

/** How late the bar of a source may be, ms after the session. */
const LATE_MS = 3 * 3_600_000

/** Checks the bar of the last completed session, once for each listing. */
export async function lookAtBars(round: Round, rule: Rule, memories: Memories): Promise<Findings> {
  const findings = new Findings()
  const targets = await round.owner(rule.row.owner).targetsOf(rule)
  if (targets.length === 0) findings.doubt('no_targets', rule.row.target)
  for (const key of targets) {
    const market = marketOf(key)
    const session = lastCompletedSession(market, round.now - SETTLE_MS)
    const at = sessionEnd(market, session)
    if ((memories[key]?.[1] ?? 0) >= at) continue
    const happening = { slot: key, target: key, at, happenedAt: at, point: session }
    const quiet = { ...happening, hasHappened: false, value: 0, threshold: 0 }
    // Sessions that ended before the rule was created are not checked.
    if (at <= rule.armedAt) {
      findings.happenings.push(quiet)
      continue
    }
    const found = crossedOn(await round.barsUntil(key, session), { rule, key, market, session, now: round.now })
    if ('doubt' in found) {
      findings.doubt(found.doubt, key, found.checks)
      if (found.doubt !== 'not_looked_at' && round.now - at > LATE_MS) findings.happenings.push(quiet)
      continue
    }
    findings.evaluated += 1
    findings.happenings.push({ ...happening, ...found })
    findings.facts.set(key, { session })
  }
  return findings
}

type BarLook = { rule: Rule; key: string; market: Market; session: string; now: number }

type Crossed = { hasHappened: boolean; value: number; threshold: number } | { doubt: Doubt; checks: CheckKey[] }

/** Bars that fail a check of the figures give no crossing. */
export function crossedOn(fetched: Fetched<Bar[]> | null, { rule, key, market, session, now }: BarLook): Crossed {
  const instrument = instrumentOf(key)
  const left = (doubt: Doubt, checks: CheckKey[] = []) => ({ doubt, checks })
  if (fetched === null) return left('not_looked_at')
  if (!fetched.ok || instrument === null) return left('no_bars')
  if (fetched.provenance !== null) return left('sample')
  const prices = { bars: fetched, quote: { ok: false as const, runs: [] } }
  const { bars, consistency } = examinePrices(instrument, prices, { dividends: null, now })
  const { type, parameters } = rule
  const found = crossing(bars, { type, parameters, market, session })
  if (!found.ok) return left(found.reason)
  if (consistency.withheld.some((touch) => touch === 'price' || touch === 'averages')) {
    return left('withheld', refusing(consistency))
  }
  const { crossed: hasHappened, value, threshold } = found
  return { hasHappened, value, threshold }
}

/** Signals since the last check. */
export async function lookAtAdvice(round: Round, rule: Rule, memories: Memories): Promise<Findings> {
  const findings = new Findings()
  const things = round.owner(rule.row.owner)
  const targets = new Set(await things.targetsOf(rule))
  if (targets.size === 0) findings.doubt('no_targets', rule.row.target)
  const actions = rule.parameters.actions as readonly string[]
  const seen = memories[NEWEST]?.[1] ?? 0
  for (const { id, key, action, actionLabel, price, unscorable, createdAt } of await things.advicesAfter(seen)) {
    const isWanted = targets.has(key) && (actions.length === 0 || actions.includes(action))
    if (isWanted && unscorable === 'sample') findings.doubt('sample', key)
    findings.evaluated += 1
    const happening = {
      at: id,
      happenedAt: Date.parse(createdAt),
      point: `signal ${id}`,
      value: price ?? 0,
      threshold: 0,
    }
    if (isWanted && unscorable !== 'sample') {
      findings.happenings.push({ ...happening, slot: key, target: key, hasHappened: true })
      findings.facts.set(key, { action, text: actionLabel ?? action })
    }
    findings.happenings.push({ ...happening, slot: NEWEST, target: key, hasHappened: false })
  }
  return findings
}

const NEWEST = '#newest'

/** The time after the close when a day's figures are complete. */
const LIGHT_SETTLES_MS = 30 * 60_000

export const lightSession = (market: Market, now: number): string =>
  lastCompletedSession(market, now - LIGHT_SETTLES_MS)

export async function lookAtLight(round: Round, rule: Rule, memories: Memories): Promise<Findings> {
  const findings = new Findings()
  const { type, parameters, row } = rule
  const market = row.target as Market
  const session = lightSession(market, round.now)
  const at = sessionEnd(market, session)
  const [light, before] = await round.lights(market, session)
  if (light?.session !== session) {
    findings.doubt('no_light', market)
    return findings
  }
  findings.facts.set(market, { session, status: light.status, ...(before && { statusBefore: before.score }) })
  const common = { slot: market, target: market, at }
  if (type === 'market_light_status') {
    const statuses = parameters.statuses as readonly string[]
    const side = statuses.includes(light.status) ? 1 : -1
    // The state before the rule's first light: the previous light, if it is known.
    if (memories[market] === undefined && at > rule.armedAt) {
      const was = before !== undefined && statuses.includes(before.status) ? 1 : -1
      findings.readings.push({
        ...common,
        at: at - 1,
        side: was,
        value: before?.score ?? 0,
        threshold: 60,
        session: null,
      })
    }
    findings.readings.push({ ...common, side, value: light.score, threshold: 60, session: null })
  } else {
    const isNext = before !== undefined && nextIs(market, before.session, session)
    if (!isNext) findings.doubt('no_light_before', market)
    const fall = isNext ? before.score - light.score : 0
    const least = Number(parameters.min_drop)
    const happening = { ...common, happenedAt: at, point: session, hasHappened: isNext && fall >= least }
    findings.happenings.push({ ...happening, value: fall, threshold: least })
  }
  findings.evaluated += 1
  return findings
}

/** Whether the second session directly follows the first. */
const nextIs = (market: Market, before: string, session: string): boolean =>
  lastCompletedSession(market, sessionEnd(market, session) - 1) === before

export async function lookAtOwnersBook(round: Round, rule: Rule, gateBefore: string | null): Promise<Findings> {
  const findings = new Findings()
  const { deps, now, signal } = round
  const gate = await bookGate(deps.db, rule.row.owner, now)
  if (gateBefore === gate || gateBefore === gateWithin(gate, now)) {
    findings.gate = gateBefore
    return findings
  }
  await lookAtBook({ db: deps.db, market: deps.market, signal, now }, rule, findings)
  findings.gate = findings.doubts.size === 0 ? gate : gateWithin(gate, now)
  return findings
}

export function marketOf(key: string): Market {
  const instrument = instrumentOf(key)
  if (instrument === null) throw new Error(`${key} is no listing`)
  return instrument.market
}
