// The outcome of the owner's signals: computed on request from the stored bars, so that a later correction of the bars
// changes it too.

import {
  dailyHeld,
  type Followable,
  type FollowedAdvice,
  followable,
  followedAdvice,
  movesOfAnyDay,
} from '../../../analysis/evidence/followed.ts'
import { Action } from '../../../analysis/schemas.ts'
import { keptBarsOf, type Signal } from '../../../db/signals.ts'
import type { Bar } from '../../../market/bars.ts'
import { benchmarkOf } from '../../../market/benchmarks.ts'
import { type Instrument, parseCode } from '../../../market/instruments.ts'
import { BarList } from '../../../market/providers/answer-cache.ts'

/** Reading and checking a listing's bars takes about five milliseconds. */
const MOST_LISTINGS = 200

const NOT_LOOKED_AT = 'not_looked_at'

/** One listing after another: the bars of many at once would exceed the memory. */
export async function followAll(
  db: D1Database,
  signals: readonly Signal[],
  windows: readonly number[],
): Promise<Map<number, FollowedAdvice[]>> {
  const told = new Map<number, FollowedAdvice[]>()
  const indices = new Map<string, Promise<StoredBars | null>>()
  const now = Date.now()
  const keys = [...new Set(signals.map(({ key }) => key))]
  for (const [i, key] of keys.entries()) {
    const some = signals.filter((signal) => signal.key === key)
    const isMeasured = some.some(({ unscorable }) => unscorable === null)
    const market =
      i >= MOST_LISTINGS ? NOT_LOOKED_AT : isMeasured ? await marketOf(db, key, { indices, now }) : 'no_bars'
    const first = some.reduce((least, { anchor }) => (anchor < least ? anchor : least), some[0]?.anchor ?? '')
    const daily = typeof market === 'string' ? null : dailyHeld(market, first)
    const asked = windows.map((sessions) => {
      const anyDay = typeof market === 'string' ? { rose: 0, fell: 0 } : movesOfAnyDay(market, sessions)
      return { sessions, daily, anyDay }
    })
    for (const signal of some) {
      told.set(
        signal.id,
        asked.map((window) => followedAdvice(adviceOf(signal), market, window)),
      )
    }
  }
  return told
}

const adviceOf = ({ action, anchor, price, stopLoss, targetPrice, unscorable }: Signal) => ({
  action: Action.parse(action),
  ...{ anchor, price, stop: stopLoss, target: targetPrice, unscorable },
})

type StoredBars = { bars: Bar[]; keptAt: number }
type Reading = { indices: Map<string, Promise<StoredBars | null>>; now: number }

async function marketOf(db: D1Database, key: string, { indices, now }: Reading): Promise<Followable | string> {
  const parsed = parseCode(key)
  if (!parsed.ok) return 'no_bars'
  const kept = await keptOf(db, key)
  if (kept === null) return 'no_bars'
  return followable(parsed.instrument, kept, { index: await indexOf(db, parsed.instrument, indices), now })
}

/** Read once for all listings that are compared with it. */
function indexOf(db: D1Database, instrument: Instrument, indices: Reading['indices']): Promise<StoredBars | null> {
  const key = benchmarkOf(instrument)?.index.key
  if (key === undefined) return Promise.resolve(null)
  const known = indices.get(key) ?? keptOf(db, key)
  indices.set(key, known)
  return known
}

async function keptOf(db: D1Database, key: string): Promise<StoredBars | null> {
  const kept = await keptBarsOf(db, key)
  const bars = kept && BarList.safeParse(JSON.parse(kept.body))
  return bars?.success === true ? { bars: bars.data, keptAt: kept?.keptAt ?? 0 } : null
}
