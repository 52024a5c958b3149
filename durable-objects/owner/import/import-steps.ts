// The steps of an import, entry by entry. Each step may be repeated after a crash.

import { conversation, feedbackKey, talkId } from '../../../src/bindings.ts'
import {
  CONVERSATION_IDS,
  hasPortfolio,
  type IdMap,
  IMPORTED_TABLES,
  type ImportedRow,
  landRows,
  ROWS_OF_CONVERSATIONS,
} from '../../../src/db/imports.ts'
import { hexId } from '../../../src/lib/crypto.ts'
import { type Entries, type Entry, rowsOf, secretsOf, tableOf } from './archive-check.ts'
import type { ArchiveReader, Piece } from './archive-reader.ts'
import type { SecretToGive } from './archive-shapes.ts'

/** The results of an import so far. */
export type Carried = {
  rows: Record<string, number>
  /** Rows that were not imported, by table. */
  leftOut: Record<string, number>
  /** The conversations of the archive, with the sessions of talks; `made` counts those that were created. */
  conversations: { id: string; session: string | null; events: number }[]
  made: number
  events: number
  files: number
  /** The bytes of all files in workspaces. */
  bytes: number
  /** Conversations whose id was already used here. */
  renamed: { from: string; to: string }[]
  secrets: SecretToGive[]
  withPortfolio: boolean
}

export const NOTHING_CARRIED: Carried = {
  ...{ rows: {}, leftOut: {}, conversations: [], made: 0, events: 0, files: 0, bytes: 0 },
  ...{ renamed: [], secrets: [], withPortfolio: true },
}

export type Carrying = {
  env: Env
  owner: string
  archiveId: string
  whole: { archive: ArchiveReader; entries: Entries }
  pieces: Piece[]
  ids: IdMap
  /** False when the owner may have no more conversations. */
  reserve(id: string): boolean
  has(id: string): boolean
}

/** The sessions of talks; the ids of talks are derived from them. */
const SESSIONS = 'chat_sessions.session'
const ROWS_AT_ONCE = 100

/** Chooses the ids of the conversations: their own if these are free. */
export async function chooseConversationIds(by: Carrying, carried: Carried): Promise<Carried> {
  const { env, owner, ids } = by
  const chosen: { space: string; old: string; id: string }[] = []
  for (const { id, session } of carried.conversations) {
    let here = session === null ? id : await talkId(owner, session)
    if (by.has(here)) {
      const other = session === null ? null : `${session.slice(0, 100)}-${hexId().slice(0, 8)}`
      here = other === null ? hexId() : await talkId(owner, other)
      if (other !== null) chosen.push({ space: SESSIONS, old: session ?? '', id: other })
    }
    chosen.push({ space: CONVERSATION_IDS, old: id, id: here })
  }
  ids.put(chosen)
  const withPortfolio = !(await hasPortfolio(env.DB, owner))
  return { ...carried, renamed: renamedOf(carried, ids), withPortfolio }
}

/** Conversations with another id here, and talks with another session. */
function renamedOf({ conversations }: Carried, ids: IdMap): Carried['renamed'] {
  return conversations.flatMap(({ id, session }) => {
    const to = session === null ? ids.get(CONVERSATION_IDS, id) : ids.get(SESSIONS, session)
    const from = session ?? id
    return to === null || to === from ? [] : [{ from, to }]
  })
}

/** Imports an entry, with the entries that belong to it, and returns the results so far. */
export async function carryOut(entry: Entry, carried: Carried, by: Carrying): Promise<Carried> {
  const [folder, name = '', file] = entry.path.split('/')
  if (entry.path === 'secrets.jsonl') return { ...carried, secrets: await secretsOf(by.whole) }
  if (folder === 'database') return carryRows(entry, carried, by)
  if (folder === 'feedback') return carryFeedback(entry, carried, by)
  if (folder === 'conversations' && file === 'conversation.json') return carryConversation(name, carried, by)
  return carried
}

async function carryRows(entry: Entry, carried: Carried, by: Carrying): Promise<Carried> {
  const name = tableOf(entry.path)
  const table = IMPORTED_TABLES.find((one) => one.name === name)
  const rows = await rowsOf(by.whole, entry)
  if (ROWS_OF_CONVERSATIONS.has(name)) return carried
  const isTaken = table !== undefined && (carried.withPortfolio || !name.startsWith('portfolio_'))
  if (!isTaken) return { ...carried, leftOut: added(carried.leftOut, name, rows.length) }
  const wanted = rows.filter(isWanted(name))
  let lost = rows.length - wanted.length
  for (let from = 0; from < wanted.length; from += ROWS_AT_ONCE) {
    const some = wanted.slice(from, from + ROWS_AT_ONCE)
    lost += await landRows(by.env.DB, some, { owner: by.owner, table, ids: by.ids })
  }
  return {
    ...carried,
    rows: added(carried.rows, name, rows.length - lost),
    leftOut: lost === 0 ? carried.leftOut : added(carried.leftOut, name, lost),
  }
}

/** A setting without a value has its default, or is a secret, which the archive does not contain. */
const isWanted = (table: string) => (row: ImportedRow) => table !== 'settings' || row.value !== null

const added = (counts: Record<string, number>, name: string, n: number): Record<string, number> =>
  n === 0 ? counts : { ...counts, [name]: (counts[name] ?? 0) + n }

async function carryFeedback(entry: Entry, carried: Carried, by: Carrying): Promise<Carried> {
  const id = entry.path.replace(/^feedback\//, '').replace(/\.json$/, '')
  const bytes = await by.whole.archive.read(entry.place, entry.bytes)
  await by.env.FILES.put(feedbackKey(by.owner, by.ids.get('feedback.id', id) ?? id), bytes)
  return { ...carried, files: carried.files + 1 }
}

async function carryConversation(from: string, carried: Carried, by: Carrying): Promise<Carried> {
  const { env, owner, ids, pieces, archiveId: archive } = by
  const id = ids.get(CONVERSATION_IDS, from) ?? from
  const told = carried.conversations.find((one) => one.id === from)
  // It was deleted while it was exported.
  if (told === undefined) return { ...carried, leftOut: added(carried.leftOut, 'conversations', 1) }
  const known = told.session
  const session = known === null ? null : (ids.get(SESSIONS, known) ?? known)
  const entries = by.whole.entries.below(`conversations/${from}/`)
  if (!by.reserve(id)) return { ...carried, leftOut: added(carried.leftOut, 'conversations', 1) }
  const made = await conversation(env, owner, id).import({ id, owner, archive, from, session, pieces, entries })
  if (made === 'taken') {
    // The id was used after it was chosen.
    const other = session === null ? null : `${session.slice(0, 100)}-${hexId().slice(0, 8)}`
    const here = other === null ? hexId() : await talkId(owner, other)
    ids.put([
      { space: CONVERSATION_IDS, old: from, id: here },
      ...(other === null ? [] : [{ space: SESSIONS, old: known ?? '', id: other }]),
    ])
    return carryConversation(from, carried, by)
  }
  const files = entries.filter(({ path }) => path.includes('/files/')).length
  return {
    ...carried,
    renamed: renamedOf(carried, ids),
    made: carried.made + 1,
    events: carried.events + told.events,
    files: carried.files + files,
  }
}
