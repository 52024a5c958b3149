// Exchange rates from the owner and from a public source: an unknown rate is never treated as 1.

import { z } from '@hono/zod-openapi'
import { config } from '../../../config.ts'
import { deleteRate, ownRates, saveRate } from '../../../db/portfolio.ts'
import { takeTurn } from '../../../db/upkeep.ts'
import { AppError, analysisEnvelope } from '../../../http/errors.ts'
import { endpoint } from '../../../http/openapi.ts'
import { router } from '../../../http/router.ts'
import { isoMicros } from '../../../lib/clock.ts'
import { numberOf } from '../../../lib/decimal.ts'
import { UpstreamError } from '../../../lib/http-client.ts'
import { errorFields, log } from '../../../lib/log.ts'
import { localDate } from '../../../market/calendar.ts'
import { type OwnRate, rateFinder } from '../../../portfolio/rates.ts'
import { newestDue, refreshReference } from '../../../portfolio/reference-rates.ts'
import { mustBeCurrency } from './accounts.ts'
import { amountOf, positive } from './entries.ts'
import { BASE, gone, missing, reads, refused, writes } from './shapes.ts'
import { invalidEntry, textsOf } from './texts.ts'
import { referenceFor, replayedAccounts, VALUED_QUERY } from './valued.ts'

const app = router(analysisEnvelope)
const PATH = `${BASE}/fx/rates`
const MAX_RATES = 5_000

const pair = {
  currency: z.string().max(8).describe('The currency that one unit is of'),
  quote: z.string().max(8).describe('The currency of the rate'),
  date: z.iso.date().describe('The day of the rate; it lasts for seven more'),
}

const PortfolioRate = z
  .object({
    currency: z.string().describe('The currency that one unit is of'),
    quote: z.string().describe('The currency of the rate'),
    date: z.string().describe('The day of the rate'),
    rate: z.number().describe('Units of the other currency for one'),
  })
  .openapi('PortfolioRate')

const RateList = z.object({ rates: z.array(PortfolioRate).describe('The newest first') })

const wire = ({ rate, ...rest }: OwnRate): z.infer<typeof PortfolioRate> => ({ ...rest, rate: numberOf(rate) })

endpoint(
  app,
  {
    ...reads,
    path: PATH,
    summary: 'The rates that you gave, the newest first',
    replies: { 200: { description: 'The rates', schema: RateList } },
  },
  async (c) => c.json({ rates: (await ownRates(c.env.DB, c.var.principal.owner)).map(wire) }),
)

endpoint(
  app,
  {
    ...writes,
    method: 'put',
    path: PATH,
    summary: 'Give a rate of a day, or another one in its place',
    body: {
      schema: z.object({ ...pair, rate: positive().describe('Units of the other currency for one') }),
      required: true,
    },
    replies: { 200: { description: 'The rate', schema: PortfolioRate }, ...refused },
  },
  async (c, { body }) => {
    const [currency, quote] = [mustBeCurrency(c, body.currency), mustBeCurrency(c, body.quote)]
    if (currency === quote) throw invalidEntry(c, (texts) => texts.sameCurrency)
    const latest = localDate('jp', Date.now())
    if (body.date > latest) throw invalidEntry(c, (texts) => texts.future('date', body.date, latest))
    const rate = { currency, quote, date: body.date, rate: amountOf(body.rate) }
    const isSaved = await saveRate(c.env.DB, c.var.principal.owner, {
      rate,
      at: isoMicros(Date.now()),
      most: MAX_RATES,
    })
    if (!isSaved) throw invalidEntry(c, (texts) => texts.rates(MAX_RATES))
    return c.json(wire(rate))
  },
)

endpoint(
  app,
  {
    ...writes,
    method: 'delete',
    path: PATH,
    summary: 'Take a rate back',
    query: z.object(pair),
    replies: { ...gone, ...missing },
  },
  async (c, { query }) => {
    const [currency, quote] = [query.currency.toUpperCase(), query.quote.toUpperCase()]
    const isGone = await deleteRate(c.env.DB, c.var.principal.owner, { currency, quote, date: query.date })
    if (!isGone) throw new AppError('not_found', textsOf(c).noRate)
    return c.json({ deleted: 1 as const })
  },
)

