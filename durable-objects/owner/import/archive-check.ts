// Checks an archive before anything of it is imported: first its entries, each with its checksum, then their contents.
// Errors are thrown as `ArchiveProblem`; nothing has been changed by then.

import { createHash } from 'node:crypto'
import { z } from 'zod'
import { EXPORTED_TABLES } from '../../../src/db/exports.ts'
import { columnsOf, IMPORTED_TABLES, type ImportedRow } from '../../../src/db/imports.ts'
import { readTarHeader, TAR_BLOCK, TAR_END, TarError } from '../../../src/lib/tar.ts'
import type { ArchiveReader } from './archive-reader.ts'
import {
  ArchiveHeader,
  ArchiveProblem,
  CallInArchive,
  ConversationInArchive,
  EventInArchive,
  jsonOf,
  ListedEntry,
  linesOf,
  Manifest,
  type NodeInArchive,
  NodeInArchive as NodeShape,
  SecretToGive,
  StepInArchive,
  TurnInArchive,
  VERSION,
} from './archive-shapes.ts'
import { rowProblem } from './row-checks.ts'

/** An entry, and the position of its contents. */
export type Entry = { path: string; place: number; bytes: number; sha256: string }

/** The largest entry that is read as a whole: every entry except the contents of files. */
const MOST_TEXT_BYTES = 48 * 1024 * 1024
const MOST_NODES = 200_000
const MOST_FILE_BYTES = 32 * 1024 * 1024
/** The most rows of tables that run by themselves or are shown as a whole. */
const MOST_ROWS: Readonly<Record<string, number>> = {
  schedules: 50,
  watchlists: 51,
  alert_rules: 500,
  saved_screens: 100,
}

const ID = '[A-Za-z0-9_-]{1,64}'
const N = '\\d{10}'
const PATHS = new RegExp(
  `^(export\\.json|secrets\\.jsonl|manifest\\.json|manifest/${N}\\.jsonl|database/[a-z_]{1,64}/${N}\\.jsonl|feedback/[A-Za-z0-9_.-]{1,100}|conversations/${ID}/(conversation\\.json|turns\\.jsonl|(events|steps|calls|nodes)/${N}\\.jsonl|files/[1-9]\\d{0,15}))$`,
)
const FILE = /\/files\/\d+$/

/** The entry at a position; null at the end of the archive, after which nothing may follow. */
export async function entryAt(archive: ArchiveReader, at: number): Promise<(Entry & { next: number }) | null> {
  const header = headerOf(await archive.read(at, TAR_BLOCK))
  if (header === null) {
    const rest = await archive.read(at, TAR_END.byteLength + 1)
    if (archive.size - at === TAR_END.byteLength && rest.every((byte) => byte === 0)) return null
    throw new ArchiveProblem('the archive does not end where it says')
  }
  const { path, size } = header
  if (!PATHS.test(path))
    throw new ArchiveProblem(`no archive of this service has an entry ${JSON.stringify(path.slice(0, 200))}`)
  if (size > (FILE.test(path) ? MOST_FILE_BYTES : MOST_TEXT_BYTES)) throw new ArchiveProblem(`${path} is too large`)
  const place = at + TAR_BLOCK
  const next = place + Math.ceil(size / TAR_BLOCK) * TAR_BLOCK
  if (next > archive.size) throw new ArchiveProblem('the archive is cut off')
  const hash = createHash('sha256')
  for await (const part of archive.stream(place, size)) hash.update(part)
  return { path, place, bytes: size, sha256: hash.digest('hex'), next }
}

function headerOf(block: Uint8Array): { path: string; size: number } | null {
  if (block.byteLength < TAR_BLOCK) throw new ArchiveProblem('the archive is cut off')
  try {
    return readTarHeader(block)
  } catch (error) {
    if (error instanceof TarError) throw new ArchiveProblem(error.message)
    throw error
  }
}

export type Entries = {
  entry(path: string): Entry | null
  /** The entries whose paths begin with the prefix, in order. */
  below(prefix: string): Entry[]
  count(): number
}

type Looked = { archive: ArchiveReader; entries: Entries }

const textOf = async ({ archive }: Looked, { place, bytes, path }: Entry): Promise<string> => {
  try {
    return await archive.text(place, bytes)
  } catch (error) {
    if (error instanceof TypeError) throw new ArchiveProblem(`${path} is no text in UTF-8`)
    throw error
  }
}

