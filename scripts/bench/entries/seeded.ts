// Bellwether itself, with ways to fill it faster than any client could, and with the bare queries behind some routes. Both
// sides of a row are then the same Worker on the same database.

import { Conversation } from '../../../durable-objects/conversation/conversation.ts'
import { EventLog } from '../../../durable-objects/conversation/events/event-log.ts'
import { conversation, taskQueue } from '../../../src/bindings.ts'
import { saveConversation } from '../../../src/db/conversations.ts'
import worker from '../../../src/index.ts'
import { BARS_FIELDS, CLOSE_FIELDS } from '../../../src/screening/fields.ts'
import { settledSession } from '../../../src/screening/figures.ts'
import { seededEvents } from './events.ts'
import { BenchRunner, SeededQueue } from './seeded-queue.ts'

export { Limiter, Owner } from '../../../src/index.ts'
export { BenchRunner as AnalysisRunner, SeededConversation as Conversation, SeededQueue as TaskQueue }

const OWNER = 'bench'
const BATCH = 100

class SeededConversation extends Conversation {
  /** Adds events behind the conversation's back; it must be reopened then. */
  seed(count: number): void {
    const log = new EventLog(this.ctx.storage.sql)
    for (let left = count; left > 0; left -= BATCH) log.append(seededEvents(log.last + 1, Math.min(BATCH, left)))
  }

  reopen(): void {
    this.ctx.abort('opened anew')
  }
}

/** What the routes ask for, and nothing around it. */
const QUERIES: Readonly<Record<string, string>> = {
  '/bench/list': 'SELECT * FROM conversations WHERE owner = ? ORDER BY created_at DESC, id DESC LIMIT 21',
  '/bench/settings': 'SELECT field, value FROM settings WHERE owner = ?',
  '/bench/screening':
    'SELECT * FROM stock_figures WHERE ? IS NOT NULL AND pe_ratio BETWEEN 1 AND 30 ORDER BY pb_ratio LIMIT 20',
  '/bench/secrets': 'SELECT name, description FROM secrets WHERE owner = ? ORDER BY position',
}

async function fill({ pathname, searchParams }: URL, env: Env): Promise<unknown> {
  const [id, count] = [searchParams.get('id') ?? '', Number(searchParams.get('count'))]
  if (pathname === '/bench/conversations') return listed(env, count)
  if (pathname === '/bench/analyses') return analysed(env, count)
  if (pathname === '/bench/figures') return keptFigures(env, count)
  if (pathname === '/bench/tasks') {
    return (taskQueue(env) as unknown as DurableObjectStub<SeededQueue>).seed(searchParams.get('owner') ?? OWNER, count)
  }
  // Types of a stub come from the binding's own class.
  const stub = conversation(env, OWNER, id) as unknown as DurableObjectStub<SeededConversation>
  if (pathname === '/bench/events') return stub.seed(count)
  // The call that ends the object fails with the reason that it was given.
  return stub.reopen().catch((error: unknown) => String(error))
}

/** Rows of the index, without anything behind them. */
async function listed(env: Env, count: number): Promise<void> {
  const nothing = {
    runtimeStatus: null,
    agentState: null,
    selectedRepository: null,
    selectedBranch: null,
    gitProvider: null,
  }
  for (let i = 0; i < count; i++) {
    const id = i.toString(16).padStart(32, '0')
    const at = new Date(Date.UTC(2026, 0, 1) + i * 1000).toISOString().replace('Z', '000Z')
    const times = { createdAt: at, lastUpdatedAt: at }
    const state = { status: 'STOPPED' as const, trigger: 'gui', numConnections: 0, prNumber: [] }
    await saveConversation(env.DB, { id, owner: OWNER, title: `Conversation ${i}`, ...times, ...state, ...nothing }, 1)
  }
}

/** Stored reports of two hundred listings, ten minutes apart up to now. */
async function analysed(env: Env, count: number): Promise<void> {
  await env.DB.prepare(
    `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?2 - 1)
     INSERT INTO analyses (owner, query_id, key, stock_code, stock_name, report_type, report_language, analysis_phase,
       analysis_summary, sentiment_score, operation_advice, created_at, report)
     SELECT ?1, printf('%032x', i), printf('%06d', 600000 + i % 200), printf('%06d', 600000 + i % 200), 'Name', 'full', 'zh',
       'auto', hex(zeroblob(300)), i % 100, 'watch', strftime('%Y-%m-%dT%H:%M:%f000Z', ?3 - (?2 - i) * 600, 'unixepoch'),
       hex(zeroblob(1000)) FROM n`,
  )
    .bind(OWNER, count, Math.floor(Date.now() / 1000))
    .run()
}

/** Kept figures of so many listings; one in ten lacks a ratio, one in twenty is too old. */
async function keptFigures(env: Env, count: number): Promise<void> {
  const day = settledSession('cn', Date.now())
  const figures = [...CLOSE_FIELDS, ...BARS_FIELDS].filter((name) => name !== 'pe_ratio')
  const values = figures.map((_, place) => `(i * ${place * 7 + 13} % 1000) / 10.0`)
  await env.DB.prepare(
    `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?1 - 1)
     INSERT INTO stock_figures (key, market, exchange, kind, name, en, industry, risk_warned, active, session, bars_session,
       source, bars_source, pe_ratio, ${figures.join(', ')})
     SELECT printf('B%06d', i), 'cn', 'SH', 'stock', 'Name', '', printf('Industry %d', i % 90), i % 40 = 0, 1,
       iif(i % 20 = 0, '2020-01-02', ?2), iif(i % 20 = 0, '2020-01-02', ?2), 'bench', 'bench',
       iif(i % 10 = 0, NULL, (i % 600) / 10.0), ${values.join(', ')} FROM n WHERE true ON CONFLICT (key) DO NOTHING`,
  )
    .bind(count, day)
    .run()
}

// biome-ignore lint/style/noDefaultExport: a Worker's entry is its default export
export default {
  async fetch(request: Request, env: Env, ctx: ExecutionContext): Promise<Response> {
    const url = new URL(request.url)
    if (!url.pathname.startsWith('/bench/')) return worker.fetch(request, env, ctx)
    const query = QUERIES[url.pathname]
    if (query === undefined) return Response.json((await fill(url, env)) ?? null)
    const { results } = await env.DB.prepare(query).bind(OWNER).all()
    return Response.json(results)
  },
}
