// A text search of the event log against what SQL can do without an index, both in one object over the same events.

import { DurableObject } from 'cloudflare:workers'
import { EventLog } from '../../../durable-objects/conversation/events/event-log.ts'
import type { EventPage } from '../../../durable-objects/conversation/events/event-search.ts'
import { MIGRATIONS } from '../../../durable-objects/conversation/schema.ts'
import { migrate } from '../../../durable-objects/sql.ts'
import { runAction } from '../../../src/agent/actions.ts'
import { seededEvents } from './events.ts'

type Bindings = { OBJECT: DurableObjectNamespace<SearchBench> }
type Outcome = { searches: number; ms: number; found: number }

const BATCH = 100
/** No event comes after them for as long as the index is filled. */
const IN_PEACE = Number.POSITIVE_INFINITY

export class SearchBench extends DurableObject<Bindings> {
  readonly #sql: SqlStorage
  readonly #log: EventLog

  constructor(ctx: DurableObjectState, env: Bindings) {
    super(ctx, env)
    migrate(ctx.storage, MIGRATIONS)
    this.#sql = ctx.storage.sql
    this.#log = new EventLog(ctx.storage.sql)
  }

  /** Fills the log with so many events, one of which holds the needle, and its index. */
  async seed(count: number, needle: string): Promise<number> {
    const middle = Math.floor(count / 2)
    for (let first = 0; first < count; first += BATCH) {
      const events = seededEvents(first, BATCH)
      if (first <= middle && middle < first + BATCH)
        events[middle - first] = runAction('agent', `grep ${needle} README.md`)
      this.#log.append(events)
    }
    while (this.#log.fillIndex(IN_PEACE) !== null);
    await this.ctx.storage.sync()
    return this.#log.last + 1
  }

  ours(searches: number, query: string): Outcome {
    const filter = { excludeHidden: false, query, includeTypes: null, excludeTypes: null }
    const dates = { source: null, startDate: null, endDate: null }
    const page: EventPage = { startId: 0, endId: null, reverse: true, limit: 20, filter: { ...filter, ...dates } }
    return time(searches, () => this.#log.search(page).events.length)
  }

  baseline(searches: number, query: string): Outcome {
    const scan = 'SELECT body FROM events WHERE instr(lower(body), ?) > 0 ORDER BY id DESC LIMIT 20'
    return time(searches, () => this.#sql.exec(scan, query.toLowerCase()).toArray().length)
  }
}

function time(searches: number, search: () => number): Outcome {
  const startedAt = Date.now()
  let found = 0
  for (let i = 0; i < searches; i++) found = search()
  return { searches, ms: Date.now() - startedAt, found }
}

// biome-ignore lint/style/noDefaultExport: a Worker's entry is its default export
export default {
  async fetch(request: Request, { OBJECT }: Bindings): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    const [count, query] = [Number(searchParams.get('count')), searchParams.get('query') ?? '']
    const object = OBJECT.get(OBJECT.idFromName('one'))
    if (pathname === '/seed') return Response.json(await object.seed(count, query))
    return Response.json(await (pathname === '/ours' ? object.ours(count, query) : object.baseline(count, query)))
  },
}
