// Spans of an object until the collector has them. A span is stored in the write that ends its step and deleted when
// the collector accepted it, so a crash loses none and creates none twice. A crash between the two sends it again,
// under the same id. An unavailable collector is retried a bounded number of times, and a bounded number of spans
// waits; dropped spans are counted.

import { type Config, config } from '../src/config.ts'
import { parseRetryAfter, requestBytes, UpstreamError } from '../src/lib/http-client.ts'
import { errorFields, log } from '../src/lib/log.ts'
import { count } from '../src/lib/metrics.ts'
import { isSampled, otlpBody, otlpSpan, SCHEMA_URL, type Span } from '../src/lib/otlp.ts'
import { SPANS_TABLE } from './common-tables.ts'
import { firstRow, rows } from './sql.ts'

export type SpanStoreDeps = {
  sql: SqlStorage
  env: Env
  /** Requests a call of `deliver` at that time at the latest, epoch ms. */
  wakeAt(at: number): void
}

/** Spans that end within this time are sent together. */
const GATHER_MS = 2_000
const BATCH = 128
const MOST_WAITING = 1_000
const MOST_ATTEMPTS = 8
const FIRST_DELAY_MS = 5_000
const LONGEST_DELAY_MS = 300_000
/** The longest `Retry-After` of a collector that is respected. */
const LONGEST_RETRY_AFTER_MS = 900_000

type Row = { id: string; body: string; attempts: number }
type Answer = { kind: 'taken'; rejected: number } | { kind: 'refused' } | { kind: 'later'; delayMs: number | null }

export class SpanStore {
  readonly #deps: SpanStoreDeps
  readonly #telemetry: Config['telemetry']
  #isThere: boolean

  constructor(deps: SpanStoreDeps) {
    this.#deps = deps
    this.#telemetry = config(deps.env).telemetry
    this.#isThere = firstRow(deps.sql, "SELECT 1 FROM sqlite_master WHERE name = 'spans'") !== null
  }

  /** Whether spans are recorded at all. */
  get isOn(): boolean {
    return this.#telemetry !== null
  }

  /** The trace's id in its recorded form; null when sampling leaves it out. */
  sampled(traceId: string): string | null {
    return this.#telemetry !== null && isSampled(traceId, this.#telemetry.ratio) ? traceId : null
  }

  /** Part of the caller's write. An existing span stays unchanged. */
  put(span: Span): void {
    if (this.#telemetry === null) return
    const { sql, wakeAt } = this.#deps
    if (!this.#isThere) sql.exec(SPANS_TABLE)
    this.#isThere = true
    const waiting = firstRow<{ n: number }>(sql, 'SELECT COUNT(*) AS n FROM spans')?.n ?? 0
    if (waiting >= MOST_WAITING) {
      count('bellwether_spans_dropped_total', { reason: 'too_many_wait' })
      return
    }
    sql.exec(
      'INSERT OR IGNORE INTO spans (id, body, attempts) VALUES (?, ?, 0)',
      `${span.traceId}${span.spanId}`,
      JSON.stringify(otlpSpan(span)),
    )
    wakeAt(Date.now() + GATHER_MS)
  }

  /** Sends what waits, oldest first; requests another wake-up when the collector did not accept it. */
  async deliver(): Promise<void> {
    if (!this.#isThere) return
    try {
      while (await this.#deliverSome());
    } catch (error) {
      // The object was erased during a send, and its tables with it.
      if (!(error instanceof Error && /no such table: spans/.test(error.message))) throw error
    }
  }

  /** False when nothing is left, or when the rest must wait. */
  async #deliverSome(): Promise<boolean> {
    const { sql } = this.#deps
    // Tracing was switched off.
    if (this.#telemetry === null) sql.exec('DELETE FROM spans')
    const batch = rows<Row>(sql, 'SELECT id, body, attempts FROM spans ORDER BY n LIMIT ?', BATCH)
    if (batch.length === 0) return false
    return this.#settle(batch, await this.#send(batch))
  }

  /** False when the rest must wait. */
  #settle(batch: readonly Row[], answer: Answer): boolean {
    if (answer.kind === 'later') {
      this.#putOff(batch, answer.delayMs)
      return false
    }
    this.#drop(batch)
    const rejected = answer.kind === 'refused' ? batch.length : Math.min(batch.length, answer.rejected)
    count('bellwether_spans_sent_total', {}, batch.length - rejected)
    count('bellwether_spans_dropped_total', { reason: 'refused' }, rejected)
    return true
  }

  #putOff(batch: readonly Row[], delayMs: number | null): void {
    const { sql, wakeAt } = this.#deps
    const attempts = Math.max(...batch.map((row) => row.attempts)) + 1
    const isOver = ({ attempts }: Row) => attempts + 1 >= MOST_ATTEMPTS
    const over = batch.filter(isOver)
    this.#drop(over)
    count('bellwether_spans_dropped_total', { reason: 'collector_away' }, over.length)
    for (const { id } of batch) sql.exec('UPDATE spans SET attempts = attempts + 1 WHERE id = ?', id)
    if (firstRow(sql, 'SELECT 1 FROM spans LIMIT 1') === null) return
    const backOffMs = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempts - 1)) * (0.5 + Math.random() / 2)
    wakeAt(Date.now() + Math.min(LONGEST_RETRY_AFTER_MS, delayMs ?? backOffMs))
  }

  #drop(batch: readonly Row[]): void {
    for (const { id } of batch) this.#deps.sql.exec('DELETE FROM spans WHERE id = ?', id)
  }

  async #send(batch: readonly Row[]): Promise<Answer> {
    const { url, headers, timeoutMs, resource } = this.#telemetry ?? {
      url: '',
      headers: {},
      timeoutMs: 0,
      resource: {},
    }
    const about = { resource, scope: { name: 'bellwether', version: '0.1.0' }, schemaUrl: SCHEMA_URL }
    try {
      const answer = await requestBytes(url, {
        service: 'otlp',
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: otlpBody(
          about,
          batch.map(({ body }) => body),
        ),
        timeoutMs,
        maxBytes: 100_000,
        anyStatus: true,
      })
      return answerOf(answer, batch.length)
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error
      log.warn('telemetry.collector_away', { attempts: (batch[0]?.attempts ?? 0) + 1, ...errorFields(error) })
      return { kind: 'later', delayMs: null }
    }
  }
}

/** Status codes that the protocol defines as retryable. */
const PASSING: ReadonlySet<number> = new Set([429, 502, 503, 504])

function answerOf(
  { status, headers, bytes }: { status: number; headers: Headers; bytes: Uint8Array },
  sent: number,
): Answer {
  if (status >= 200 && status < 300) return { kind: 'taken', rejected: rejectedOf(bytes, sent) }
  log.warn('telemetry.not_taken', { status, spans: sent })
  return PASSING.has(status)
    ? { kind: 'later', delayMs: parseRetryAfter(headers.get('retry-after')) }
    : { kind: 'refused' }
}

/** A collector may accept a part and report the number of rejected spans. Any other body is ignored. */
function rejectedOf(bytes: Uint8Array, sent: number): number {
  const said = /"rejectedSpans"\s*:\s*"?(\d{1,9})/.exec(new TextDecoder().decode(bytes))
  const rejected = Number(said?.[1] ?? 0)
  if (rejected > 0) log.warn('telemetry.partly_taken', { spans: sent, rejected })
  return rejected
}
