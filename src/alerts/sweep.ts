// The check of all rules, every few minutes. It may run twice at once, late, or not for hours, and may be interrupted
// anywhere: a rule's memory, what fired and the message about it are stored in one batch, so the next check continues
// from there. Stored results that were not delivered are delivered by the next call.

import { noteStreamed, type Trigger, triggersToStream } from '../db/alert-triggers.ts'
import { endExpiredRules, noteSweep, type RuleAtWork, rulesAtWork, storeLook, sweepsDone } from '../db/alerts.ts'
import { isoMicros } from '../lib/clock.ts'
import { errorFields, log } from '../lib/log.ts'
import { count } from '../lib/metrics.ts'
import type { Market } from '../market/instruments.ts'
import { Changes, type Memories, note, step } from './evaluate.ts'
import { lookAtAdvice, lookAtBars, lookAtLight, lookAtOwnersBook, lookAtQuotes, marketOf } from './looks.ts'
import { lookOf } from './outcome.ts'
import { instrumentOf, Round, type RoundDeps } from './round.ts'
import { type Findings, type Rule, ruleOf } from './rule.ts'
import { sessionNow, tradingMinutesBetween } from './trust.ts'

export type SweepDeps = RoundDeps & {
  /** Sends triggers to the open streams of their owners; a repeated trigger is sent once. */
  publish: (triggers: readonly Trigger[]) => Promise<void>
  /** Makes sure that messages are sent. */
  wake: () => Promise<void>
}

export const SWEEP_EVERY_MS = 5 * 60_000
const MARKETS: readonly Market[] = ['cn', 'hk', 'us', 'jp', 'kr', 'tw']
/** The part of the sweep that is not about the quotes of a market. */
export const REST = 'rest'

const MOST_AT_ONCE = 500
/** After this time no source is requested any more; the data so far is evaluated. */
const PATIENCE_MS = 120_000

/** Returns a line for the log. */
export async function sweepAlerts(deps: SweepDeps, now: number): Promise<string> {
  await endExpiredRules(deps.db, isoMicros(now))
  await passOn(deps)
  const rules = await allRules(deps.db, now)
  if (rules.length === 0) return 'no rules'
  const round = new Round(deps, now, AbortSignal.timeout(PATIENCE_MS))
  const open = new Set(MARKETS.filter((market) => sessionNow(market, now) !== null))
  const before = await sweepsDone(deps.db)
  await round.fetchQuotes(await keysToAsk(round, rules, open))
  let fired = 0
  for (const one of rules) fired += await lookAtRule(round, one, { open, before })
  for (const name of [...open, REST]) await noteSweep(deps.db, { name, at: now, outcome: `${rules.length} rules` })
  await passOn(deps)
  count('bellwether_alerts_fired_total', {}, fired)
  if (fired > 0) await deps.wake()
  return `${rules.length} rules, ${fired} fired`
}

type Loaded = { rule: Rule; stored: RuleAtWork; memories: Memories; gate: string | null }

async function allRules(db: D1Database, now: number): Promise<Loaded[]> {
  const found: Loaded[] = []
  for (let after = 0; ; ) {
    const some = await rulesAtWork(db, { after, now: isoMicros(now), limit: MOST_AT_ONCE })
    for (const stored of some) {
      const rule = ruleOf(stored)
      const { gate = null, slots = {} } = stored.memories === null ? {} : (JSON.parse(stored.memories) as Remembered)
      if (rule !== null) found.push({ rule, stored, memories: slots, gate })
    }
    after = some.at(-1)?.id ?? 0
    if (some.length < MOST_AT_ONCE) return found
  }
}

type Remembered = { gate?: string | null; slots?: Memories }

