// Finished analyses. D1 is the source of truth for them: the queue deletes a task after a while. JSON columns are passed as
// text; the caller parses them.

import { forgetReports } from './signals.ts'

/** What lists show of an analysis, and what identifies it. */
type AnalysisHead = {
  owner: string
  /** The id of the task, or of the run itself. */
  queryId: string
  /** The normalised listing, equal for every spelling. */
  key: string
  stockCode: string
  stockName: string | null
  reportType: string
  reportLanguage: string
  region: string | null
  analysisPhase: string
  originalQuery: string | null
  selectionSource: string | null
  /** JSON array. */
  skills: string | null
  trendPrediction: string | null
  analysisSummary: string | null
  sentimentScore: number | null
  operationAdvice: string | null
  action: string | null
  actionLabel: string | null
  currentPrice: number | null
  changePct: number | null
  volumeRatio: number | null
  turnoverRate: number | null
  modelUsed: string | null
  /** JSON. */
  marketPhaseSummary: string | null
  dataNotice: string | null
  /** The texts of consistency checks that failed or warn. */
  dataChecks: string | null
  /** ISO 8601 in UTC. */
  createdAt: string
}

/** The report as JSON without its context snapshot, and separately the data that it was made from. */
type AnalysisBody = { report: string; contextSnapshot: string | null; diagnostics: string | null }

export type NewAnalysis = AnalysisHead & AnalysisBody
export type AnalysisItem = AnalysisHead & { id: number }
export type StoredAnalysis = AnalysisItem & AnalysisBody

const COLUMNS: { [Key in keyof AnalysisHead]: string } = {
  owner: 'owner',
  queryId: 'query_id',
  key: 'key',
  stockCode: 'stock_code',
  stockName: 'stock_name',
  reportType: 'report_type',
  reportLanguage: 'report_language',
  region: 'region',
  analysisPhase: 'analysis_phase',
  originalQuery: 'original_query',
  selectionSource: 'selection_source',
  skills: 'skills',
  trendPrediction: 'trend_prediction',
  analysisSummary: 'analysis_summary',
  sentimentScore: 'sentiment_score',
  operationAdvice: 'operation_advice',
  action: 'action',
  actionLabel: 'action_label',
  currentPrice: 'current_price',
  changePct: 'change_pct',
  volumeRatio: 'volume_ratio',
  turnoverRate: 'turnover_rate',
  modelUsed: 'model_used',
  marketPhaseSummary: 'market_phase_summary',
  dataNotice: 'data_notice',
  dataChecks: 'data_checks',
  createdAt: 'created_at',
}

const KEYS = Object.keys(COLUMNS) as (keyof AnalysisHead)[]
const HEAD = `a.id, ${KEYS.map((key) => `a.${COLUMNS[key]} AS "${key}"`).join(', ')}`
const WHOLE = `SELECT ${HEAD}, a.report, s.context_snapshot AS "contextSnapshot", s.diagnostics
  FROM analyses a LEFT JOIN analysis_snapshots s ON s.analysis_id = a.id`

/**
 * Stores the analysis and returns its row's id. If the query id exists already, nothing changes. The statements in `beside`
 * are written if and only if the analysis is.
 */
export async function saveAnalysis(
  db: D1Database,
  analysis: NewAnalysis,
  beside: readonly D1PreparedStatement[] = [],
): Promise<number> {
  const names = KEYS.map((key) => COLUMNS[key]).join(', ')
  const marks = KEYS.map(() => '?').join(', ')
  const values = KEYS.map((key) => analysis[key])
  const [, , found] = await db.batch<{ id: number }>([
    db
      .prepare(`INSERT INTO analyses (${names}, report) VALUES (${marks}, ?) ON CONFLICT (query_id) DO NOTHING`)
      .bind(...values, analysis.report),
    db
      .prepare(
        `INSERT INTO analysis_snapshots (analysis_id, context_snapshot, diagnostics)
         SELECT id, ?, ? FROM analyses WHERE query_id = ? ON CONFLICT (analysis_id) DO NOTHING`,
      )
      .bind(analysis.contextSnapshot, analysis.diagnostics, analysis.queryId),
    db.prepare('SELECT id FROM analyses WHERE query_id = ?').bind(analysis.queryId),
    ...beside,
  ])
  const id = found?.results[0]?.id
  if (id === undefined) throw new Error('an analysis that was just saved is not there')
  return id
}

/** The owner's analysis of that query id, or null. */
export async function findByQueryId(db: D1Database, owner: string, queryId: string): Promise<StoredAnalysis | null> {
  return db.prepare(`${WHOLE} WHERE a.query_id = ? AND a.owner = ?`).bind(queryId, owner).first<StoredAnalysis>()
}

