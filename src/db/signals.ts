// Signals: the advice of reports and owners on a listing, and its outcome. A report's signal is created when its
// owner's signals are next requested, so a crash between the two loses no signal.

export type NewSignal = {
  owner: string
  /** Identifies a signal among those of an owner. */
  identity: string
  key: string
  stockCode: string
  stockName: string | null
  market: string
  sourceType: string
  sourceAgent: string | null
  sourceReportId: number | null
  traceId: string | null
  triggerSource: string
  decisionProfile: string | null
  marketPhase: string | null
  /** The market's local day, and the last session that had begun. */
  madeOn: string
  anchor: string
  action: string
  actionLabel: string | null
  price: number | null
  confidence: number | null
  score: number | null
  horizon: string | null
  entryLow: number | null
  entryHigh: number | null
  stopLoss: number | null
  targetPrice: number | null
  planQuality: string
  unscorable: string | null
  /** JSON. */
  words: string
  createdAt: string
  expiresAt: string | null
}

export type Signal = NewSignal & { id: number; status: string; updatedAt: string }

const COLUMNS: { [Key in keyof NewSignal]: string } = {
  ...{ owner: 'owner', identity: 'identity', key: 'key', stockCode: 'stock_code', stockName: 'stock_name' },
  ...{ market: 'market', sourceType: 'source_type', sourceAgent: 'source_agent' },
  ...{ sourceReportId: 'source_report_id', traceId: 'trace_id', triggerSource: 'trigger_source' },
  ...{ decisionProfile: 'decision_profile', marketPhase: 'market_phase', madeOn: 'made_on', anchor: 'anchor' },
  ...{ action: 'action', actionLabel: 'action_label', price: 'price', confidence: 'confidence', score: 'score' },
  ...{ horizon: 'horizon', entryLow: 'entry_low', entryHigh: 'entry_high', stopLoss: 'stop_loss' },
  ...{ targetPrice: 'target_price', planQuality: 'plan_quality', unscorable: 'unscorable', words: 'words' },
  ...{ createdAt: 'created_at', expiresAt: 'expires_at' },
}

const KEYS = Object.keys(COLUMNS) as (keyof NewSignal)[]
const NAMES = KEYS.map((key) => COLUMNS[key]).join(', ')
const ROW = `s.id, s.status, s.updated_at AS "updatedAt", ${KEYS.map((key) => `s.${COLUMNS[key]} AS "${key}"`).join(', ')}`

const PURCHASE = "('buy', 'add')"
const SALE = "('reduce', 'sell', 'avoid')"

/** Adds the signals that do not exist yet, and closes each one that a later signal of the opposite direction contradicts. */
export async function addSignals(db: D1Database, owner: string, signals: readonly NewSignal[]): Promise<void> {
  if (signals.length === 0) return
  const values = KEYS.map((key) => `value ->> '$.${key}'`).join(', ')
  const keys = JSON.stringify([...new Set(signals.map(({ key }) => key))])
  await db.batch([
    db
      .prepare(
        `INSERT INTO decision_signals (${NAMES}, status, updated_at)
         SELECT ${values}, 'active', value ->> '$.createdAt' FROM json_each(?) WHERE true
         ON CONFLICT (owner, identity) DO NOTHING`,
      )
      .bind(JSON.stringify(signals)),
    db
      .prepare(
        `UPDATE decision_signals AS s SET status = 'invalidated', updated_at = ?3
         WHERE owner = ?1 AND key IN (SELECT value FROM json_each(?2)) AND status = 'active'
           AND EXISTS (SELECT 1 FROM decision_signals AS n
             WHERE n.owner = s.owner AND n.key = s.key AND n.decision_profile IS s.decision_profile
               AND (n.created_at, n.id) > (s.created_at, s.id)
               AND (s.expires_at IS NULL OR n.created_at < s.expires_at)
               AND ((n.action IN ${PURCHASE} AND s.action IN ${SALE}) OR (n.action IN ${SALE} AND s.action IN ${PURCHASE})))`,
      )
      .bind(owner, keys, signals.at(-1)?.createdAt ?? ''),
  ])
}

/** Marks signals that have expired. */
export async function expireSignals(db: D1Database, owner: string, now: string): Promise<void> {
  const query = `UPDATE decision_signals SET status = 'expired', updated_at = expires_at
    WHERE owner = ?1 AND status = 'active' AND expires_at <= ?2`
  await db.prepare(query).bind(owner, now).run()
}

