// The event log's own append against the bare statement for the same rows, both in one turn of one object.

import { DurableObject } from 'cloudflare:workers'
import { EventLog } from '../../../durable-objects/conversation/events/event-log.ts'
import { MIGRATIONS } from '../../../durable-objects/conversation/schema.ts'
import { migrate } from '../../../durable-objects/sql.ts'
import { agentMessage, runAction, userMessage } from '../../../src/agent/actions.ts'
import type { NewEvent, StoredEvent } from '../../../src/agent/events.ts'
import { runObservation, stateChanged } from '../../../src/agent/observations.ts'

type Bindings = { OBJECT: DurableObjectNamespace<AppendBench> }
type Outcome = { events: number; ms: number }

const BATCH = 64
const INSERT = 'INSERT INTO events (id, timestamp, source, kind, hidden, body) VALUES (?, ?, ?, ?, ?, ?)'

export class AppendBench extends DurableObject<Bindings> {
  readonly #sql: SqlStorage
  readonly #events = sampleEvents()

  constructor(ctx: DurableObjectState, env: Bindings) {
    super(ctx, env)
    migrate(ctx.storage, MIGRATIONS)
    this.#sql = ctx.storage.sql
  }

  /** Appends that many batches to an empty log, each in one call. */
  async ours(batches: number): Promise<Outcome> {
    await this.#empty()
    const log = new EventLog(this.#sql)
    return this.#time(batches, () => log.append(this.#events))
  }

  /** Inserts the rows that `ours` would store, ready made, one statement each. */
  async baseline(batches: number): Promise<Outcome> {
    await this.#empty()
    const rows = new EventLog(this.#sql).append(this.#events)
    await this.#empty()
    const at = new Date().toISOString()
    let id = 0
    return this.#time(batches, () => {
      for (const row of rows) this.#insert(id++, at, row)
    })
  }

  #insert(id: number, at: string, { source, kind, text }: StoredEvent): void {
    this.#sql.exec(INSERT, id, at, source, kind, 0, text)
  }

  async #time(batches: number, appendBatch: () => void): Promise<Outcome> {
    const startedAt = Date.now()
    for (let i = 0; i < batches; i++) appendBatch()
    await this.ctx.storage.sync()
    return { events: batches * BATCH, ms: Date.now() - startedAt }
  }

  async #empty(): Promise<void> {
    this.#sql.exec('DELETE FROM events')
    await this.ctx.storage.sync()
  }
}

/** What a conversation with an agent mostly consists of. */
function sampleEvents(): NewEvent[] {
  const output = 'README.md\nsrc/index.ts\nsrc/app.ts\npackage.json\n'
  const outcome = { command: 'ls -1', output, exitCode: 0, workingDir: '/workspace', hidden: false }
  return Array.from({ length: BATCH / 4 }, (_, i) => [
    userMessage(`Please look at the files in folder ${i} and tell me what you find there.`, null, null),
    runAction('agent', 'ls -1'),
    runObservation('agent', 1, outcome),
    i % 2 === 0 ? stateChanged('awaiting_user_input') : agentMessage(`The folder ${i} holds the sources and a README.`),
  ]).flat()
}

// biome-ignore lint/style/noDefaultExport: a Worker's entry is its default export
export default {
  async fetch(request: Request, { OBJECT }: Bindings): Promise<Response> {
    const url = new URL(request.url)
    const batches = Number(url.searchParams.get('batches'))
    const object = OBJECT.get(OBJECT.idFromName('one'))
    return Response.json(await (url.pathname === '/ours' ? object.ours(batches) : object.baseline(batches)))
  },
}