const count = (what: string) => z.int().describe(what)

const PortfolioFxRefresh = z
  .object({
    as_of: z.string().describe('The day'),
    account_count: count('How many accounts were looked at'),
    refresh_enabled: z.boolean().describe('False: the operator has switched the source off'),
    disabled_reason: z.string().nullable().describe('Why, where it is off'),
    pair_count: count('Pairs of currencies that the accounts need'),
    updated_count: count('Those with the newest rate of the day'),
    stale_count: count('Those with an older one'),
    error_count: count('Those with none'),
    missing_rates: z.array(z.string()).describe('Such as `TWD/CNY`'),
    source_error: z
      .string()
      .nullable()
      .describe('What went wrong with the source; null where it answered or did not need to be asked'),
  })
  .openapi('PortfolioFxRefresh')

endpoint(
  app,
  {
    ...writes,
    method: 'post',
    path: `${BASE}/fx/refresh`,
    summary: 'Fetch reference rates that are out and not known yet, and say which of yours they serve',
    query: VALUED_QUERY.pick({ account_id: true, as_of: true }),
    replies: { 200: { description: 'What is known now', schema: PortfolioFxRefresh }, ...missing },
  },
  async (c, { query }) => {
    const { asOf, now, currency, replayed } = await replayedAccounts(c, query)
    const { rates: source } = config(c.env)
    const fault = source === null ? null : await refreshed(c.env, source, now)
    const own = await ownRates(c.env.DB, c.var.principal.owner)
    const rate = rateFinder(own, asOf, await referenceFor(c, asOf, asOf))
    const pairs = pairsOf(replayed, currency).map(([from, to]) => ({ name: `${from}/${to}`, rate: rate(from, to) }))
    const due = newestDue(asOf, now)
    const lacking = pairs.flatMap(({ name, rate: found }) => (found === null ? [name] : []))
    const stale = pairs.filter(({ rate: found }) => found !== null && (found.date ?? '') < due).length
    return c.json({
      as_of: asOf,
      account_count: replayed.length,
      refresh_enabled: source !== null,
      disabled_reason: source === null ? 'disabled_by_operator' : null,
      pair_count: pairs.length,
      updated_count: pairs.length - stale - lacking.length,
      stale_count: stale,
      error_count: lacking.length,
      missing_rates: lacking,
      source_error: fault,
    } satisfies z.infer<typeof PortfolioFxRefresh>)
  },
)

/** After a failure, a source is not asked for this time, whatever the number of requests. */
const PAUSE_MS = 60_000

async function refreshed(env: Env, { url }: { url: string }, now: number): Promise<string | null> {
  if (!(await takeTurn(env.DB, { name: 'fx-refresh', now, everyMs: PAUSE_MS }))) return null
  try {
    await refreshReference(env.DB, { url, timeoutMs: config(env).fetchTimeoutMs }, now)
    return null
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error
    log.warn('portfolio.rates_failed', errorFields(error))
    return error.message
  }
}

type Replayed = Awaited<ReturnType<typeof replayedAccounts>>['replayed']

/** From each currency of an account into the account's own, and from that into the currency of the total. */
function pairsOf(accounts: Replayed, total: string): [string, string][] {
  const pairs = new Map<string, [string, string]>()
  const need = (from: string, to: string) => {
    if (from !== to) pairs.set(`${from}/${to}`, [from, to])
  }
  for (const { account, ledger } of accounts) {
    for (const own of ledger.cash.keys()) need(own, account.baseCurrency)
    for (const { holding } of ledger.positions.values()) need(holding.currency, account.baseCurrency)
    need(account.baseCurrency, total)
  }
  return [...pairs.values()]
}

export { app as portfolioRates }