/** The owner's analysis of that row id or, failing that, of that query id; null when it has neither. */
export async function findAnalysis(db: D1Database, owner: string, id: string): Promise<StoredAnalysis | null> {
  if (/^[1-9]\d{0,14}$/.test(id)) {
    const query = `${WHOLE} WHERE a.id = ? AND a.owner = ?`
    const byRow = await db.prepare(query).bind(Number(id), owner).first<StoredAnalysis>()
    if (byRow !== null) return byRow
  }
  return findByQueryId(db, owner, id)
}

/** The owner's newest report of the listing that has a score. */
export async function newestOfListing(db: D1Database, owner: string, key: string): Promise<StoredAnalysis | null> {
  const query = `${WHOLE} WHERE a.owner = ? AND a.key = ? AND a.report_type <> 'market_review'
    AND a.sentiment_score IS NOT NULL ORDER BY a.created_at DESC, a.id DESC LIMIT 1`
  return db.prepare(query).bind(owner, key).first<StoredAnalysis>()
}

/** The owner's newest market review. */
export async function newestReview(db: D1Database, owner: string): Promise<StoredAnalysis | null> {
  const query = `${WHOLE} WHERE a.owner = ? AND a.report_type = 'market_review'
    ORDER BY a.created_at DESC, a.id DESC LIMIT 1`
  return db.prepare(query).bind(owner).first<StoredAnalysis>()
}

type AnalysisQuery = {
  owner: string
  /** The normalised listing; null for all. */
  key: string | null
  reportType: string | null
  /** ISO 8601 in UTC, inclusive. */
  from: string | null
  /** ISO 8601 in UTC, exclusive. */
  until: string | null
  limit: number
  offset: number
}

type Filter = Pick<AnalysisQuery, 'owner' | 'key' | 'reportType' | 'from' | 'until'>

/**
 * Builds conditions only for the given values: `?2 IS NULL OR …` would prevent the planner from using any index. In the
 * order of `bindings`.
 */
function matching({ owner, key, reportType, from, until }: Filter): { where: string; bindings: string[] } {
  const conditions: [condition: string, value: string | null][] = [
    ['a.owner = ?', owner],
    ['a.key = ?', key],
    ['a.report_type = ?', reportType],
    ['a.created_at >= ?', from],
    ['a.created_at < ?', until],
  ]
  const asked = conditions.flatMap(([condition, value]) => (value === null ? [] : [{ condition, value }]))
  return { where: asked.map(({ condition }) => condition).join(' AND '), bindings: asked.map(({ value }) => value) }
}

/** The two queries of a list with their bound values. */
export function listQueries({ limit, offset, ...filter }: AnalysisQuery) {
  const { where, bindings } = matching(filter)
  return {
    count: { text: `SELECT COUNT(*) AS total FROM analyses a WHERE ${where}`, bindings },
    page: {
      text: `SELECT ${HEAD} FROM analyses a WHERE ${where} ORDER BY a.created_at DESC, a.id DESC LIMIT ? OFFSET ?`,
      bindings: [...bindings, limit, offset],
    },
  }
}

/** One page of the owner's analyses, newest first, and how many match in all. */
export async function listAnalyses(
  db: D1Database,
  query: AnalysisQuery,
): Promise<{ total: number; items: AnalysisItem[] }> {
  const asked = listQueries(query)
  const [count, page] = await db.batch([
    db.prepare(asked.count.text).bind(...asked.count.bindings),
    db.prepare(asked.page.text).bind(...asked.page.bindings),
  ])
  const [{ total } = { total: 0 }] = (count?.results ?? []) as { total: number }[]
  return { total, items: (page?.results ?? []) as AnalysisItem[] }
}

/** Deletes the owner's analyses among those row ids and returns how many there were. */
export async function deleteAnalyses(db: D1Database, owner: string, ids: readonly number[]): Promise<number> {
  const chosen = 'SELECT id FROM analyses WHERE owner = ?1 AND id IN (SELECT value FROM json_each(?2))'
  const bindings = [owner, JSON.stringify(ids)]
  const deleted = await db.batch([
    ...forgetReports(db, chosen, bindings),
    db.prepare(`DELETE FROM analysis_snapshots WHERE analysis_id IN (${chosen})`).bind(...bindings),
    db.prepare(`DELETE FROM analyses WHERE id IN (${chosen})`).bind(...bindings),
  ])
  return deleted.at(-1)?.meta.changes ?? 0
}

/** Deletes the owner's analyses of a listing and returns how many there were. */
export async function deleteByKey(db: D1Database, owner: string, key: string): Promise<number> {
  const chosen = 'SELECT id FROM analyses WHERE owner = ?1 AND key = ?2'
  const deleted = await db.batch([
    ...forgetReports(db, chosen, [owner, key]),
    db.prepare(`DELETE FROM analysis_snapshots WHERE analysis_id IN (${chosen})`).bind(owner, key),
    db.prepare('DELETE FROM analyses WHERE owner = ?1 AND key = ?2').bind(owner, key),
  ])
  return deleted.at(-1)?.meta.changes ?? 0
}

export type ListingItem = AnalysisItem & { analysisCount: number }

