// The owner's export: an archive that this object's alarm writes piece by piece into R2. A client can download it as
// often and in any ranges as it wants. The written pieces and the position are stored in one transaction; a crash costs
// the pieces since then. There is one export at a time, and it is deleted a day after it was finished.

import {
  conversationsWithFiles,
  deleteFiles,
  exportPieceKey,
  exportPiecesPrefix,
  feedbackPrefix,
} from '../../../src/bindings.ts'
import { namedConversations } from '../../../src/db/erasures.ts'
import { EXPORTED_TABLES } from '../../../src/db/exports.ts'
import { isoMicros } from '../../../src/lib/clock.ts'
import { hexId } from '../../../src/lib/crypto.ts'
import { giveWay } from '../../../src/lib/give-way.ts'
import { errorFields, log } from '../../../src/lib/log.ts'
import { inSlices, putInTime } from '../../../src/lib/slices.ts'
import { firstRow, rows } from '../../sql.ts'
import type { ConversationBooks } from '../conversation-books.ts'
import { type ArchiveEntry, ArchiveWriter } from './archive-writer.ts'
import { type ExportCounts, NO_EXPORT, stepOf, type Unit } from './export-units.ts'

export type ExportStanding = {
  id: string
  state: 'preparing' | 'ready' | 'failed'
  beganAt: number
  /** Complete units, and all units. */
  done: number
  units: number
  bytes: number
  counts: ExportCounts
  /** When it will be deleted; null before it is finished. */
  expiresAt: number | null
}

type Job = {
  id: string
  owner: string
  state: ExportStanding['state']
  began_at: number
  expires_at: number | null
  unit: number
  /** JSON. */
  place: string
  bytes: number
  counts: string
  failures: number
}

type Deps = { env: () => Env; storage: DurableObjectStorage; books: ConversationBooks }

const FORMAT = 'bellwether-export'
const VERSION = 1
const KEEP_MS = 24 * 3600 * 1000
/** Limits of one firing of the alarm. */
const WORK_MS = 10_000
const MOST_STEPS = 200
const RETRY_MS = 2_000
const MOST_FAILURES = 20
/** Rows of one list in the manifest. */
const MANIFEST_ROWS = 5_000

export class Exports {
  readonly #deps: Deps
  readonly #sql: SqlStorage

  constructor(deps: Deps) {
    this.#deps = deps
    this.#sql = deps.storage.sql
  }

