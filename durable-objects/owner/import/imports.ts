// The owner's import: an archive that is uploaded in parts into R2. This object's alarm checks all of it and then
// imports it, entry by entry. The position is stored after each entry. A step that is repeated after a crash creates
// nothing twice, because every id is chosen and stored before it is used. There is one import at a time.

import { deleteFiles, importPartsPrefix } from '../../../src/bindings.ts'
import { hexId } from '../../../src/lib/crypto.ts'
import { giveWay } from '../../../src/lib/give-way.ts'
import { errorFields, log } from '../../../src/lib/log.ts'
import { firstRow } from '../../sql.ts'
import type { ConversationBooks } from '../conversation-books.ts'
import {
  aboutOf,
  checkConversation,
  checkManifest,
  checkRows,
  entryAt,
  isGone,
  secretsOf,
  tableOf,
} from './archive-check.ts'
import { ArchiveReader, type Piece } from './archive-reader.ts'
import { ArchiveProblem } from './archive-shapes.ts'
import { type Carried, type Carrying, carryOut, chooseConversationIds, NOTHING_CARRIED } from './import-steps.ts'
import { ImportTables } from './import-tables.ts'

export type ImportPhase = 'receiving' | 'checking' | 'importing' | 'done' | 'refused' | 'failed'

export type ImportStanding = {
  id: string
  phase: ImportPhase
  bytes: number
  received: number
  beganAt: number
  expiresAt: number
  /** Entries that were checked or imported in this phase, and all known entries. */
  done: number
  entries: number
  archive: string | null
  source: string | null
  carried: Carried
  problem: string | null
}

/** The position within a phase: the byte of the next entry, the next entry to check, or the next one to import. */
type ImportPosition = { at: number } | { n: number }

type Job = {
  id: string
  owner: string
  phase: ImportPhase
  bytes: number
  began_at: number
  expires_at: number
  place: string
  archive: string | null
  source: string | null
  counts: string
  problem: string | null
  failures: number
}

type Deps = {
  env: () => Env
  storage: DurableObjectStorage
  books: ConversationBooks
  allowed: () => { conversations: number; bytes: number }
}

const KEEP_MS = 24 * 3600 * 1000
const WORK_MS = 10_000
const MOST_STEPS = 2_000
/** Steps before other requests run: a step may only read a header that is already in memory. */
const STEPS_AT_ONCE = 8
const RETRY_MS = 2_000
const MOST_FAILURES = 20
const AT_WORK: readonly ImportPhase[] = ['checking', 'importing']

export type PartAnswer = 'none' | 'busy' | { received: number } | { taken: number }

export class Imports {
  readonly #deps: Deps
  readonly #sql: SqlStorage
  readonly #tables: ImportTables

  constructor(deps: Deps) {
    this.#deps = deps
    this.#sql = deps.storage.sql
    this.#tables = new ImportTables(deps.storage)
  }

  get standing(): ImportStanding | null {
    const job = this.#job
    if (job === null) return null
    const { id, phase, bytes, began_at: beganAt, expires_at: expiresAt, archive, source, problem } = job
    const place = JSON.parse(job.place) as ImportPosition
    const entries = this.#tables.count()
    const done = 'at' in place ? 0 : Math.min(place.n, entries)
    const received = phase === 'receiving' ? this.#tables.received : bytes
    const counts = { done, entries, archive, source, problem, carried: JSON.parse(job.counts) as Carried }
    return { id, phase, bytes, received, beganAt, expiresAt, ...counts }
  }

  /** Begins an import in place of one that is finished or has not started; `busy` while one runs. */
  async begin(owner: string, bytes: number): Promise<'begun' | 'busy' | 'too-large'> {
    if (bytes > this.#deps.allowed().bytes && !isAtWork(this.#job)) return 'too-large'
    // Another request may begin one while this one waits.
    for (; this.#job !== null; await this.drop()) if (isAtWork(this.#job)) return 'busy'
    this.#sql.exec(
      `INSERT INTO import_job (id, owner, phase, bytes, began_at, expires_at, place, counts, failures)
       VALUES (?, ?, 'receiving', ?, ?, ?, '{"at":0}', ?, 0)`,
      ...[hexId(), owner, bytes, Date.now(), Date.now() + KEEP_MS, JSON.stringify(NOTHING_CARRIED)],
    )
    return 'begun'
  }

  /** The key for a part that begins at this byte; else the position where the next part must begin. */
  partKey(id: string, offset: number): { key: string } | PartAnswer {
    const job = this.#job
    if (job === null || job.id !== id) return 'none'
    if (job.phase !== 'receiving') return 'busy'
    const { received } = this.#tables
    if (offset !== received) return { received }
    return { key: `${importPartsPrefix(job.owner, id)}${hexId()}` }
  }

  /** The part is in R2 now. After the last part the check begins. */
  async notePart(id: string, { key, bytes, offset }: Piece & { offset: number }): Promise<PartAnswer> {
    const answer = this.partKey(id, offset)
    const job = this.#job
    if (typeof answer === 'string' || !('key' in answer) || job === null) {
      await this.#deps.env().FILES.delete(key)
      return typeof answer === 'string' || 'received' in answer ? answer : 'none'
    }
    this.#deps.storage.transactionSync(() => {
      this.#tables.addPiece({ key, bytes })
      const phase = this.#tables.received === job.bytes ? 'checking' : 'receiving'
      this.#sql.exec('UPDATE import_job SET expires_at = ?, phase = ?', Date.now() + KEEP_MS, phase)
    })
    return { taken: this.#tables.received }
  }

