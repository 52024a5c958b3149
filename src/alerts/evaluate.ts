// Whether conditions have become true, over a batch of observations. Pure: the same batch and the same memory always
// give the same alerts. A condition fires when it becomes true, not while it stays true; it can fire again after it was
// false.

import type { AlertType, Parameters } from './kinds.ts'

/** 1 beyond the line, -1 back behind the return line, 0 between the two if they differ. */
export type Side = 1 | 0 | -1

/**
 * The memory of one target: its side, the time of the data that changed it (epoch ms), when it fired, its session, its
 * line.
 */
export type Memory = [side: Side, at: number, firedAt: number | null, day: string | null, line: number | null]
export type Memories = Record<string, Memory>

/** What the evaluation must know about a rule. */
export type Watch = {
  type: AlertType
  parameters: Parameters
  cooldownMs: number
  /** Earlier events do not count, epoch ms. */
  armedAt: number
}

export type Reading = {
  /** The key of the memory: the target, and the name of a level if a target has several. */
  slot: string
  target: string
  /** The time of the data, epoch ms. */
  at: number
  side: Side
  value: number
  threshold: number
  /** For conditions that begin again with each session: the session and its beginning; else null. */
  session: { day: string; startedAt: number } | null
}

export type Firing = {
  slot: string
  target: string
  at: number
  value: number
  threshold: number
  /** Identifies an alert within its slot. */
  point: string
  isCoolingDown: boolean
}

/** The results of one batch: the new memories, and what fired. */
export class Changes {
  readonly memories = new Map<string, Memory>()
  readonly firings: Firing[] = []
}

export type SeenQuote = {
  price: number
  changePct: number
  volume: number | null
  /** The time of the price, epoch ms. */
  at: number
  session: { day: string; startedAt: number }
  /** Of the twenty previous sessions; null when too few are known. */
  meanVolume: number | null
}

export type Level = { name: string; price: number }

/** Checks the quotes of the targets against one rule. `levels` returns the levels of a listing, for rules about levels. */
export function evaluateQuotes(
  watch: Watch,
  { targets, quotes, memories, now, levels }: QuoteBatch,
): { changes: Changes; evaluated: number } {
  const changes = new Changes()
  let evaluated = 0
  const measure = measureOf(watch)
  for (const target of targets) {
    const quote = quotes.get(target)
    if (quote === undefined) continue
    if (measure === null) {
      const known = levels?.(target) ?? []
      if (known.length > 0) evaluated += 1
      for (const level of known) touch(watch, changes, { target, level, quote, memories, now })
      continue
    }
    const side = measure.side(quote)
    if (side === null) continue
    evaluated += 1
    const before = memories[target]
    const session = measure.isDaily ? quote.session : null
    // Nothing changes when the side is the remembered one: most of a batch ends here.
    if (before !== undefined && (side === 0 || side === before[0]) && (session === null || before[3] === session.day)) {
      continue
    }
    const { value, threshold } = measure.figures(quote)
    step(watch, changes, { slot: target, target, at: quote.at, side, value, threshold, session }, before, now)
  }
  return { changes, evaluated }
}

export type QuoteBatch = {
  targets: readonly string[]
  quotes: ReadonlyMap<string, SeenQuote>
  memories: Memories
  now: number
  levels?: (target: string) => readonly Level[]
}

type Measure = {
  /** Null when the quote lacks the measured value. */
  side: (quote: SeenQuote) => Side | null
  figures: (quote: SeenQuote) => { value: number; threshold: number }
  isDaily: boolean
}

/** Null for rules about levels, which have a line for each target. */
function measureOf({ type, parameters }: Watch): Measure | null {
  const back = Number(parameters.hysteresis_pct ?? 0)
  if (type === 'price_cross') {
    const line = Number(parameters.price)
    const isUp = parameters.direction === 'above'
    const rearm = isUp ? line * (1 - back / 100) : line * (1 + back / 100)
    return {
      side: ({ price }) => sideOf(isUp ? price : -price, isUp ? line : -line, isUp ? rearm : -rearm),
      figures: ({ price }) => ({ value: price, threshold: line }),
      isDaily: false,
    }
  }
  if (type === 'price_change_percent') {
    const line = Number(parameters.change_pct)
    const sign = parameters.direction === 'up' ? 1 : -1
    return {
      side: ({ changePct }) => sideOf(changePct * sign, line, line - back),
      figures: ({ changePct }) => ({ value: changePct, threshold: line * sign }),
      isDaily: true,
    }
  }
  if (type === 'volume_spike') {
    const times = Number(parameters.multiplier)
    return {
      side: ({ volume, meanVolume }) => {
        if (volume === null || meanVolume === null || meanVolume <= 0) return null
        return volume > times * meanVolume ? 1 : -1
      },
      figures: ({ volume, meanVolume }) => ({ value: volume ?? 0, threshold: times * (meanVolume ?? 0) }),
      isDaily: true,
    }
  }
  if (type === 'level_touch') return null
  throw new Error(`${type} looks at no quotes`)
}

