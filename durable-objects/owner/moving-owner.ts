// The part of an owner's object that is about everything that the owner has: its export and its deletion.

import { errorFields, log } from '../../src/lib/log.ts'
import { Alarms } from '../alarms.ts'
import { Erasure } from './erasure.ts'
import { type ExportStanding, Exports } from './export/exports.ts'
import { RunnerOwner } from './runner-owner.ts'

const ERASE_AGAIN_MS = 5_000

export class MovingOwner extends RunnerOwner {
  protected readonly alarms: Alarms<'tell' | 'settle' | 'secrets' | 'erase' | 'export'>
  readonly #erasure: Erasure
  readonly #exports: Exports
  /** Nothing is left but this object, and then the keys. */
  #isEnding = false

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.alarms = new Alarms(this.storage)
    this.#erasure = new Erasure({ env: () => this.env, sql: this.storage.sql, books: this.books })
    this.#exports = new Exports({ env: () => this.env, storage: this.storage, books: this.books })
  }

  /** Prepares an archive of everything; one that is being prepared goes on. */
  async beginExport(owner: string): Promise<ExportStanding | null> {
    await this.#exports.begin(owner)
    this.alarms.atLatest('export', Date.now())
    return this.#exports.standing
  }

  exportStanding(): ExportStanding | null {
    return this.#exports.standing
  }

  /** The sizes of the pieces that the archive is made of; null where it is not there, or not ready. */
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

  /** The owner's deletion was ordered: carries it out, or goes on with it. */
  async erase(owner: string): Promise<void> {
    this.#erasure.begin(owner)
    this.alarms.atLatest('erase', Date.now())
    await this.#exports.drop()
  }

  protected async goOnErasing(): Promise<void> {
    const onward = await this.#erasure.work()
    this.#isEnding = onward === 'end'
    // Should the end fail, it is tried again.
    if (onward !== null) this.alarms.at('erase', onward === 'end' ? Date.now() + ERASE_AGAIN_MS : onward)
  }

  /** Does the last step, where it is due. To be called behind the alarms, whose table goes. */
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
