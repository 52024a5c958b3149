import { listWatchlists } from '../db/watchlists.ts'
import type { NameIndex } from '../market/names/name-index.ts'
import { resolveEntries } from '../market/resolve.ts'
import type { ScheduledStock } from './due.ts'
import type { SchedulePlan } from './plan.ts'

/** The stocks of a plan as they are now: a watchlist's change holds from the next slot on. */
export async function plannedStocks(
  db: D1Database,
  names: NameIndex,
  { owner, plan }: { owner: string; plan: SchedulePlan },
): Promise<ScheduledStock[]> {
  const { what } = plan
  if (what.kind === 'market_review') return []
  if (what.kind === 'analysis') {
    const { targets } = resolveEntries(what.stock_codes, names)
    return targets.map(({ instrument, stockCode, listing }) => {
      return { key: instrument.key, stockCode, stockName: listing?.zh ?? null }
    })
  }
  const lists = await listWatchlists(db, owner)
  return lists.find(({ id }) => id === what.watchlist_id)?.stocks ?? []
}
