// Every model call, by owner. The owner sees sums and the newest calls.

const CALL_TYPES = ['analysis', 'market_review', 'agent'] as const
export type CallType = (typeof CALL_TYPES)[number]

export type ModelCall = {
  owner: string
  /** Unique for each call: a call that is noted twice is stored once. */
  key: string
  /** Epoch ms. */
  at: number
  type: CallType
  /** `provider/model`. */
  model: string
  stockCode: string | null
  promptTokens: number
  completionTokens: number
  /** True when the vendor did not report the use. */
  isEstimated: boolean
}

export async function saveModelCall(db: D1Database, call: ModelCall): Promise<void> {
  const { owner, key, at, type, model, stockCode, promptTokens, completionTokens, isEstimated } = call
  await db
    .prepare(
      `INSERT INTO model_calls (owner, key, called_at, call_type, model, stock_code, prompt_tokens, completion_tokens, estimated)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (owner, key) DO NOTHING`,
    )
    .bind(owner, key, at, type, model, stockCode, promptTokens, completionTokens, isEstimated ? 1 : 0)
    .run()
}

/** Deletes calls that were made before a time; returns how many. */
export async function deleteOldModelCalls(db: D1Database, before: number): Promise<number> {
  const { meta } = await db.prepare('DELETE FROM model_calls WHERE called_at < ?').bind(before).run()
  return meta.changes
}

type Sums = { calls: number; promptTokens: number; completionTokens: number; totalTokens: number }

export type ModelUsage = {
  /** When the first call was made, epoch ms; null when there is none. */
  first: number | null
  byType: (Sums & { type: string })[]
  byModel: (Sums & { model: string; maxTokens: number })[]
  recent: (Omit<ModelCall, 'owner' | 'key' | 'type' | 'isEstimated'> & { id: number; type: string })[]
}

/** Estimated use of a model is listed separately, with a mark. */
const MODEL = `model || CASE estimated WHEN 1 THEN ' (est.)' ELSE '' END`
const SUMS = `COUNT(*) AS calls, SUM(prompt_tokens) AS "promptTokens", SUM(completion_tokens) AS "completionTokens",
  SUM(prompt_tokens + completion_tokens) AS "totalTokens"`
const SINCE = 'FROM model_calls WHERE owner = ?1 AND called_at >= ?2'
const BY_TOKENS = 'ORDER BY "totalTokens" DESC, calls DESC, 1'

/** The owner's use since a time. */
export async function modelUsage(
  db: D1Database,
  owner: string,
  { since, limit }: { since: number; limit: number },
): Promise<ModelUsage> {
  const [first, byType, byModel, recent] = await db.batch([
    db.prepare(`SELECT MIN(called_at) AS first ${SINCE}`).bind(owner, since),
    db.prepare(`SELECT call_type AS type, ${SUMS} ${SINCE} GROUP BY 1 ${BY_TOKENS}`).bind(owner, since),
    db
      .prepare(
        `SELECT ${MODEL} AS model, ${SUMS}, MAX(prompt_tokens + completion_tokens) AS "maxTokens" ${SINCE}
         GROUP BY 1 ${BY_TOKENS}`,
      )
      .bind(owner, since),
    db
      .prepare(
        `SELECT id, called_at AS at, call_type AS type, ${MODEL} AS model, stock_code AS "stockCode",
           prompt_tokens AS "promptTokens", completion_tokens AS "completionTokens" ${SINCE}
         ORDER BY called_at DESC, id DESC LIMIT ?3`,
      )
      .bind(owner, since, limit),
  ])
  return {
    first: (first?.results[0] as { first: number | null } | undefined)?.first ?? null,
    byType: (byType?.results ?? []) as ModelUsage['byType'],
    byModel: (byModel?.results ?? []) as ModelUsage['byModel'],
    recent: (recent?.results ?? []) as ModelUsage['recent'],
  }
}