/** Beyond from the line on; back below the return line. Without hysteresis the two are the same. */
function sideOf(figure: number, line: number, rearm: number): Side {
  if (figure >= line) return 1
  return figure < rearm || rearm === line ? -1 : 0
}

/** Compares one reading with the memory of its slot. */
export function step(
  { cooldownMs, armedAt }: Watch,
  changes: Changes,
  reading: Reading,
  before: Memory | undefined,
  now: number,
): void {
  const { slot, at, side, session } = reading
  // Another source may report an older price after a newer one.
  if (before !== undefined && at < before[1]) return
  const isOfThisSession = before !== undefined && (session === null || before[3] === session.day)
  const firedAt = before?.[2] ?? null
  const day = session?.day ?? null
  const base = isOfThisSession ? before[0] : baseOf(session, before, armedAt)
  const next: Side = side === 0 ? (base ?? -1) : side
  if (base === null) {
    changes.memories.set(slot, [next, at, firedAt, day, null])
    return
  }
  if (next === base) return
  if (next === -1) {
    changes.memories.set(slot, [next, at, firedAt, day, null])
    return
  }
  fire({ reading, firedAt, cooldownMs, now }, changes, [1, at, null, day, null])
}

/** The side before the first reading: armed, or null when that reading only sets the starting point. */
function baseOf(session: Reading['session'], before: Memory | undefined, armedAt: number): Side | null {
  if (session === null) return null
  return before !== undefined || session.startedAt >= armedAt ? -1 : null
}

type Fire = { reading: Reading; firedAt: number | null; cooldownMs: number; now: number }

function fire({ reading, firedAt, cooldownMs, now }: Fire, changes: Changes, memory: Memory): void {
  const { slot, target, at, value, threshold } = reading
  const isCoolingDown = firedAt !== null && now - firedAt < cooldownMs
  memory[2] = isCoolingDown ? firedAt : now
  changes.memories.set(slot, memory)
  changes.firings.push({ slot, target, at, value, threshold, point: new Date(at).toISOString(), isCoolingDown })
}

type Touch = { target: string; level: Level; quote: SeenQuote; memories: Memories; now: number }

/** A level can be touched from either side. If a level has moved, it counts as another level. */
function touch({ cooldownMs }: Watch, changes: Changes, { target, level, quote, memories, now }: Touch): void {
  const { at, price } = quote
  const slot = `${target} ${level.name}`
  const before = memories[slot]
  const side = Math.sign(price - level.price) as Side
  if (before !== undefined && at < before[1]) return
  const isSame = before?.[4] === level.price
  if (isSame && before[0] === side) return
  const memory: Memory = [side, at, before?.[2] ?? null, null, level.price]
  if (before === undefined || !isSame || before[0] === 0) {
    changes.memories.set(slot, memory)
    return
  }
  const reading = { slot, target, at, side, value: price, threshold: level.price, session: null }
  fire({ reading, firedAt: before[2], cooldownMs, now }, changes, memory)
}

export type Happening = {
  slot: string
  target: string
  /** The time of the data; data that is not newer than the remembered one was checked before. */
  at: number
  /** When it happened, epoch ms; before the rule was armed it does not count. */
  happenedAt: number
  hasHappened: boolean
  value: number
  threshold: number
  point: string
}

/** An event in the data, such as a crossing in a bar: each is checked once. */
export function note(
  { cooldownMs, armedAt }: Watch,
  changes: Changes,
  happening: Happening,
  before: Memory | undefined,
  now: number,
): void {
  const { slot, target, at, happenedAt, hasHappened, value, threshold, point } = happening
  if (before !== undefined && at <= before[1]) return
  const firedAt = before?.[2] ?? null
  const isFiring = hasHappened && happenedAt > armedAt
  const isCoolingDown = firedAt !== null && now - firedAt < cooldownMs
  changes.memories.set(slot, [isFiring ? 1 : -1, at, isFiring && !isCoolingDown ? now : firedAt, null, null])
  if (isFiring) changes.firings.push({ slot, target, at: happenedAt, value, threshold, point, isCoolingDown })
}
