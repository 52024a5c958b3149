// Everything that an owner has, as one archive: prepared by the service, read in ranges, so that a break costs nothing.

import { BellwetherError, ServiceError, TimedOut, Unreachable } from './errors.ts'
import { backoff, type Http, type Reply, sleep } from './http.ts'

export type ExportStanding = Reply<'GET /api/export/state'>

const LOOK_EVERY_MS = 1_000
/** Of one range; what is not read by then is asked for again. */
const READ_MS = 15 * 60_000
/** Breaks in a row without a byte in between. */
const MOST_BREAKS = 8

export class Exports {
  readonly #http: Http

  constructor(http: Http) {
    this.#http = http
  }

  /** Begins one, in place of the one that is there; one that is being prepared goes on. */
  prepare(): Promise<ExportStanding> {
    return this.#http.call('POST /api/export')
  }

  /** How far it is; null for none. */
  async state(): Promise<ExportStanding | null> {
    try {
      return await this.#http.call('GET /api/export/state')
    } catch (error) {
      if (error instanceof ServiceError && error.status === 404) return null
      throw error
    }
  }

  /** Until it is ready. */
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

  /** The archive from a byte on, over breaks; throws when another export has taken its place. */
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
        // What is no error of ours came while the answer was read: the connection broke.
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