/** The number of reports that become signals in one call. */
const MOST_AT_ONCE = 100
/** A report may be saved long after it was made. */
const LATE_DAYS = 7

const board = '$.details.raw_result'

const REPORT = `a.id, a.owner, a.query_id AS "queryId", a.key, a.stock_code AS "stockCode", a.stock_name AS "stockName",
  a.report_type AS "reportType", a.report_language AS "reportLanguage", a.action, a.action_label AS "actionLabel",
  a.sentiment_score AS "score", a.current_price AS "price", a.data_notice AS "dataNotice", a.data_checks AS "dataChecks",
  a.created_at AS "createdAt", a.market_phase_summary AS "phase",
  json_extract(a.report, '${board}.dashboard') AS "dashboard",
  json_extract(a.report, '${board}.confidence_level') AS "confidence",
  json_extract(a.report, '${board}.confidence_probability') AS "probability",
  json_extract(a.report, '${board}.evidence.text') AS "evidence",
  json_extract(a.report, '$.details.analysis_context_pack_overview.data_quality') AS "quality"`

/** Reports of the owner without a signal, oldest first. */
export async function reportsWithoutSignal<T>(db: D1Database, owner: string): Promise<T[]> {
  const query = `SELECT ${REPORT} FROM analyses a
    WHERE a.owner = ?1 AND a.report_type <> 'market_review' AND a.action IS NOT NULL AND json_valid(a.report)
      AND a.created_at >= coalesce((SELECT strftime('%Y-%m-%d', max(created_at), '-${LATE_DAYS} days')
        FROM decision_signals WHERE owner = ?1 AND source_type = 'analysis'), '')
      AND NOT EXISTS (SELECT 1 FROM decision_signals AS s WHERE s.source_report_id = a.id AND s.source_type = 'analysis')
    ORDER BY a.created_at, a.id LIMIT ${MOST_AT_ONCE}`
  const { results } = await db.prepare(query).bind(owner).all<T>()
  return results
}

/** The owner's report with that id, in the same form; null when there is none, or it cannot be read. */
export async function reportForSignal<T>(db: D1Database, owner: string, id: number): Promise<T | null> {
  const query = `SELECT ${REPORT} FROM analyses a WHERE a.id = ? AND a.owner = ? AND json_valid(a.report)`
  return db.prepare(query).bind(id, owner).first<T>()
}

export type SignalFilter = {
  owner: string
  market: string | null
  key: string | null
  /** Only these listings; null for all. */
  keys: readonly string[] | null
  action: string | null
  marketPhase: string | null
  /** `unknown`: signals without a profile. */
  decisionProfile: string | null
  sourceType: string | null
  sourceReportId: number | null
  status: string | null
  createdFrom: string | null
  createdTo: string | null
}

/** Builds conditions only for the given values, so that the planner can use an index. */
function matching(filter: SignalFilter): { where: string; bindings: (string | number)[] } {
  const asked: [condition: string, value: string | number | null][] = [
    ['s.owner = ?', filter.owner],
    ['s.market = ?', filter.market],
    ['s.key = ?', filter.key],
    ['s.key IN (SELECT value FROM json_each(?))', filter.keys && JSON.stringify(filter.keys)],
    ['s.action = ?', filter.action],
    ['s.market_phase = ?', filter.marketPhase],
    ["coalesce(s.decision_profile, 'unknown') = ?", filter.decisionProfile],
    ['s.source_type = ?', filter.sourceType],
    ['s.source_report_id = ?', filter.sourceReportId],
    ['s.status = ?', filter.status],
    ['s.created_at >= ?', filter.createdFrom],
    ['s.created_at <= ?', filter.createdTo],
  ]
  const some = asked.flatMap(([condition, value]) => (value === null ? [] : [{ condition, value }]))
  return { where: some.map(({ condition }) => condition).join(' AND '), bindings: some.map(({ value }) => value) }
}

