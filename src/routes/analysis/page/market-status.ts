// The markets that are open now, by their calendars: newer clients of the existing page show it in a bar.

import { z } from '@hono/zod-openapi'
import { MarketPhaseSummary } from '../../../analysis/schemas.ts'
import { analysisEnvelope } from '../../../http/errors.ts'
import { endpoint } from '../../../http/openapi.ts'
import { router } from '../../../http/router.ts'
import { isoMicros } from '../../../lib/clock.ts'
import { isoWithOffset, localDate, marketPhaseSummary, marketZone, nextOpening } from '../../../market/calendar.ts'
import { MARKETS } from './signal-schemas.ts'

const app = router(analysisEnvelope)

const { phase, is_trading_day, is_market_open_now, is_partial_bar, minutes_to_open, minutes_to_close } =
  MarketPhaseSummary.shape

const MarketStatus = z
  .object({
    market: z.enum(MARKETS).describe('The market'),
    phase: phase.describe('The part of its session'),
    market_local_time: z.string().describe('Its own time'),
    session_date: z.string().nullable().describe('Its own day'),
    effective_daily_bar_date: z.string().nullable().describe('The newest session that is over'),
    is_trading_day: is_trading_day.describe('Whether it trades on this day'),
    is_market_open_now: is_market_open_now.describe('Whether it trades at the moment'),
    is_partial_bar: is_partial_bar.describe('Whether the newest bar is of a session that goes on'),
    minutes_to_open: minutes_to_open.describe('Until its next open today; null otherwise'),
    minutes_to_close: minutes_to_close.describe('Until its close; null outside of a session'),
    next_session_open: z.string().describe('When its next session begins, in its own time'),
    warnings: z.array(z.string()).describe('`calendar_unavailable`: the holidays of this year are not known'),
  })
  .openapi('MarketStatus')

endpoint(
  app,
  {
    method: 'get',
    path: '/api/v1/market/status',
    scope: 'analysis',
    limit: 'reads',
    bodyLimit: 'standard',
    tag: 'Stocks',
    summary: 'Which markets trade at the moment, and when the others do next, by their calendars',
    replies: {
      200: {
        description: 'The six markets',
        schema: z
          .object({
            generated_at: z.string().describe('When it was looked up'),
            markets: z.array(MarketStatus).describe('Always in the same order'),
          })
          .openapi('MarketStatuses'),
      },
    },
  },
  (c) => {
    const now = Date.now()
    return c.json({ generated_at: isoMicros(now), markets: MARKETS.map((market) => statusOf(market, now)) })
  },
)

function statusOf(market: (typeof MARKETS)[number], now: number) {
  const { trigger_source: _, analysis_intent: __, ...summary } = marketPhaseSummary({ market, epochMs: now })
  const zone = marketZone(market)
  return {
    ...summary,
    market,
    market_local_time: isoWithOffset(now, zone),
    session_date: localDate(market, now),
    next_session_open: isoWithOffset(nextOpening(market, now), zone),
  }
}

export { app as marketStatus }
