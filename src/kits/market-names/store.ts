// Persistent names: the packaged list, and what providers have reported since. A store implements `NameStore`; all
// other code calls `currentNames`.

import { log } from '../../lib/log.ts'
import type { Listing } from './listing.ts'
import type { NameIndex } from './name-index.ts'
import { layeredNames, packagedNames, packagedTable } from './packaged.ts'

export type StoreState = {
  /** The version of the stored packaged list; null in an empty store. */
  seededFrom: string | null
  /** Changes with every later change of the names. */
  revision: string
}

export type NameStore = {
  state(): Promise<StoreState>
  /** Stores a packaged list; changes since an earlier one are kept. A repetition changes nothing. */
  seed(version: string, listings: readonly Listing[]): Promise<void>
  /** The differences from the packaged list, the most popular first. */
  changed(): Promise<Listing[]>
}

const TRUSTED_MS = 60_000

type NameCache = { names: NameIndex; state: StoreState; checkedAt: number }

let known: NameCache | null = null

/** The packaged names with the store's changes. If the store fails, the last known names. */
export async function currentNames(store: NameStore, now = Date.now()): Promise<NameIndex> {
  if (known !== null && now - known.checkedAt < TRUSTED_MS && now >= known.checkedAt) return known.names
  try {
    known = { ...(await refreshed(store)), checkedAt: now }
    return known.names
  } catch (error) {
    log.warn('names.store_failed', { cause: error instanceof Error ? error.message : String(error) })
    if (known !== null) known = { ...known, checkedAt: now }
    return known?.names ?? packagedNames()
  }
}

/** Makes the next call read the store, after this isolate changed it. */
export function forgetNames(): void {
  known = null
}

async function refreshed(store: NameStore): Promise<{ names: NameIndex; state: StoreState }> {
  let state = await store.state()
  if (known !== null && known.state.revision === state.revision && known.state.seededFrom === state.seededFrom) {
    return { names: known.names, state }
  }
  const { version, table } = await packagedTable()
  // Versions increase. While a new program replaces an old one, the old one does not overwrite the newer list.
  if (state.seededFrom === null || state.seededFrom < version) {
    await store.seed(
      version,
      Array.from({ length: table.size }, (_, row) => table.listing(row)),
    )
    state = await store.state()
  }
  const changed = await store.changed()
  return { names: changed.length === 0 ? await packagedNames() : await layeredNames(state.revision, changed), state }
}
