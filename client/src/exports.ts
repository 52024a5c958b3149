// All data of an owner, as one archive: prepared by the service, read in ranges, so that an interrupted download can be
// continued.

import { BellwetherError, ServiceError, TimedOut, Unreachable } from './errors.ts'
import { backoff, type Http, type Reply, sleep } from './http.ts'

export type ExportStanding = Reply<'GET /api/export/state'>

const LOOK_EVERY_MS = 1_000
/** The time limit of one range; the rest is requested again. */
const READ_MS = 15 * 60_000
/** The limit of consecutive interruptions without a received byte. */
const MOST_BREAKS = 8

export class Exports {
  readonly #http: Http

  constructor(http: Http) {
    this.#http = http
  }

  /** Starts one and replaces the existing one; one in progress continues. */
  prepare(): Promise<ExportStanding> {
    return this.#http.call('POST /api/export')
  }

  /** The progress; null for none. */
  async state(): Promise<ExportStanding | null> {
    try {
      return await this.#http.call('GET /api/export/state')
    } catch (error) {
      if (error instanceof ServiceError && error.status === 404) return null
      throw error
    }
  }

  /** Waits until it is ready. */
  async wait(onProgress: (standing: ExportStanding) => void = () => {}, signal?: AbortSignal): Promise<ExportStanding> {
    for (;;) {
      const standing = await this.state()
      if (standing === null) throw new BellwetherError('no_export', 'The export is gone')
      if (standing.state === 'failed')
        throw new BellwetherError('export_failed', 'The service could not prepare the export')
      onProgress(standing)
      if (standing.state === 'ready') return standing
      await sleep(LOOK_EVERY_MS, signal)
    }
  }

  /** The archive from a byte on, with reconnections; throws if another export has replaced it. */
  async *read({ export_id: id, bytes }: ExportStanding, from = 0, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
    let at = from
    for (let breaks = 0; at < bytes; ) {
      try {
        for await (const chunk of this.#range(id, at, signal)) {
          at += chunk.byteLength
          breaks = 0
          yield chunk
        }
        if (at < bytes) throw new Unreachable(this.#http.url, new Error('the answer broke off'))
      } catch (error) {
        // An error of another kind occurred while the answer was read: the connection broke.
        const isPassing =
          !(error instanceof BellwetherError) || error instanceof Unreachable || error instanceof TimedOut
        breaks += 1
        if (!isPassing || breaks > MOST_BREAKS || signal?.aborted) throw error
        await sleep(backoff(breaks), signal)
      }
    }
  }

  async *#range(id: string, from: number, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
    const response = await this.#http.send('GET /api/export', {
      headers: { range: `bytes=${from}-`, 'if-range': `"${id}"` },
      timeoutMs: READ_MS,
      ...(signal === undefined ? {} : { signal }),
    })
    if (response.headers.get('etag') !== `"${id}"`) {
      await response.body?.cancel()
      throw new BellwetherError('other_export', 'Another export has taken the place of this one')
    }
    if (response.body === null) return
    const reader = response.body.getReader()
    try {
      for (;;) {
        const { done, value } = await reader.read()
        if (done) return
        yield value
      }
    } finally {
      await reader.cancel()
    }
  }
}
