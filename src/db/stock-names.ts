// The stored names of listings. Rows are passed as JSON arrays, thousands in one statement, because a statement binds
// at most a hundred values.

import { z } from 'zod'
import type { Listing, NameStore } from '../kits/market-names/index.ts'
import { hexId } from '../lib/crypto.ts'

type Row = {
  key: string
  kind: Listing['kind']
  zh: string
  en: string
  pinyin: string
  aliases: string
  leading: string | null
  popularity: number
  active: number
}

const Aliases = z.array(z.string())
// About 120 bytes a listing: far below the two megabytes of one bound value.
const ROWS_PER_STATEMENT = 2_000

const COLUMNS = 'key, kind, zh, en, pinyin, aliases, leading, popularity, active'
const FROM_JSON = Array.from({ length: 9 }, (_, i) => `value ->> ${i}`).join(', ')

export function stockNameStore(db: D1Database): NameStore {
  return {
    async state() {
      const row = await db
        .prepare('SELECT seeded_from, revision FROM stock_name_state WHERE id = 1')
        .first<{ seeded_from: string | null; revision: string }>()
      return { seededFrom: row?.seeded_from ?? null, revision: row?.revision ?? '' }
    },
    seed: (version, listings) => seed(db, version, listings),
    async changed() {
      const { results } = await db
        .prepare(
          `SELECT ${COLUMNS} FROM stock_names WHERE changed_at IS NOT NULL ORDER BY popularity DESC, key LIMIT 60000`,
        )
        .all<Row>()
      return results.map(fromRow)
    },
  }
}

async function seed(db: D1Database, version: string, listings: readonly Listing[]): Promise<void> {
  const lay = db.prepare(
    `INSERT INTO stock_names (${COLUMNS}, packaged_in) SELECT ${FROM_JSON}, ?2 FROM json_each(?1) WHERE true
     ON CONFLICT (key) DO UPDATE SET packaged_in = excluded.packaged_in, ${taken('kind', 'en', 'leading', 'popularity')},
       zh = iif(changed_at IS NULL, excluded.zh, zh), pinyin = iif(changed_at IS NULL, excluded.pinyin, pinyin),
       aliases = iif(changed_at IS NULL, excluded.aliases, aliases), active = iif(changed_at IS NULL, 1, active)`,
  )
  await db.batch([
    ...chunked(listings).map((rows) => lay.bind(rows, version)),
    db.prepare('DELETE FROM stock_names WHERE changed_at IS NULL AND packaged_in <> ?').bind(version),
    db
      .prepare(
        `INSERT INTO stock_name_state (id, seeded_from, revision) VALUES (1, ?1, ?2)
         ON CONFLICT (id) DO UPDATE SET seeded_from = excluded.seeded_from, revision = excluded.revision`,
      )
      .bind(version, hexId()),
  ])
}

/** Mainland stocks and funds, including delisted ones. */
export async function mainlandNames(db: D1Database): Promise<Listing[]> {
  const { results } = await db
    .prepare(`SELECT ${COLUMNS} FROM stock_names WHERE key GLOB '[0-9][0-9][0-9][0-9][0-9][0-9]' LIMIT 60000`)
    .all<Row>()
  return results.map(fromRow)
}

/** All listings, including delisted ones. */
export async function allNames(db: D1Database): Promise<Listing[]> {
  const { results } = await db.prepare(`SELECT ${COLUMNS} FROM stock_names LIMIT 60000`).all<Row>()
  return results.map(fromRow)
}

/** Stores the changes from a provider; every isolate sees them at its next check of the names. */
export async function saveChangedNames(
  db: D1Database,
  changed: readonly Listing[],
  told: { source: string; at: string },
): Promise<void> {
  const save = db.prepare(
    `INSERT INTO stock_names (${COLUMNS}, source, changed_at) SELECT ${FROM_JSON}, ?2, ?3 FROM json_each(?1) WHERE true
     ON CONFLICT (key) DO UPDATE SET ${taken('zh', 'pinyin', 'aliases', 'active', 'source', 'changed_at')}`,
  )
  const state = db.prepare(
    `INSERT INTO stock_name_state (id, revision, refreshed_at, refreshed_from) VALUES (1, ?1, ?2, ?3)
     ON CONFLICT (id) DO UPDATE SET revision = iif(?4, excluded.revision, revision), ${taken('refreshed_at', 'refreshed_from')}`,
  )
  await db.batch([
    ...chunked(changed).map((rows) => save.bind(rows, told.source, told.at)),
    state.bind(hexId(), told.at, told.source, changed.length > 0 ? 1 : 0),
  ])
}

const taken = (...columns: string[]): string => columns.map((name) => `${name} = excluded.${name}`).join(', ')

function chunked(listings: readonly Listing[]): string[] {
  const chunks: string[] = []
  for (let at = 0; at < listings.length; at += ROWS_PER_STATEMENT) {
    chunks.push(JSON.stringify(listings.slice(at, at + ROWS_PER_STATEMENT).map(toRow)))
  }
  return chunks
}

/** The values in the order of `COLUMNS`. */
function toRow({ key, kind, zh, en, pinyin, aliases, leading, popularity, active }: Listing): unknown[] {
  return [key, kind, zh, en, pinyin, JSON.stringify(aliases), leading, popularity, active ? 1 : 0]
}

function fromRow({ aliases, active, ...row }: Row): Listing {
  return { ...row, aliases: Aliases.parse(JSON.parse(aliases)), active: active === 1 }
}