  get standing(): ExportStanding | null {
    const job = this.#job
    if (job === null) return null
    const units = firstRow<{ n: number }>(this.#sql, 'SELECT count(*) AS n FROM export_units')?.n ?? 0
    const { id, state, began_at: beganAt, unit: done, bytes, expires_at: expiresAt } = job
    return { id, state, beganAt, done, units, bytes, counts: countsOf(job), expiresAt }
  }

  /** The sizes of the archive's pieces, in order; null unless the export has this id and is ready. */
  pieces(id: string): number[] | null {
    if (this.#job?.id !== id || this.#job.state !== 'ready') return null
    return rows<{ bytes: number }>(this.#sql, 'SELECT bytes FROM export_pieces ORDER BY n').map(({ bytes }) => bytes)
  }

  /** Begins an export in place of a finished one; an export in preparation continues. */
  async begin(owner: string): Promise<void> {
    if (this.#isPreparing) return
    const units = await this.#unitsOf(owner)
    // Another request may begin one while this one waits.
    while (this.#job !== null && !this.#isPreparing) await this.drop()
    if (this.#job !== null) return
    this.#deps.storage.transactionSync(() => {
      for (const [n, { kind, name }] of units.entries())
        this.#sql.exec('INSERT INTO export_units (n, kind, name) VALUES (?, ?, ?)', n, kind, name)
      this.#sql.exec(
        `INSERT INTO export_job (id, owner, state, began_at, unit, place, bytes, counts, failures)
         VALUES (?, ?, 'preparing', ?, 0, 'null', 0, ?, 0)`,
        hexId(),
        owner,
        Date.now(),
        JSON.stringify(NO_EXPORT),
      )
    })
  }

  /** Deletes the export, whatever its state; false when there is none. */
  async drop(): Promise<boolean> {
    const job = this.#job
    if (job === null) return false
    this.#deps.storage.transactionSync(() => {
      for (const table of ['job', 'units', 'pieces', 'entries']) this.#sql.exec(`DELETE FROM export_${table}`)
    })
    // Only the pieces of this export: another one may have begun meanwhile.
    await this.#deletePieces(job)
    return true
  }

  /** Continues for a while; returns when to continue, null when there is nothing to do. Never throws. */
  async work(): Promise<number | null> {
    const job = this.#job
    if (job === null) return null
    try {
      if (job.state === 'preparing') return await this.#write(job)
      if (job.expires_at !== null && job.expires_at > Date.now()) return job.expires_at
      await this.drop()
      return null
    } catch (error) {
      if (this.#job?.id !== job.id) return this.#tidyAfter(job)
      log.warn('export.broken_off', { owner: job.owner, ...errorFields(error) })
      const isOver = job.failures + 1 >= MOST_FAILURES
      const state = isOver ? 'failed' : job.state
      this.#sql.exec(
        'UPDATE export_job SET failures = failures + 1, state = ?, expires_at = ?',
        state,
        Date.now() + KEEP_MS,
      )
      return Date.now() + (isOver ? KEEP_MS : RETRY_MS * (job.failures + 1))
    }
  }

  /** The export was deleted while it was written: deletes the pieces written since. */
  async #tidyAfter(job: Job): Promise<number | null> {
    try {
      await this.#deletePieces(job)
    } catch (error) {
      log.warn('export.not_tidied', { owner: job.owner, ...errorFields(error) })
    }
    return this.#job === null ? null : Date.now()
  }

  async #deletePieces({ owner, id }: Job): Promise<void> {
    await deleteFiles(this.#deps.env(), exportPiecesPrefix(owner, id))
  }

