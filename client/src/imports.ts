// An archive of an export into this owner: sent in parts, each of which is sent again where it broke off, and then carried out by the
// service.

import { BellwetherError, ServiceError } from './errors.ts'
import { type Http, type Reply, sleep } from './http.ts'

export type ImportStanding = Reply<'GET /api/import'>

const LOOK_EVERY_MS = 1_000
/** Of one part. */
const SEND_MS = 5 * 60_000

export class Imports {
  readonly #http: Http

  constructor(http: Http) {
    this.#http = http
  }

  /** Begins one, in place of one that is over or was not carried out. */
  begin(bytes: number): Promise<ImportStanding> {
    return this.#http.call('POST /api/import', { body: { bytes } })
  }

  /** How far it is; null for none. */
  async state(): Promise<ImportStanding | null> {
    try {
      return await this.#http.call('GET /api/import')
    } catch (error) {
      if (error instanceof ServiceError && error.status === 404) return null
      throw error
    }
  }

  /** Withdraws one that is not carried out yet, or forgets what became of one. */
  async withdraw(): Promise<void> {
    await this.#http.call('DELETE /api/import')
  }

  /** Sends what is still missing of the archive; `read` answers the bytes from one place to the next. */
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
      // The part was stored, and the answer was lost.
      const now = await this.state()
      if (now === null || now.import_id !== import_id || now.received <= offset) throw error
      return now
    }
  }

  /** Until it is over; throws where it was refused. */
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
