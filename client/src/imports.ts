// Imports an archive of an export into this owner: sent in parts, each of which is repeated if it was interrupted, and
// then applied by the service.

import { BellwetherError, ServiceError } from './errors.ts'
import { type Http, type Reply, sleep } from './http.ts'

export type ImportStanding = Reply<'GET /api/import'>

const LOOK_EVERY_MS = 1_000
/** The time limit of one part. */
const SEND_MS = 5 * 60_000

export class Imports {
  readonly #http: Http

  constructor(http: Http) {
    this.#http = http
  }

  /** Starts one and replaces one that is finished or was not applied. */
  begin(bytes: number): Promise<ImportStanding> {
    return this.#http.call('POST /api/import', { body: { bytes } })
  }

  /** The progress; null for none. */
  async state(): Promise<ImportStanding | null> {
    try {
      return await this.#http.call('GET /api/import')
    } catch (error) {
      if (error instanceof ServiceError && error.status === 404) return null
      throw error
    }
  }

  /** Cancels one that is not applied yet, or removes the result of one. */
  async withdraw(): Promise<void> {
    await this.#http.call('DELETE /api/import')
  }

  /** Sends the missing part of the archive; `read` returns the bytes between two positions. */
  async send(
    begun: ImportStanding,
    read: (from: number, to: number) => Promise<Uint8Array>,
    { onProgress = () => {}, signal }: { onProgress?: (standing: ImportStanding) => void; signal?: AbortSignal } = {},
  ): Promise<ImportStanding> {
    let standing = begun
    while (standing.phase === 'receiving') {
      const from = standing.received
      const bytes = await read(from, Math.min(from + standing.part_bytes, standing.bytes))
      standing = await this.#part(standing, bytes, signal)
      onProgress(standing)
    }
    return standing
  }

  async #part(
    { import_id, received: offset }: ImportStanding,
    bytes: Uint8Array,
    signal?: AbortSignal,
  ): Promise<ImportStanding> {
    try {
      const response = await this.#http.send('PUT /api/import', {
        ...{ query: { import_id, offset }, body: bytes, timeoutMs: SEND_MS },
        ...(signal === undefined ? {} : { signal }),
      })
      return (await response.json()) as ImportStanding
    } catch (error) {
      if (!(error instanceof ServiceError) || error.status !== 409) throw error
      // The part was stored, but the answer was lost.
      const now = await this.state()
      if (now === null || now.import_id !== import_id || now.received <= offset) throw error
      return now
    }
  }

  /** Waits until it is finished; throws if it was refused. */
  async wait(onProgress: (standing: ImportStanding) => void = () => {}, signal?: AbortSignal): Promise<ImportStanding> {
    for (;;) {
      const standing = await this.state()
      if (standing === null) throw new BellwetherError('no_import', 'The import is gone')
      if (standing.phase === 'refused' || standing.phase === 'failed')
        throw new BellwetherError(`import_${standing.phase}`, `The import was ${standing.phase}: ${standing.problem}`)
      onProgress(standing)
      if (standing.phase === 'done') return standing
      await sleep(LOOK_EVERY_MS, signal)
    }
  }
}