  async #write(begun: Job): Promise<number> {
    const { id, owner } = begun
    const counts = countsOf(begun)
    const env = this.#deps.env()
    const put = async (piece: number, bytes: Uint8Array) =>
      void (await putInTime(env.FILES.put(exportPieceKey(owner, id, piece), inSlices(bytes))))
    const next = firstRow<{ n: number }>(this.#sql, 'SELECT count(*) AS n FROM export_pieces')?.n ?? 0
    const writer = new ArchiveWriter({ put, next, mtime: begun.began_at })
    let { unit } = begun
    let place: unknown = JSON.parse(begun.place)
    if (next === 0) await writer.text('export.json', `${JSON.stringify(this.#about(begun))}\n`)
    const until = Date.now() + WORK_MS
    for (let steps = 0; steps < MOST_STEPS && Date.now() < until; steps += 1) {
      const current = firstRow<Unit>(this.#sql, 'SELECT kind, name FROM export_units WHERE n = ?', unit)
      if (current === null) return this.#finish(writer, { id, unit, counts })
      place = await stepOf(current, place, { env, owner, writer, counts })
      if (place === null) unit += 1
      if (writer.isWorthCommitting) await this.#commit(writer, { id, unit, place, counts })
      await giveWay()
    }
    await this.#commit(writer, { id, unit, place, counts })
    return Date.now()
  }

  /** Writes the manifest: every entry with its checksum, then the counts of each kind. */
  async #finish(writer: ArchiveWriter, { id, unit, counts }: Omit<Reached, 'place'>): Promise<number> {
    await this.#commit(writer, { id, unit, place: null, counts })
    const lists: ArchiveEntry[] = []
    for (let after = 0; ; ) {
      const query = 'SELECT n, path, bytes, sha256 FROM export_entries WHERE n > ? ORDER BY n LIMIT ?'
      const page = rows<ArchiveEntry & { n: number }>(this.#sql, query, after, MANIFEST_ROWS)
      const last = page.at(-1)
      if (last === undefined) break
      const text = page.map(({ n: _n, ...entry }) => `${JSON.stringify(entry)}\n`).join('')
      await writer.text(`manifest/${String(after).padStart(10, '0')}.jsonl`, text)
      after = last.n
    }
    const written = await writer.flushed()
    lists.push(...written.entries)
    const job = this.#mustBe(id)
    await writer.text('manifest.json', `${JSON.stringify({ ...this.#about(job), counts, lists })}\n`)
    await writer.end()
    const rest = await writer.flushed()
    const expiresAt = Date.now() + KEEP_MS
    this.#deps.storage.transactionSync(() => {
      this.#mustBe(id)
      this.#note([...written.pieces, ...rest.pieces], [])
      this.#sql.exec("UPDATE export_job SET state = 'ready', unit = ?, expires_at = ?", unit, expiresAt)
      this.#sql.exec('DELETE FROM export_entries')
    })
    return expiresAt
  }

  async #commit(writer: ArchiveWriter, { id, unit, place, counts }: Reached): Promise<void> {
    const { pieces, entries } = await writer.flushed()
    this.#deps.storage.transactionSync(() => {
      this.#mustBe(id)
      this.#note(pieces, entries)
      const texts = [JSON.stringify(place), JSON.stringify(counts)]
      this.#sql.exec('UPDATE export_job SET unit = ?, place = ?, counts = ?, failures = 0', unit, ...texts)
    })
  }

  #note(pieces: readonly number[], entries: readonly ArchiveEntry[]): void {
    for (const bytes of pieces) {
      this.#sql.exec('INSERT INTO export_pieces (n, bytes) SELECT count(*), ? FROM export_pieces', bytes)
      this.#sql.exec('UPDATE export_job SET bytes = bytes + ?', bytes)
    }
    for (const { path, bytes, sha256 } of entries)
      this.#sql.exec('INSERT INTO export_entries (path, bytes, sha256) VALUES (?, ?, ?)', path, bytes, sha256)
  }

  #about({ id, owner, began_at: beganAt }: Job) {
    return { format: FORMAT, version: VERSION, id, owner, created_at: isoMicros(beganAt) }
  }

  get #isPreparing(): boolean {
    return this.#job?.state === 'preparing'
  }

  get #job(): Job | null {
    return firstRow<Job>(this.#sql, 'SELECT * FROM export_job')
  }

  /** The export may have been deleted during an `await`. */
  #mustBe(id: string): Job {
    const job = this.#job
    if (job?.id !== id) throw new Error('the export was dropped')
    return job
  }

  async #unitsOf(owner: string): Promise<Unit[]> {
    const env = this.#deps.env()
    const named = await namedConversations(env.DB, owner)
    const ids = new Set([...named, ...this.#deps.books.ids(), ...(await conversationsWithFiles(env, owner))])
    return [
      { kind: 'secrets', name: '' },
      ...EXPORTED_TABLES.map(({ name }): Unit => ({ kind: 'rows', name })),
      ...[...ids].toSorted().map((name): Unit => ({ kind: 'conversation', name })),
      ...(await feedbackKeys(env, owner)).map((name): Unit => ({ kind: 'feedback', name })),
    ]
  }
}

type Reached = { id: string; unit: number; place: unknown; counts: ExportCounts }

const countsOf = ({ counts }: Job): ExportCounts => JSON.parse(counts) as ExportCounts

async function feedbackKeys({ FILES }: Env, owner: string): Promise<string[]> {
  const keys: string[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await FILES.list({ prefix: feedbackPrefix(owner), ...(cursor === undefined ? {} : { cursor }) })
    keys.push(...page.objects.map(({ key }) => key))
    if (!page.truncated) return keys
    cursor = page.cursor
  }
}
