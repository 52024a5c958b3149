// What the lists of a market add to the known names: new listings, and further names of known ones. Nothing is removed:
// these lists omit what is traded elsewhere, so a missing listing has not necessarily ended.

import { fold, type Listing, spellerFrom } from '../../kits/market-names/index.ts'
import { type Clock, isoMicros } from '../../lib/clock.ts'
import { log } from '../../lib/log.ts'
import type { RefreshStore } from './refresh.ts'
import type { Listed, MarketList } from './sources.ts'

export type ListRefreshed =
  | { ok: true; list: string; source: string; listed: number; added: number; named: number }
  | { ok: false; list: string; source: string; reason: string }

const NEW_POPULARITY = 10
const MOST_ALIASES = 8

/** Requests every list and stores its additions. A list that fails, or is too short to be complete, changes nothing. */
export async function refreshLists(
  store: RefreshStore,
  lists: readonly MarketList[],
  clock: Clock,
): Promise<ListRefreshed[]> {
  const outcomes: ListRefreshed[] = []
  for (const list of lists) {
    const outcome = await refreshList(store, list, clock)
    const { ok, ...told } = outcome
    if (ok) log.info('names.list_refreshed', told)
    else log.warn('names.list_refused', told)
    outcomes.push(outcome)
  }
  return outcomes
}

async function refreshList(store: RefreshStore, list: MarketList, clock: Clock): Promise<ListRefreshed> {
  const told = { list: list.name, source: list.source }
  try {
    const rows = await list.load()
    if (rows.length < list.least) return { ok: false, ...told, reason: `only ${rows.length} listings` }
    const { added, named } = additionsOf(await store.known(), rows)
    await store.save([...added, ...named], { source: list.source, at: isoMicros(clock()) })
    return { ok: true, ...told, listed: rows.length, added: added.length, named: named.length }
  } catch (error) {
    return { ok: false, ...told, reason: error instanceof Error ? error.message : 'failed' }
  }
}

function additionsOf(known: readonly Listing[], rows: readonly Listed[]): { added: Listing[]; named: Listing[] } {
  const byKey = new Map(known.map((listing) => [listing.key, listing]))
  const taken = ownersOf(known, rows)
  const spell = spellerFrom(known)
  const additions = { added: [] as Listing[], named: [] as Listing[] }
  for (const row of new Map(rows.map((one) => [one.key, one])).values()) {
    const before = byKey.get(row.key)
    if (before === undefined) additions.added.push(newListing(row, spell))
    else {
      const fresh = newNames(before, row).filter((name) => taken.get(fold(name))?.size === 1)
      const aliases = [...before.aliases, ...fresh]
      const isChanged = !before.active || (fresh.length > 0 && aliases.length <= MOST_ALIASES)
      if (isChanged)
        additions.named.push({
          ...before,
          aliases: aliases.slice(0, Math.max(MOST_ALIASES, before.aliases.length)),
          active: true,
        })
    }
  }
  return additions
}

function newListing({ key, name, en, kind, aliases }: Listed, spell: (name: string) => string): Listing {
  return {
    key,
    zh: name,
    en,
    pinyin: spell(fold(name)),
    aliases: aliases.filter((alias) => fold(alias) !== fold(name)),
    leading: null,
    kind,
    active: true,
    popularity: NEW_POPULARITY,
  }
}

function newNames({ zh, en, aliases }: Listing, row: Listed): string[] {
  const own = new Set([zh, en, ...aliases].map(fold))
  const names = [row.name, row.en, ...row.aliases].filter((name) => name !== '' && !own.has(fold(name)))
  return [...new Map(names.map((name) => [fold(name), name])).values()]
}

/** The listings of each name, known or in the list: a name of two listings becomes an alias of neither. */
function ownersOf(known: readonly Listing[], rows: readonly Listed[]): Map<string, Set<string>> {
  const owners = new Map<string, Set<string>>()
  const note = (name: string, key: string): void => {
    if (name !== '') owners.set(fold(name), (owners.get(fold(name)) ?? new Set()).add(key))
  }
  for (const { key, zh, en, aliases } of known) for (const name of [zh, en, ...aliases]) note(name, key)
  for (const { key, name, en, aliases } of rows) for (const one of [name, en, ...aliases]) note(one, key)
  return owners
}