type Window = Pick<AnalysisQuery, 'owner' | 'from' | 'until' | 'limit'>

/** The newest report of each listing, newest first, with the number of its reports. Without market reviews. */
export async function newestByListing(
  db: D1Database,
  { limit, ...window }: Window,
): Promise<{ total: number; items: ListingItem[] }> {
  const { where, bindings } = matching({ ...window, key: null, reportType: null })
  const reports = `${where} AND a.report_type <> 'market_review'`
  const [count, page] = await db.batch([
    db.prepare(`SELECT COUNT(DISTINCT a.key) AS total FROM analyses a WHERE ${reports}`).bind(...bindings),
    db
      .prepare(
        `SELECT ${HEAD}, n.count AS "analysisCount" FROM analyses a
         JOIN (SELECT MAX(a.id) AS newest, COUNT(*) AS count FROM analyses a WHERE ${reports} GROUP BY a.key) n
           ON a.id = n.newest
         ORDER BY a.created_at DESC, a.id DESC LIMIT ?`,
      )
      .bind(...bindings, limit),
  ])
  const [{ total } = { total: 0 }] = (count?.results ?? []) as { total: number }[]
  return { total, items: (page?.results ?? []) as ListingItem[] }
}

/** Earlier advice, with the prices that it is measured by. */
export type PastAdvice = {
  id: number
  key: string
  action: string | null
  sentimentScore: number | null
  reportLanguage: string
  createdAt: string
  /** JSON. */
  marketPhaseSummary: string | null
}

/** The owner's newest reports on real data that contain advice. */
export async function pastAdvice(
  db: D1Database,
  { limit, ...filter }: Pick<AnalysisQuery, 'owner' | 'key' | 'from' | 'limit'>,
): Promise<PastAdvice[]> {
  const { where, bindings } = matching({ ...filter, reportType: null, until: null })
  const { results } = await db
    .prepare(
      `SELECT a.id, a.key, a.action, a.sentiment_score AS "sentimentScore", a.report_language AS "reportLanguage",
         a.created_at AS "createdAt", a.market_phase_summary AS "marketPhaseSummary"
       FROM analyses a
       WHERE ${where} AND a.report_type <> 'market_review' AND a.action IS NOT NULL AND a.data_notice IS NULL
       ORDER BY a.created_at DESC, a.id DESC LIMIT ?`,
    )
    .bind(...bindings, limit)
    .all<PastAdvice>()
  return results
}

/** Deletes the report of a task that was cancelled while it was being saved. Idempotent. */
export async function withdrawAnalysis(db: D1Database, queryId: string): Promise<void> {
  const chosen = 'SELECT id FROM analyses WHERE query_id = ?'
  await db.batch([
    ...forgetReports(db, chosen, [queryId]),
    db.prepare(`DELETE FROM analysis_snapshots WHERE analysis_id IN (${chosen})`).bind(queryId),
    db.prepare('DELETE FROM analyses WHERE query_id = ?').bind(queryId),
  ])
}

/** The fields of a report that a digest compares. */
export type ComparedReport = Pick<
  AnalysisItem,
  | 'queryId'
  | 'key'
  | 'stockCode'
  | 'stockName'
  | 'action'
  | 'actionLabel'
  | 'operationAdvice'
  | 'sentimentScore'
  | 'currentPrice'
  | 'dataNotice'
  | 'createdAt'
> & {
  /** JSON: the price levels as numbers; null when the report has none. */
  levels: string | null
}

const COMPARED = [
  'queryId',
  'key',
  'stockCode',
  'stockName',
  'action',
  'actionLabel',
  'operationAdvice',
  'sentimentScore',
  'currentPrice',
  'dataNotice',
  'createdAt',
] as const satisfies readonly (keyof AnalysisHead)[]

const KEYS_AT_ONCE = 200

/** The owner's newest report of each listing at that moment (ISO 8601 in UTC). */
export async function reportsStandingAt(
  db: D1Database,
  { owner, keys, at }: { owner: string; keys: readonly string[]; at: string },
): Promise<Map<string, ComparedReport>> {
  const columns = COMPARED.map((key) => `a.${COLUMNS[key]} AS "${key}"`).join(', ')
  const query = `SELECT ${columns}, a.report -> '$.details.raw_result.dashboard.battle_plan.levels' AS levels
    FROM json_each(?2) k JOIN analyses a ON a.id = (SELECT b.id FROM analyses b WHERE b.owner = ?1 AND b.key = k.value
      AND b.created_at <= ?3 AND b.report_type <> 'market_review' ORDER BY b.created_at DESC, b.id DESC LIMIT 1)`
  const found = new Map<string, ComparedReport>()
  for (let i = 0; i < keys.length; i += KEYS_AT_ONCE) {
    const some = JSON.stringify(keys.slice(i, i + KEYS_AT_ONCE))
    const { results } = await db.prepare(query).bind(owner, some, at).all<ComparedReport>()
    for (const report of results) found.set(report.key, report)
  }
  return found
}
