// Topics of the day for the existing analysis page: industries by the closes of the last session.

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { industriesOf, membersOf } from '../../../db/screen-query.ts'
import type { AppEnv } from '../../../http/app-env.ts'
import { AppError, analysisEnvelope } from '../../../http/errors.ts'
import { endpoint } from '../../../http/openapi.ts'
import { router } from '../../../http/router.ts'
import { isoMicros } from '../../../lib/clock.ts'
import { laxInt } from '../../../lib/lax.ts'
import { sessionEnd } from '../../../market/calendar.ts'
import { settledSession } from '../../../screening/figures.ts'
import { ageInSessions, oldestSessions } from '../../../screening/screened.ts'
import type { SCREENING_TEXTS } from '../../../screening/texts.ts'
import { common, Free, mustBeShown, off, ROOT, wordsOf } from './screening.ts'

const app = router(analysisEnvelope)

const MOST_TOPICS = 50
const TOPIC_MEMBERS = 30
const MARKET = 'cn'

const topicQuery = {
  provider: z.string().max(32).optional().describe('Not read'),
  refresh: z.string().max(8).optional().describe('Not read: what is shown is what is kept'),
}

/** The newest session with closes and industries, at most five sessions old. */
async function topicsOf(c: Context<AppEnv>, now: number) {
  let newest = { session: settledSession(MARKET, now), rows: [] as Awaited<ReturnType<typeof industriesOf>> }
  for (let age = 0; age <= LONGEST_AGE; age += 1) {
    const session = oldestSessions(age, now)[MARKET]
    const rows = await industriesOf(c.env.DB, { market: MARKET, session })
    newest = { session, rows }
    if (rows.length > 0) break
  }
  return newest
}

const LONGEST_AGE = 5

endpoint(
  app,
  {
    ...common,
    method: 'get',
    path: `${ROOT}/hotspots`,
    limit: 'reads',
    summary: 'Industries by the closes of the last session: how many of their members rose, and by how much',
    query: z.object({
      ...topicQuery,
      top: laxInt({ min: 1, max: MOST_TOPICS }).describe('How many').default(12),
      include_details: z.string().max(8).optional().describe('Not read: details have their own call'),
    }),
    replies: { 200: { description: 'The strongest first', schema: Free.openapi('PageTopics') }, ...off },
  },
  async (c, { query }) => {
    await mustBeShown(c)
    const now = Date.now()
    const { session, rows } = await topicsOf(c, now)
    const { page } = wordsOf(c)
    const hotspots = await Promise.all(
      rows.slice(0, query.top).map(async (row, i) => {
        const leaders = await membersOf(c.env.DB, { market: MARKET, session, industry: row.industry, limit: 2 })
        return { ...topicItem(row, page), rank: i + 1, leaders: leaders.map(({ name }) => name) }
      }),
    )
    const age = rows.length === 0 ? 0 : ageInSessions(MARKET, session, now)
    return c.json({
      ...{ enabled: true, provider: 'bellwether', hotspots, hotspot_count: hotspots.length },
      ...{
        cached_at: rows.length === 0 ? null : isoMicros(sessionEnd(MARKET, session)),
        stale: age > 0,
        stale_age_hours: age * 24,
      },
      ...{ source_errors: [], message: rows.length === 0 ? page.noTopics : page.ofSession(session), details: {} },
    })
  },
)

const hoursSince = (session: string, now: number): number => Math.round((now - sessionEnd(MARKET, session)) / 3_600_000)

type Topic = Awaited<ReturnType<typeof industriesOf>>[number]

function topicItem(row: Topic, words: (typeof SCREENING_TEXTS)['en']['page']) {
  const { industry, members, rising, meanChange, meanReturn } = row
  return {
    ...{ topic: industry, name: industry, canonical_topic: industry },
    change_pct: meanChange === null ? null : Number(meanChange.toFixed(2)),
    // The share of members with a rising price.
    heat_score: Math.round((rising / members) * 100),
    // The mean return of twenty sessions, for members with bars of the same session.
    trend_score: meanReturn === null ? null : Number(meanReturn.toFixed(1)),
    persistence_score: null,
    ...{ stage: '', state: (meanChange ?? 0) >= 0 ? words.rising : words.falling, sample_stock_count: members },
  }
}

endpoint(
  app,
  {
    ...common,
    method: 'get',
    path: `${ROOT}/hotspots/{topic}`,
    limit: 'reads',
    summary: 'The members of an industry by the closes of the last session',
    params: z.object({ topic: z.string().max(100).describe('The industry') }),
    query: z.object(topicQuery),
    replies: {
      200: { description: 'The strongest first', schema: Free.openapi('PageTopic') },
      404: { description: 'No such industry' },
      ...off,
    },
  },
  async (c, { params: { topic } }) => {
    await mustBeShown(c)
    const now = Date.now()
    const { session, rows } = await topicsOf(c, now)
    const { page } = wordsOf(c)
    const row = rows.find(({ industry }) => industry === topic)
    if (row === undefined) throw new AppError('not_found', page.noTopic, { word: 'alphasift_hotspot_detail_failed' })
    const members = await membersOf(c.env.DB, { market: MARKET, session, industry: topic, limit: TOPIC_MEMBERS })
    const age = ageInSessions(MARKET, session, now)
    return c.json({
      ...{ ...topicItem(row, page), summary: page.topic({ members: row.members, rising: row.rising, session }) },
      ...{ route: [], timeline: [], stock_count: row.members, quality_status: 'partial', missing_fields: ['route'] },
      ...{
        source_errors: [],
        fallback_used: false,
        stale: age > 0,
        stale_age_hours: age === 0 ? 0 : hoursSince(session, now),
      },
      stocks: members.map((one, i) => ({
        ...{ code: one.key, name: one.name, change_pct: one.change_pct, hot_stock_score: null },
        ...{
          role: i === 0 ? page.leader : page.member,
          source: one.source,
          source_confidence: null,
          fallback_used: false,
        },
      })),
    })
  },
)

export { app as screeningTopics }
