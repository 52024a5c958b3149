// The part of an owner's object that exports, imports and deletes all data of the owner.

import { config } from '../../src/config.ts'
import { errorFields, log } from '../../src/lib/log.ts'
import { Alarms } from '../alarms.ts'
import { Erasure } from './erasure.ts'
import { type ExportStanding, Exports } from './export/exports.ts'
import { type ImportStanding, Imports, type PartAnswer } from './import/imports.ts'
import { RunnerOwner } from './runner-owner.ts'

const ERASE_AGAIN_MS = 5_000

export class MovingOwner extends RunnerOwner {
  protected readonly alarms: Alarms<'tell' | 'settle' | 'secrets' | 'runners' | 'erase' | 'export' | 'import'>
  readonly #erasure: Erasure
  readonly #exports: Exports
  readonly #imports: Imports
  /** True when only this object and then the keys are left to delete. */
  #isEnding = false

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.alarms = new Alarms(this.storage)
    this.#erasure = new Erasure({ env: () => this.env, sql: this.storage.sql, books: this.books })
    this.#exports = new Exports({ env: () => this.env, storage: this.storage, books: this.books })
    const allowed = () => {
      const { conversations, storedBytes: bytes } = config(this.env).quotas
      return { conversations, bytes }
    }
    this.#imports = new Imports({ env: () => this.env, storage: this.storage, books: this.books, allowed })
  }

  /** Prepares an archive of all data; a preparation that runs continues. */
  async beginExport(owner: string): Promise<ExportStanding | null> {
    await this.#exports.begin(owner)
    this.alarms.atLatest('export', Date.now())
    return this.#exports.standing
  }

  exportStanding(): ExportStanding | null {
    return this.#exports.standing
  }

  /** The sizes of the archive's pieces; null when it does not exist or is not ready. */
  exportPieces(id: string): number[] | null {
    return this.#exports.pieces(id)
  }

  dropExport(): Promise<boolean> {
    return this.#exports.drop()
  }

  protected async goOnExporting(): Promise<void> {
    const at = await this.#exports.work()
    if (at !== null) this.alarms.at('export', at)
  }

  /** Starts to receive an archive of this many bytes; its parts follow. */
  async beginImport(owner: string, bytes: number): Promise<'begun' | 'busy' | 'too-large'> {
    const begun = await this.#imports.begin(owner, bytes)
    if (begun === 'begun') this.#comeForImport()
    return begun
  }

  importStanding(): ImportStanding | null {
    return this.#imports.standing
  }

  /** Where to put a part that begins at this byte, or why it is refused. */
  importPartKey(id: string, offset: number): { key: string } | PartAnswer {
    return this.#imports.partKey(id, offset)
  }

  async noteImportPart(id: string, part: { key: string; bytes: number; offset: number }): Promise<PartAnswer> {
    const answer = await this.#imports.notePart(id, part)
    if (this.#imports.standing?.phase === 'checking') this.alarms.atLatest('import', Date.now())
    return answer
  }

  /** Null when there is no import, false while it runs. */
  withdrawImport(): Promise<boolean | null> {
    return this.#imports.withdraw()
  }

  protected async goOnImporting(): Promise<void> {
    const at = await this.#imports.work()
    if (at !== null) this.alarms.at('import', at)
  }

  /** Sets the alarm that deletes the import when no more parts come. */
  #comeForImport(): void {
    const { expiresAt } = this.#imports.standing ?? {}
    if (expiresAt !== undefined) this.alarms.atLatest('import', expiresAt)
  }

  /** The owner's deletion was ordered: starts or continues it. */
  async erase(owner: string): Promise<void> {
    this.#erasure.begin(owner)
    this.alarms.atLatest('erase', Date.now())
    await this.#exports.drop()
    await this.#imports.drop()
  }

  protected async goOnErasing(): Promise<void> {
    const onward = await this.#erasure.work()
    this.#isEnding = onward === 'end'
    // If the last step fails, it is retried.
    if (onward !== null) this.alarms.at('erase', onward === 'end' ? Date.now() + ERASE_AGAIN_MS : onward)
  }

  /** Does the last step if it is due. To be called after the alarms, because it deletes their table. */
  protected async endErasure(): Promise<void> {
    if (!this.#isEnding) return
    this.#isEnding = false
    try {
      this.runnerPool.endAll()
      await this.#erasure.end(async () => {
        await this.empty()
        this.alarms.forget()
      })
    } catch (error) {
      log.warn('owner.deletion_not_ended', errorFields(error))
      this.alarms.atLatest('erase', Date.now() + ERASE_AGAIN_MS)
    }
  }
}
