// What an export consists of, unit by unit. Each step of a unit writes some entries and returns the position after
// them, from which it continues after a crash.

import { conversation } from '../../../src/bindings.ts'
import { EXPORTED_TABLES, exportedRows, type RowPosition, secretsToGive } from '../../../src/db/exports.ts'
import { must } from '../../../src/lib/assert.ts'
import type { ArchiveWriter } from './archive-writer.ts'

export type Unit = { kind: 'rows' | 'conversation' | 'feedback' | 'secrets'; name: string }

/** What was exported, for the manifest. */
export type ExportCounts = {
  rows: Record<string, number>
  conversations: number
  events: number
  files: number
  /**
   * Conversations that were deleted after a part of them was written; absent in an export that an older release began.
   */
  gone?: string[]
}

export const NO_EXPORT: ExportCounts = { rows: {}, conversations: 0, events: 0, files: 0, gone: [] }

/** The position within a conversation's export: after an event, or at its files, by inode. */
type ConversationPlace =
  | { stage: 'events'; event: number; after: number }
  | { stage: 'nodes'; event: number; after: number; file: number }

export type Stepping = { env: Env; owner: string; writer: ArchiveWriter; counts: ExportCounts }

/** Null when the unit is complete. `at` is what the last step returned, null at the beginning. */
export async function stepOf(unit: Unit, at: unknown, by: Stepping): Promise<unknown> {
  switch (unit.kind) {
    case 'secrets':
      await by.writer.text('secrets.jsonl', lines(await secretsToGive(by.env.DB, by.owner)))
      return null
    case 'rows':
      return rowsStep(unit.name, at as RowPosition | null, by)
    case 'feedback':
      return feedbackStep(unit.name, by)
    case 'conversation':
      return conversationStep(unit.name, at as ConversationPlace | null, by)
  }
}

const lines = (values: readonly unknown[]): string => values.map((value) => `${JSON.stringify(value)}\n`).join('')

/** Padded, so that names of parts sort in the order of their numbers. */
const numbered = (n: number): string => String(n).padStart(10, '0')

async function rowsStep(name: string, after: RowPosition | null, { env, owner, writer, counts }: Stepping) {
  const table = must(
    EXPORTED_TABLES.find((one) => one.name === name),
    `the table ${name}`,
  )
  const { rows, next } = await exportedRows(env.DB, owner, { table, after })
  const known = counts.rows[name] ?? 0
  if (rows.length > 0) await writer.text(`database/${name}/${numbered(known)}.jsonl`, lines(rows))
  counts.rows[name] = known + rows.length
  return next
}

async function feedbackStep(key: string, { env, writer }: Stepping): Promise<null> {
  const object = await env.FILES.get(key)
  // The object was deleted since the export began.
  if (object === null) return null
  await writer.entry({ path: `feedback/${key.split('/').at(-1)}`, size: object.size }, partsOf(object.body))
  return null
}

async function conversationStep(id: string, at: ConversationPlace | null, by: Stepping) {
  const { env, owner, writer, counts } = by
  const source = conversation(env, owner, id)
  const path = `conversations/${id}`
  if (at === null) {
    const basis = await source.exportBasis()
    if (basis === null) return null
    await writer.text(`${path}/conversation.json`, `${basis.record}\n`)
    if (basis.turns.length > 0) await writer.text(`${path}/turns.jsonl`, basis.turns.map((one) => `${one}\n`).join(''))
    counts.conversations += 1
    return { stage: 'events', event: basis.event, after: -1 }
  }
  if (at.stage === 'nodes') return nodesStep(id, at, by)
  const { event, after } = at
  const page = event > after ? await source.forkEvents(after, event) : { texts: [], steps: [], calls: [] }
  if (page === null) return gone(id, counts)
  if (page.texts.length === 0) return { stage: 'nodes', event, after: 0, file: 0 }
  await writer.text(`${path}/events/${numbered(after + 1)}.jsonl`, page.texts.map((text) => `${text}\n`).join(''))
  if (page.steps.length > 0) await writer.text(`${path}/steps/${numbered(after + 1)}.jsonl`, lines(page.steps))
  if (page.calls.length > 0) await writer.text(`${path}/calls/${numbered(after + 1)}.jsonl`, lines(page.calls))
  counts.events += page.texts.length
  return { stage: 'events', event, after: after + page.texts.length }
}

/** A page of nodes, then the contents of its files until there is enough for one step. */
async function nodesStep(id: string, at: ConversationPlace & { stage: 'nodes' }, by: Stepping) {
  const { env, owner, writer, counts } = by
  const { event, after, file } = at
  const source = conversation(env, owner, id)
  const page = await source.forkNodes(event, after)
  if (page === null) return gone(id, counts)
  const last = page.nodes.at(-1)
  if (last === undefined) return null
  if (file === 0) {
    // `object` is a key of this service and means nothing elsewhere.
    const shown = page.nodes.map(({ object: _object, ...node }) => node)
    await writer.text(`conversations/${id}/nodes/${numbered(after)}.jsonl`, lines(shown))
  }
  for (const { inode, kind, size, object } of page.nodes) {
    if (kind !== 'file' || size === 0 || inode <= file) continue
    await writer.entry(
      { path: `conversations/${id}/files/${inode}`, size },
      contentsOf(env, { object, size, chunks: async () => (await source.forkFile(event, inode))?.chunks ?? [] }),
    )
    counts.files += 1
    if (writer.isWorthCommitting && inode !== last.inode) return { ...at, file: inode }
  }
  return { stage: 'nodes', event, after: last.inode, file: 0 }
}

/** Written parts stay in the archive, and the manifest says that the conversation is incomplete. */
function gone(id: string, counts: ExportCounts): null {
  counts.conversations -= 1
  counts.gone = [...(counts.gone ?? []), id]
  return null
}

type Contents = { object: string | null; size: number; chunks: () => Promise<{ bytes: ArrayBuffer }[]> }

/** The contents in R2, then those in rows. Bytes that were appended after the event are not part of the file. */
async function* contentsOf(env: Env, { object, size, chunks }: Contents): AsyncIterable<Uint8Array> {
  let left = size
  if (object !== null) {
    const found = must(await env.FILES.get(object), 'the object of a file')
    for await (const part of partsOf(found.body)) {
      left -= part.byteLength
      yield part
    }
  }
  if (left <= 0) return
  for (const { bytes } of await chunks()) {
    if (left <= 0) return
    left -= bytes.byteLength
    yield new Uint8Array(bytes)
  }
}

async function* partsOf(body: ReadableStream<Uint8Array>): AsyncIterable<Uint8Array> {
  const reader = body.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    yield value
  }
}