/** The listings that any rule needs, each once. */
async function keysToAsk(round: Round, rules: readonly Loaded[], open: ReadonlySet<Market>): Promise<Set<string>> {
  const keys = new Set<string>()
  if (open.size === 0) return keys
  for (const { rule } of rules) {
    if (rule.source !== 'quote') continue
    for (const key of await round.owner(rule.row.owner).targetsOf(rule)) {
      const instrument = instrumentOf(key)
      if (instrument !== null && open.has(instrument.market)) keys.add(key)
    }
  }
  return keys
}

type Circumstances = { open: ReadonlySet<Market>; before: ReadonlyMap<string, number> }

/** Returns how many targets fired. A rule that fails does not stop the others. */
async function lookAtRule(round: Round, loaded: Loaded, circumstances: Circumstances): Promise<number> {
  const { rule, stored, memories, gate } = loaded
  try {
    const findings = await findingsOf(round, loaded, circumstances)
    if (findings === null) return 0
    const changes = findings.changes ?? settled(rule, findings, { memories, now: round.now })
    const isChanged = changes.memories.size > 0 || findings.gate !== gate
    const next = isChanged
      ? JSON.stringify({ gate: findings.gate, slots: { ...memories, ...Object.fromEntries(changes.memories) } })
      : null
    const missed = missedSince(round, rule, circumstances)
    const look = await lookOf({ rule, stored, findings, changes, missed, now: round.now, memories: next })
    if (look === null) return 0
    return (await storeLook(round.deps.db, look)) ? changes.firings.length : 0
  } catch (error) {
    log.error('alerts.rule_failed', { ruleId: rule.row.id, ...errorFields(error) })
    return 0
  }
}

async function findingsOf(
  round: Round,
  { rule, memories, gate }: Loaded,
  { open }: Circumstances,
): Promise<Findings | null> {
  if (rule.source === 'bars') return lookAtBars(round, rule, memories)
  if (rule.source === 'advice') return lookAtAdvice(round, rule, memories)
  if (rule.source === 'light') return lookAtLight(round, rule, memories)
  if (rule.source === 'book') {
    const findings = await lookAtOwnersBook(round, rule, gate)
    return findings.gate === gate && findings.evaluated === 0 ? null : findings
  }
  if (open.size === 0) return null
  const { findings, any } = await lookAtQuotes(round, rule, memories, open)
  return any || findings.doubts.has('no_targets') ? findings : null
}

/** Compares the readings and events of a rule with its memory. */
function settled(rule: Rule, findings: Findings, { memories, now }: { memories: Memories; now: number }): Changes {
  const changes = new Changes()
  const before = (slot: string) => changes.memories.get(slot) ?? memories[slot]
  for (const reading of findings.readings) step(rule, changes, reading, before(reading.slot), now)
  for (const happening of findings.happenings) note(rule, changes, happening, before(happening.slot), now)
  return changes
}

/** How many rounds may be missing before this is reported. */
const ROUNDS_MISSED = 3

/** Since when the quotes of the rule were not checked although the market was open; null when there is no gap. */
function missedSince({ now }: Round, rule: Rule, { open, before }: Circumstances): number | null {
  if (rule.source !== 'quote' || rule.scope !== 'single_symbol') return null
  const market = marketOf(rule.row.target)
  const session = open.has(market) ? sessionNow(market, now) : null
  const last = before.get(market)
  if (session === null || last === undefined) return null
  const from = Math.max(last, rule.armedAt)
  const minutes = tradingMinutesBetween(market, session.day, from, now)
  return minutes * 60_000 > ROUNDS_MISSED * SWEEP_EVERY_MS ? from : null
}

const STREAMED_AT_ONCE = 200

/** Sends the streams what they have not got yet. */
async function passOn({ db, publish }: SweepDeps): Promise<void> {
  for (;;) {
    const untold = await triggersToStream(db, STREAMED_AT_ONCE)
    if (untold.length === 0) return
    await publish(untold)
    await noteStreamed(
      db,
      untold.map(({ id }) => id),
    )
    if (untold.length < STREAMED_AT_ONCE) return
  }
}
