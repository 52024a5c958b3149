// Rates between currencies that the owner gives: nothing is ever counted one to one.

import { z } from '@hono/zod-openapi'
import { deleteRate, ownRates, saveRate } from '../../../db/portfolio.ts'
import { AppError, analysisEnvelope } from '../../../http/errors.ts'
import { endpoint } from '../../../http/openapi.ts'
import { router } from '../../../http/router.ts'
import { isoMicros } from '../../../lib/clock.ts'
import { numberOf } from '../../../lib/decimal.ts'
import { localDate } from '../../../market/calendar.ts'
import type { OwnRate } from '../../../portfolio/rates.ts'
import { mustBeCurrency } from './accounts.ts'
import { amountOf, positive } from './entries.ts'
import { invalidEntry, textsOf } from './texts.ts'

const app = router(analysisEnvelope)
const tag = 'Portfolio'
const PATH = '/api/v1/portfolio/fx/rates'
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
    method: 'get',
    path: PATH,
    scope: 'analysis',
    limit: 'reads',
    bodyLimit: 'standard',
    tag,
    summary: 'The rates that you gave, the newest first',
    replies: { 200: { description: 'The rates', schema: RateList } },
  },
  async (c) => c.json({ rates: (await ownRates(c.env.DB, c.var.principal.owner)).map(wire) }),
)

endpoint(
  app,
  {
    method: 'put',
    path: PATH,
    scope: 'analysis',
    limit: 'writes',
    bodyLimit: 'standard',
    tag,
    summary: 'Give a rate of a day, or another one in its place',
    body: {
      schema: z.object({ ...pair, rate: positive().describe('Units of the other currency for one') }),
      required: true,
    },
    replies: {
      200: { description: 'The rate', schema: PortfolioRate },
      400: { description: 'A currency that is none, one against itself, a day to come, or too many rates' },
    },
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
    method: 'delete',
    path: PATH,
    scope: 'analysis',
    limit: 'writes',
    bodyLimit: 'standard',
    tag,
    summary: 'Take a rate back',
    query: z.object(pair),
    replies: {
      200: { description: 'It is gone', schema: z.object({ deleted: z.literal(1) }) },
      404: { description: 'You gave no such rate' },
    },
  },
  async (c, { query }) => {
    const [currency, quote] = [query.currency.toUpperCase(), query.quote.toUpperCase()]
    const isGone = await deleteRate(c.env.DB, c.var.principal.owner, { currency, quote, date: query.date })
    if (!isGone) throw new AppError('not_found', textsOf(c).noRate)
    return c.json({ deleted: 1 as const })
  },
)

export { app as portfolioRates }