/** The current advice for each of these listings: its newest valid signal. Ordered from the newest. */
export async function currentSignals(db: D1Database, owner: string, keys: readonly string[]): Promise<Signal[]> {
  const query = `SELECT ${ROW} FROM decision_signals s
    WHERE s.owner = ?1 AND s.status = 'active' AND s.key IN (SELECT value FROM json_each(?2))
      AND NOT EXISTS (SELECT 1 FROM decision_signals AS n WHERE n.owner = s.owner AND n.key = s.key AND n.status = 'active'
        AND (n.created_at, n.id) > (s.created_at, s.id))
    ORDER BY s.created_at DESC, s.id DESC`
  const { results } = await db.prepare(query).bind(owner, JSON.stringify(keys)).all<Signal>()
  return results
}

/** One page, newest first, and the total number of matches. */
export async function listSignals(
  db: D1Database,
  filter: SignalFilter,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ total: number; items: Signal[] }> {
  const { where, bindings } = matching(filter)
  const [count, page] = await db.batch([
    db.prepare(`SELECT count(*) AS total FROM decision_signals s WHERE ${where}`).bind(...bindings),
    db
      .prepare(
        `SELECT ${ROW} FROM decision_signals s WHERE ${where} ORDER BY s.created_at DESC, s.id DESC LIMIT ? OFFSET ?`,
      )
      .bind(...bindings, limit, offset),
  ])
  const [{ total } = { total: 0 }] = (count?.results ?? []) as { total: number }[]
  return { total, items: (page?.results ?? []) as Signal[] }
}

export async function findSignal(db: D1Database, owner: string, id: number): Promise<Signal | null> {
  const query = `SELECT ${ROW} FROM decision_signals s WHERE s.id = ? AND s.owner = ?`
  return db.prepare(query).bind(id, owner).first<Signal>()
}

export async function signalByIdentity(db: D1Database, owner: string, identity: string): Promise<Signal | null> {
  const query = `SELECT ${ROW} FROM decision_signals s WHERE s.owner = ? AND s.identity = ?`
  return db.prepare(query).bind(owner, identity).first<Signal>()
}

/** Whether the status could be changed: an ended signal cannot become active again. Without `words` these stay unchanged. */
export async function setSignalStatus(
  db: D1Database,
  { owner, id, status, words, now }: { owner: string; id: number; status: string; words: string | null; now: string },
): Promise<boolean> {
  const query = `UPDATE decision_signals SET status = ?3, words = coalesce(?4, words), updated_at = ?5
    WHERE id = ?1 AND owner = ?2 AND (?3 <> 'active' OR status = 'active')`
  const { meta } = await db.prepare(query).bind(id, owner, status, words, now).run()
  return meta.changes > 0
}

/** The most signals that an owner keeps; the oldest are deleted. */
const MOST_SIGNALS = 5_000

export async function pruneSignals(db: D1Database, owner: string): Promise<void> {
  const surplus = `SELECT id FROM decision_signals WHERE owner = ?1
    ORDER BY created_at DESC, id DESC LIMIT -1 OFFSET ${MOST_SIGNALS}`
  await db.batch([
    db.prepare(`DELETE FROM signal_feedback WHERE owner = ?1 AND signal_id IN (${surplus})`).bind(owner),
    db.prepare(`DELETE FROM decision_signals WHERE id IN (${surplus})`).bind(owner),
  ])
}

/** Statements that delete the signals of deleted reports, given the query that selects the ids of these. */
export function forgetReports(db: D1Database, chosen: string, bindings: readonly unknown[]): D1PreparedStatement[] {
  const signals = `SELECT id FROM decision_signals WHERE source_report_id IN (${chosen})`
  return [
    db.prepare(`DELETE FROM signal_feedback WHERE signal_id IN (${signals})`).bind(...bindings),
    db.prepare(`DELETE FROM decision_signals WHERE source_report_id IN (${chosen})`).bind(...bindings),
  ]
}

export type Feedback = {
  feedbackValue: string
  reasonCode: string | null
  note: string | null
  source: string
  createdAt: string
  updatedAt: string
}

export async function feedbackOf(db: D1Database, owner: string, id: number): Promise<Feedback | null> {
  const query = `SELECT feedback_value AS "feedbackValue", reason_code AS "reasonCode", note, source,
    created_at AS "createdAt", updated_at AS "updatedAt" FROM signal_feedback WHERE owner = ? AND signal_id = ?`
  return db.prepare(query).bind(owner, id).first<Feedback>()
}

type GivenFeedback = Omit<Feedback, 'createdAt' | 'updatedAt'>