/** The archive's description of itself. */
export async function aboutOf(looked: Looked): Promise<z.infer<typeof ArchiveHeader>> {
  const first = looked.entries.entry('export.json')
  if (first === null || first.place !== TAR_BLOCK) throw new ArchiveProblem('the first entry is not export.json')
  const [about] = linesOf(await textOf(looked, first), { path: 'export.json', shape: ArchiveHeader })
  if (about === undefined) throw new ArchiveProblem('export.json is empty')
  if (about.version !== VERSION)
    throw new ArchiveProblem(`the archive is of version ${about.version}; this release reads version ${VERSION}`)
  return about
}

async function manifestOf(looked: Looked): Promise<z.infer<typeof Manifest> | undefined> {
  const last = looked.entries.entry('manifest.json')
  if (last === null) throw new ArchiveProblem('the archive has no manifest')
  return linesOf(await textOf(looked, last), { path: last.path, shape: Manifest })[0]
}

/** Whether the conversation was deleted while it was exported, so that it is incomplete. */
export async function isGone(looked: Looked, id: string): Promise<boolean> {
  return (await manifestOf(looked))?.counts?.gone?.includes(id) ?? false
}

/** Checks that the manifest names every entry, with its size and checksum. */
export async function checkManifest(looked: Looked): Promise<void> {
  const { entries } = looked
  const manifest = await manifestOf(looked)
  const about = await aboutOf(looked)
  if (manifest === undefined || manifest.id !== about.id || manifest.owner !== about.owner)
    throw new ArchiveProblem('the manifest is of another archive')
  let count = 1
  const agree = (listed: z.infer<typeof ListedEntry>) => {
    const entry = entries.entry(listed.path)
    if (entry === null || entry.bytes !== listed.bytes || entry.sha256 !== listed.sha256)
      throw new ArchiveProblem(`${JSON.stringify(listed.path.slice(0, 200))} is not what the manifest says`)
    count += 1
  }
  for (const listed of manifest.lists) agree(listed)
  for (const part of entries.below('manifest/')) {
    for (const listed of linesOf(await textOf(looked, part), { path: part.path, shape: ListedEntry })) agree(listed)
  }
  if (count !== entries.count()) throw new ArchiveProblem('the manifest does not name every entry')
}

export async function secretsOf(looked: Looked): Promise<SecretToGive[]> {
  const entry = looked.entries.entry('secrets.jsonl')
  return entry === null ? [] : linesOf(await textOf(looked, entry), { path: entry.path, shape: SecretToGive })
}

const Row = z.record(z.string(), z.union([z.string(), z.number(), z.null()]))

export const tableOf = (path: string): string => path.split('/')[1] ?? ''

/** The rows of an entry. */
export async function rowsOf(looked: Looked, entry: Entry): Promise<ImportedRow[]> {
  return linesOf(await textOf(looked, entry), { path: entry.path, shape: Row })
}

/** Checks the rows of one table, all its entries. */
export async function checkRows(looked: Looked, name: string, by: { env: Env; owner: string }): Promise<void> {
  if (!EXPORTED_TABLES.some((one) => one.name === name)) throw new ArchiveProblem(`there is no table ${name} of owners`)
  const table = IMPORTED_TABLES.find((one) => one.name === name)
  if (table === undefined) {
    // These rows are not imported, only counted.
    for (const entry of looked.entries.below(`database/${name}/`)) await rowsOf(looked, entry)
    return
  }
  const columns = await columnsOf(by.env.DB, name)
  let count = 0
  let newest = 0
  for (const entry of looked.entries.below(`database/${name}/`)) {
    for (const [at, row] of (await rowsOf(looked, entry)).entries()) {
      const isSecretNull = name === 'settings' && row.value === null
      const problem = isSecretNull ? null : rowProblem(table, columns, { row, owner: by.owner })
      if (problem !== null) throw new ArchiveProblem(`${entry.path}, line ${at + 1}: ${problem}`)
      const number = table.number === undefined ? newest + 1 : Number(row[table.number])
      if (number <= newest) throw new ArchiveProblem(`${entry.path}, line ${at + 1}: the numbers do not grow`)
      newest = number
      count += 1
    }
  }
  const most = MOST_ROWS[name]
  if (most !== undefined && count > most)
    throw new ArchiveProblem(`${name} has ${count} rows; at most ${most} are taken`)
}

/** The result of checking a conversation. */
export type CheckedConversation = { bytes: number; events: number; session: string | null }

