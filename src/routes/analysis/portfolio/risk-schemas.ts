// The answer of `GET /api/v1/portfolio/risk`.

import { z } from '@hono/zod-openapi'
import { SignalItem } from '../page/signal-schemas.ts'

export const MAX_SIGNALS = 20

const pct = (what: string) => z.number().nullable().describe(`${what}, in per cent; null where it is not known`)

export const PortfolioRisk = z
  .object({
    as_of: z.string().describe('The day'),
    account_id: z.int().nullable().describe('The account, where one was asked for'),
    cost_method: z.enum(['fifo', 'avg']).describe('Which shares a sale takes'),
    currency: z.string().describe('Of the sums'),
    thresholds: z.record(z.string(), z.number()).describe('What alerts are measured by'),
    concentration: z
      .object({
        total_market_value: z
          .number()
          .nullable()
          .describe('Null where something has no price or no rate: then no share is told'),
        top_weight_pct: pct('The share of the largest'),
        alert: z.boolean().describe('It is over the limit'),
        top_positions: z
          .array(
            z.object({
              symbol: z.string().describe('The code'),
              market_value_base: z.number().describe('Over all accounts'),
              weight_pct: z.number().describe('Its share'),
              is_alert: z.boolean().describe('Over the limit'),
            }),
          )
          .describe('The largest first'),
        unvalued: z.array(z.string()).describe('The codes that have no price or no rate'),
      })
      .describe('How much is in one stock'),
    sector_concentration: z
      .object({
        total_market_value: z.number().nullable().describe('As above'),
        top_weight_pct: pct('The share of the largest sector'),
        alert: z.boolean().describe('It is over the limit'),
        top_sectors: z
          .array(
            z.object({
              sector: z.string().describe('Its name'),
              market_value_base: z.number().describe('Of its stocks'),
              weight_pct: z.number().describe('Its share of the whole'),
              symbol_count: z.int().describe('How many stocks'),
              is_alert: z.boolean().describe('Over the limit'),
            }),
          )
          .describe('The largest first; industries of mainland stocks'),
        coverage: z
          .object({
            classified_count: z.int().describe('Stocks with a sector'),
            unclassified_count: z.int().describe('Stocks without one'),
            failed_count: z.int().describe('Stocks whose sector could not be asked for'),
          })
          .describe('How much of it is known'),
        errors: z.array(z.string()).describe('What went wrong'),
      })
      .describe('How much is in one sector'),
    drawdown: z
      .object({
        series_points: z.int().describe('How many days it is made of'),
        max_drawdown_pct: pct('The deepest fall from a high, payments left out'),
        current_drawdown_pct: pct('The fall on the last day'),
        alert: z.boolean().describe('The deepest is over the limit'),
        fx_stale: z.boolean().describe('A rate is missing'),
      })
      .describe('Falls of the value over the days looked back'),
    performance: z
      .object({
        from: z.string().nullable().describe('The first day'),
        to: z.string().nullable().describe('The last day'),
        time_weighted_pct: pct('The return without the payments'),
        money_weighted_pct: pct('The yearly rate of the money (XIRR)'),
        benchmark: z
          .object({
            symbol: z.string().describe('The index'),
            name: z.string().describe('In your language'),
            market: z.string().describe('Of the listings that it stands for'),
            publisher: z.string().describe('Who computes it'),
            provider: z.string().nullable().describe('The source of its closes'),
            from: z.string().nullable().describe('The close at the beginning'),
            to: z.string().nullable().describe('The close at the end'),
            return_pct: pct('What it gained over the same days, in its own currency and without dividends'),
            excess_pct: pct('The time-weighted return less that'),
          })
          .describe('An index over the same days'),
      })
      .describe('How it has done'),
    correlation: z
      .object({
        minimum_days: z.int().describe('Fewer daily returns give no figure'),
        from: z.string().describe('The first day looked at'),
        pairs: z
          .array(
            z.object({
              a: z.string().describe('One code'),
              b: z.string().describe('The other'),
              days: z.int().describe('How many daily returns both have'),
              correlation: z
                .number()
                .nullable()
                .describe('From -1 to 1; null below the minimum, and of a price that never moves'),
            }),
          )
          .describe('Each two of the largest positions'),
      })
      .describe('How the closes move together, each in its own currency'),
    stop_loss: z
      .object({
        near_alert: z.boolean().describe('A loss is near the limit or beyond it'),
        triggered_count: z.int().describe('Beyond it'),
        near_count: z.int().describe('Near it or beyond it'),
        items: z
          .array(
            z.object({
              account_id: z.int().describe('The account'),
              symbol: z.string().describe('The code'),
              avg_cost: z.number().describe('Of one share'),
              last_price: z.number().describe('The last close'),
              loss_pct: z.number().describe('Against the cost'),
              near_threshold_pct: z.number().describe('From here on it is near'),
              is_triggered: z.boolean().describe('Beyond the limit'),
            }),
          )
          .describe('The largest first'),
      })
      .describe('Losses against the cost'),
    decision_signal_risk: z
      .object({
        available: z.boolean().describe('Whether advice could be compared with holdings'),
        total: z.int().describe('Stocks whose newest advice that still holds is one of these'),
        actions: z
          .object({
            sell: z.int().describe('To sell'),
            reduce: z.int().describe('To reduce'),
            alert: z.int().describe('To look at'),
          })
          .describe('By what was advised'),
        items: z
          .array(
            z.object({
              account_id: z.int().nullable().describe('The account that holds it; null for several'),
              symbol: z.string().describe('The code'),
              market: z.string().describe('Where it is listed'),
              signal: SignalItem,
            }),
          )
          .describe(`The newest first, ${MAX_SIGNALS} at most`),
      })
      .describe('Advice against what is held'),
  })
  .openapi('PortfolioRisk')