export async function saveFeedback(
  db: D1Database,
  { owner, id, now }: { owner: string; id: number; now: string },
  { feedbackValue, reasonCode, note, source }: GivenFeedback,
): Promise<void> {
  await db
    .prepare(
      `INSERT INTO signal_feedback (owner, signal_id, feedback_value, reason_code, note, source, created_at, updated_at)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7)
       ON CONFLICT (owner, signal_id) DO UPDATE SET feedback_value = ?3, reason_code = ?4, note = ?5, source = ?6,
         updated_at = ?7`,
    )
    .bind(owner, id, feedbackValue, reasonCode, note, source, now)
    .run()
}

/** The reports that a backtest uses. */
export type AdviceFilter = {
  owner: string
  key: string | null
  /** Phases of the market; null for all. */
  phases: readonly string[] | null
  madeFrom: string | null
  madeTo: string | null
}

export type AdviceRow = Signal & {
  operationAdvice: string | null
  trendPrediction: string | null
  /** JSON. */
  phaseSummary: string | null
}

/** The newest report of each listing and session, among the owner's reports with advice, newest first. */
export async function advisedReports(
  db: D1Database,
  filter: AdviceFilter,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ total: number; items: AdviceRow[] }> {
  const asked: [condition: string, value: string | null][] = [
    ['s.owner = ?', filter.owner],
    ['s.key = ?', filter.key],
    ['s.made_on >= ?', filter.madeFrom],
    ['s.made_on <= ?', filter.madeTo],
    [
      "coalesce(s.market_phase, 'unknown') IN (SELECT value FROM json_each(?))",
      filter.phases && JSON.stringify(filter.phases),
    ],
  ]
  const some = asked.flatMap(([condition, value]) => (value === null ? [] : [{ condition, value }]))
  const where = `${some.map(({ condition }) => condition).join(' AND ')} AND s.source_type = 'analysis'
    AND NOT EXISTS (SELECT 1 FROM decision_signals AS n WHERE n.owner = s.owner AND n.key = s.key
      AND n.anchor = s.anchor AND n.id > s.id AND n.source_type = 'analysis')`
  const bindings = some.map(({ value }) => value)
  const from = 'FROM decision_signals s JOIN analyses a ON a.id = s.source_report_id AND a.owner = s.owner'
  const [count, page] = await db.batch([
    db.prepare(`SELECT count(*) AS total ${from} WHERE ${where}`).bind(...bindings),
    db
      .prepare(
        `SELECT ${ROW}, a.operation_advice AS "operationAdvice", a.trend_prediction AS "trendPrediction",
           a.market_phase_summary AS "phaseSummary" ${from}
         WHERE ${where} ORDER BY s.created_at DESC, s.id DESC LIMIT ? OFFSET ?`,
      )
      .bind(...bindings, limit, offset),
  ])
  const [{ total } = { total: 0 }] = (count?.results ?? []) as { total: number }[]
  return { total, items: (page?.results ?? []) as AdviceRow[] }
}

type ToFollow = {
  /** Null for all owners. */
  owner: string | null
  since: string
  /** By market, epoch ms: bars that were fetched earlier are too old. */
  before: Readonly<Record<string, number>>
  limit: number
}

/**
 * Listings with advice since a day whose bars are too old, in random order, so that listings without data do not block
 * the others.
 */
export async function listingsToFollow(db: D1Database, { owner, since, before, limit }: ToFollow): Promise<string[]> {
  const query = `SELECT DISTINCT s.key FROM decision_signals s
    LEFT JOIN market_answers m ON m.need = 'daily_data' AND m.key = s.key
    WHERE s.anchor >= ?1 AND s.unscorable IS NULL AND (?4 IS NULL OR s.owner = ?4)
      AND coalesce(m.kept_at, 0) < (?2 ->> ('$.' || s.market))
    ORDER BY random() LIMIT ?3`
  const { results } = await db.prepare(query).bind(since, JSON.stringify(before), limit, owner).all<{ key: string }>()
  return results.map(({ key }) => key)
}

/** The stored bars of a listing, JSON, and when they were fetched. */
export async function keptBarsOf(db: D1Database, key: string): Promise<{ body: string; keptAt: number } | null> {
  const query = `SELECT body, kept_at AS "keptAt" FROM market_answers WHERE need = 'daily_data' AND key = ?`
  return db.prepare(query).bind(key).first<{ body: string; keptAt: number }>()
}