export async function checkConversation(looked: Looked, id: string): Promise<CheckedConversation> {
  const base = `conversations/${id}/`
  const lines = async <T>(entry: Entry, shape: z.ZodType<T>) =>
    linesOf(await textOf(looked, entry), { path: entry.path, shape })
  const { entries } = looked
  const head = entries.entry(`${base}conversation.json`)
  if (head === null) throw new ArchiveProblem(`${base} has no conversation.json`)
  const [record] = await lines(head, ConversationInArchive)
  if (record?.id !== id) throw new ArchiveProblem(`${head.path} is of another conversation`)
  let last = -1
  for (const part of entries.below(`${base}events/`)) {
    for (const event of await lines(part, EventInArchive)) {
      last += 1
      if (event.id !== last) throw new ArchiveProblem(`${part.path}: event ${event.id} does not follow ${last - 1}`)
    }
  }
  if (last < 0) throw new ArchiveProblem(`${base} has no events`)
  await checkAnswers(looked, base, last)
  const turns = entries.entry(`${base}turns.jsonl`)
  if (turns !== null && record.talk === undefined) throw new ArchiveProblem(`${turns.path}: it is no talk`)
  if (turns !== null) {
    for (const turn of await lines(turns, TurnInArchive)) {
      const places = [turn.question, turn.first, turn.ended ?? 0, turn.answer ?? 0]
      if (places.some((event) => event > last))
        throw new ArchiveProblem(`${turns.path} names events that are not there`)
      if (!z.array(z.string()).safeParse(jsonOf(turn.codes)).success)
        throw new ArchiveProblem(`${turns.path}: codes are no list`)
    }
  }
  return { bytes: await checkNodes(looked, base), events: last + 1, session: record.talk?.session ?? null }
}

async function checkAnswers(looked: Looked, base: string, last: number): Promise<void> {
  const steps = new Set<number>()
  const keys = new Set<number>()
  const ids = new Set<string>()
  for (const part of looked.entries.below(`${base}steps/`)) {
    for (const { step, first_event: first } of linesOf(await textOf(looked, part), {
      path: part.path,
      shape: StepInArchive,
    })) {
      if (first > last || steps.has(step)) throw new ArchiveProblem(`${part.path}: step ${step} has no place`)
      steps.add(step)
    }
  }
  for (const part of looked.entries.below(`${base}calls/`)) {
    for (const call of linesOf(await textOf(looked, part), { path: part.path, shape: CallInArchive })) {
      if (!steps.has(call.step) || keys.has(call.key) || ids.has(call.call_id))
        throw new ArchiveProblem(`${part.path}: call ${call.key} has no place`)
      keys.add(call.key)
      ids.add(call.call_id)
    }
  }
}

/** Checks that the nodes are one tree and that its files exist; returns the bytes of the files. */
async function checkNodes(looked: Looked, base: string): Promise<number> {
  const parents = new Map<number, number>()
  const folders = new Set<number>()
  const names = new Set<string>()
  let files = 0
  let bytes = 0
  for (const part of looked.entries.below(`${base}nodes/`)) {
    for (const node of linesOf<NodeInArchive>(await textOf(looked, part), { path: part.path, shape: NodeShape })) {
      const { inode, parent, name, kind, size } = node
      if (parents.has(inode) || names.has(`${parent}/${name}`))
        throw new ArchiveProblem(`${part.path}: the inode ${inode} or its name is there twice`)
      if (parents.size >= MOST_NODES) throw new ArchiveProblem(`${base} has more than ${MOST_NODES} files and folders`)
      parents.set(inode, parent)
      names.add(`${parent}/${name}`)
      if (kind === 'directory') folders.add(inode)
      if (kind !== 'file') continue
      const file = looked.entries.entry(`${base}files/${inode}`)
      if ((file?.bytes ?? 0) !== size)
        throw new ArchiveProblem(`${base}files/${inode} is not as large as its node says`)
      bytes += size
      if (file !== null) files += 1
    }
  }
  if (files !== looked.entries.below(`${base}files/`).length)
    throw new ArchiveProblem(`${base}files/ has contents that are of no file`)
  if (!isTree(parents, folders)) throw new ArchiveProblem(`the files of ${base} are no tree`)
  return bytes
}

/** Whether every node is connected to the root through folders. */
function isTree(parents: ReadonlyMap<number, number>, folders: ReadonlySet<number>): boolean {
  const good = new Set<number>([1])
  if (!folders.has(1)) return false
  for (const inode of parents.keys()) {
    const way: number[] = []
    for (let at = inode; !good.has(at); ) {
      const parent = parents.get(at)
      if (parent === undefined || !folders.has(parent) || way.length > parents.size) return false
      way.push(at)
      at = parent
    }
    for (const one of way) good.add(one)
  }
  return true
}