  /** Cancels the import, or deletes the record of a finished one; false while it runs. */
  async withdraw(): Promise<boolean | null> {
    if (this.#job === null) return null
    if (this.#job.phase === 'importing') return false
    await this.drop()
    return true
  }

  /** Deletes the job, whatever its state; imported data stays. */
  async drop(): Promise<void> {
    const job = this.#job
    if (job === null) return
    this.#deps.storage.transactionSync(() => {
      for (const table of ['job', 'pieces', 'entries', 'ids']) this.#sql.exec(`DELETE FROM import_${table}`)
    })
    // Only the files of this import: another one may have begun meanwhile.
    await deleteFiles(this.#deps.env(), importPartsPrefix(job.owner, job.id))
  }

  /** Continues for a while; returns when to continue, null when there is nothing to do. Never throws. */
  async work(): Promise<number | null> {
    const job = this.#job
    if (job === null) return null
    try {
      if (AT_WORK.includes(job.phase)) await this.#goOn(job)
      const now = this.#mustBe(job.id)
      if (AT_WORK.includes(now.phase)) return Date.now()
      if (now.phase !== 'receiving') await this.#tidy(now)
      if (now.expires_at > Date.now()) return now.expires_at
      await this.drop()
      return null
    } catch (error) {
      return this.#brokenOff(job, error)
    }
  }

  /** Records a failure; returns when to retry. */
  #brokenOff({ id, owner, failures }: Job, error: unknown): number {
    const now = this.#job
    const again = Date.now() + RETRY_MS * (failures + 1)
    if (now?.id !== id || !AT_WORK.includes(now.phase)) return again
    if (error instanceof ArchiveProblem && now.phase === 'checking') {
      this.#end(now, 'refused', error.message)
      return Date.now()
    }
    log.warn('import.broken_off', { owner, phase: now.phase, ...errorFields(error) })
    if (now.failures + 1 >= MOST_FAILURES) this.#end(now, 'failed', 'the service could not go on with it')
    else this.#sql.exec('UPDATE import_job SET failures = failures + 1, problem = ?', 'it stopped, and is tried again')
    return again
  }

  async #goOn({ id }: Job): Promise<void> {
    const archive = new ArchiveReader(this.#deps.env().FILES, this.#tables.pieces())
    const until = Date.now() + WORK_MS
    for (let steps = 0; steps < MOST_STEPS && Date.now() < until; steps += 1) {
      const job = this.#mustBe(id)
      const place = JSON.parse(job.place) as ImportPosition
      if ('at' in place) await this.#noteEntry(job, archive, place.at)
      else if (job.phase === 'checking') await this.#lookInto(job, archive, place.n)
      else if (job.phase === 'importing') await this.#carryOut(job, archive, place.n)
      else return
      if (steps % STEPS_AT_ONCE === STEPS_AT_ONCE - 1) await giveWay()
    }
  }

  async #noteEntry(job: Job, archive: ArchiveReader, at: number): Promise<void> {
    const entry = await entryAt(archive, at)
    if (entry === null) await checkManifest({ archive, entries: this.#tables })
    if (entry !== null && this.#tables.entry(entry.path) !== null)
      throw new ArchiveProblem(`${entry.path} is there twice`)
    this.#reach(job, entry === null ? { n: 0 } : { at: entry.next }, () => {
      if (entry !== null) this.#tables.addEntry(entry)
    })
  }

  /** Checks the part that an entry begins: a table, or a conversation. */
  async #lookInto(job: Job, archive: ArchiveReader, n: number): Promise<void> {
    const looked = { archive, entries: this.#tables }
    const entry = this.#tables.at(n)
    if (entry === null) return this.#beginCarrying(job, archive)
    const carried = JSON.parse(job.counts) as Carried
    const [folder, name = ''] = entry.path.split('/')
    let { archive: known, source } = job
    if (entry.path === 'export.json') {
      ;({ id: known, owner: source } = await aboutOf(looked))
      if (firstRow(this.#sql, 'SELECT 1 FROM imported_archives WHERE archive = ?', known) !== null)
        throw new ArchiveProblem('this archive was imported already')
    }
    const isFirst = !this.#tables.at(n - 1)?.path.startsWith(`${folder}/${name}/`)
    if (folder === 'database' && isFirst)
      await checkRows(looked, tableOf(entry.path), { env: this.#deps.env(), owner: source ?? '' })
    const isNew = folder === 'conversations' && isFirst && !carried.conversations.some(({ id }) => id === name)
    if (isNew && !(await isGone(looked, name))) {
      const { bytes, events, session } = await checkConversation(looked, name)
      carried.bytes += bytes
      carried.conversations.push({ id: name, session, events })
    }
    if (entry.path === 'secrets.jsonl') await secretsOf(looked)
    this.#reach(job, { n: n + 1 }, () => {
      const query = 'UPDATE import_job SET archive = ?, source = ?, counts = ?'
      this.#sql.exec(query, known, source, JSON.stringify(carried))
    })
  }

  /** All checks passed: from here on the data is imported. */
  async #beginCarrying(job: Job, archive: ArchiveReader): Promise<void> {
    const carried = JSON.parse(job.counts) as Carried
    const { conversations, bytes } = this.#deps.allowed()
    const used = this.#deps.books.totals
    const room = { conversations: conversations - used.conversations, bytes: bytes - used.bytes }
    const { length } = carried.conversations
    if (length > room.conversations)
      throw new ArchiveProblem(`it has ${length} conversations; there is room for ${Math.max(0, room.conversations)}`)
    if (carried.bytes > room.bytes)
      throw new ArchiveProblem(`its files have ${carried.bytes} bytes; there is room for ${Math.max(0, room.bytes)}`)
    const begun = await chooseConversationIds(this.#carrying(job, archive), carried)
    this.#reach(job, { n: 0 }, () =>
      this.#sql.exec("UPDATE import_job SET phase = 'importing', counts = ?", JSON.stringify(begun)),
    )
  }

  async #carryOut(job: Job, archive: ArchiveReader, n: number): Promise<void> {
    const entry = this.#tables.at(n)
    if (entry === null) {
      this.#sql.exec('INSERT OR IGNORE INTO imported_archives VALUES (?, ?)', job.archive, Date.now())
      this.#end(job, 'done', null)
      return
    }
    const carried = await carryOut(entry, JSON.parse(job.counts) as Carried, this.#carrying(job, archive))
    this.#reach(job, { n: n + 1 }, () => this.#sql.exec('UPDATE import_job SET counts = ?', JSON.stringify(carried)))
  }

  #carrying({ owner, archive: archiveId }: Job, archive: ArchiveReader): Carrying {
    const { env, books, allowed } = this.#deps
    return {
      ...{ env: env(), owner, archiveId: archiveId ?? '', pieces: this.#tables.pieces(), ids: this.#tables },
      whole: { archive, entries: this.#tables },
      reserve: (id) => books.reserve(id, allowed(), Date.now()).ok,
      has: (id) => books.has(id),
    }
  }

  #end({ id }: Job, phase: ImportPhase, problem: string | null): void {
    const { owner } = this.#mustBe(id)
    this.#sql.exec('UPDATE import_job SET phase = ?, problem = ?, expires_at = ?', phase, problem, Date.now() + KEEP_MS)
    log.info('import.ended', { owner, phase })
  }

  /** The uploaded parts are not needed any more. */
  async #tidy({ id, owner }: Job): Promise<void> {
    if (this.#tables.received === 0) return
    await deleteFiles(this.#deps.env(), importPartsPrefix(owner, id))
    this.#mustBe(id)
    this.#sql.exec('DELETE FROM import_pieces')
  }

  /** Stores the results of a step and its position. */
  #reach({ id }: Job, place: ImportPosition, store: () => unknown): void {
    this.#deps.storage.transactionSync(() => {
      this.#mustBe(id)
      store()
      this.#sql.exec('UPDATE import_job SET place = ?, failures = 0, problem = NULL', JSON.stringify(place))
    })
  }

  get #job(): Job | null {
    return firstRow<Job>(this.#sql, 'SELECT * FROM import_job')
  }

  /** The import may have been deleted during an `await`. */
  #mustBe(id: string): Job {
    const job = this.#job
    if (job?.id !== id) throw new Error('the import was dropped')
    return job
  }
}

const isAtWork = (job: Job | null): boolean => job !== null && AT_WORK.includes(job.phase)
