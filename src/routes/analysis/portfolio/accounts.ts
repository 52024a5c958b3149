// The accounts of a portfolio.

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { type Account, listAccounts } from '../../../db/portfolio.ts'
import type { AppEnv } from '../../../http/app-env.ts'
import { analysisEnvelope } from '../../../http/errors.ts'
import { endpoint } from '../../../http/openapi.ts'
import { router } from '../../../http/router.ts'
import { isoMicros } from '../../../lib/clock.ts'
import { laxBool } from '../../../lib/lax.ts'
import { addAccount, changeAccount } from '../../../portfolio/book.ts'
import { currencyCode } from '../../../portfolio/currencies.ts'
import { BASE, gone, missing, reads, refused, writes } from './shapes.ts'
import { booked, invalidEntry } from './texts.ts'

const app = router(analysisEnvelope)
const PATH = `${BASE}/accounts`
const params = z.object({ account_id: z.string().describe('Of an account of yours') })

export const MARKETS = ['cn', 'hk', 'us', 'jp', 'kr', 'tw'] as const

const given = {
  name: z.string().trim().min(1).max(64).describe('As you call it'),
  broker: z.string().trim().max(64).nullish().describe('Where it is kept'),
  market: z.enum(MARKETS).describe('The market that it is mainly for'),
  base_currency: z.string().trim().min(1).max(8).describe('The currency of its totals'),
}

const PortfolioAccount = z
  .object({
    id: z.int().describe('Of the account'),
    name: z.string().describe('As you call it'),
    broker: z.string().nullable().describe('Where it is kept'),
    market: z.string().describe('The market that it is mainly for'),
    base_currency: z.string().describe('The currency of its totals'),
    is_active: z.boolean().describe('False: hidden, and nothing can be booked in it'),
    created_at: z.string().describe('When it was made'),
    updated_at: z.string().describe('When it was changed last'),
  })
  .openapi('PortfolioAccount')

const AccountList = z.object({ accounts: z.array(PortfolioAccount).describe('In the order of their making') })

const wire = (account: Account): z.infer<typeof PortfolioAccount> => ({
  id: account.id,
  name: account.name,
  broker: account.broker,
  market: account.market,
  base_currency: account.baseCurrency,
  is_active: account.isActive,
  created_at: account.createdAt,
  updated_at: account.updatedAt,
})

const ownerOf = (c: Context<AppEnv>): string => c.var.principal.owner

endpoint(
  app,
  {
    ...reads,
    path: PATH,
    summary: 'Your accounts, in the order of their making',
    query: z.object({ include_inactive: laxBool().describe('Hidden ones too').default(false) }),
    replies: { 200: { description: 'The accounts', schema: AccountList } },
  },
  async (c, { query }) => {
    const accounts = await listAccounts(c.env.DB, ownerOf(c))
    return c.json({ accounts: accounts.filter(({ isActive }) => isActive || query.include_inactive).map(wire) })
  },
)

endpoint(
  app,
  {
    ...writes,
    method: 'post',
    path: PATH,
    summary: 'Add an account',
    body: {
      schema: z.object({
        ...given,
        market: given.market.default('cn'),
        base_currency: given.base_currency.default('CNY'),
        owner_id: z.string().max(128).nullish().describe('Not read'),
      }),
      required: true,
    },
    replies: { 200: { description: 'The account', schema: PortfolioAccount }, ...refused },
  },
  async (c, { body }) => {
    const { name, broker = null, market } = body
    const account = { name, broker, market, baseCurrency: mustBeCurrency(c, body.base_currency) }
    const at = isoMicros(Date.now())
    return c.json(wire(await booked(c, () => addAccount(c.env.DB, ownerOf(c), { account, at }))))
  },
)

endpoint(
  app,
  {
    ...writes,
    method: 'put',
    path: `${PATH}/{account_id}`,
    summary: 'Change an account, or show a hidden one again',
    params,
    body: {
      schema: z.object({
        name: given.name.optional(),
        broker: given.broker,
        market: given.market.optional(),
        base_currency: given.base_currency.optional(),
        is_active: laxBool().optional().describe('False hides it'),
      }),
      required: true,
    },
    replies: { 200: { description: 'The account', schema: PortfolioAccount }, ...missing, ...refused },
  },
  async (c, { params: { account_id }, body }) => {
    const id = idOf(account_id)
    const { name, broker, market, base_currency: currency, is_active: isActive } = body
    const change = {
      ...(name === undefined ? {} : { name }),
      ...(broker === undefined || broker === null ? {} : { broker }),
      ...(market === undefined ? {} : { market }),
      ...(currency === undefined ? {} : { baseCurrency: mustBeCurrency(c, currency) }),
      ...(isActive === undefined ? {} : { isActive }),
    }
    const at = isoMicros(Date.now())
    return c.json(wire(await booked(c, () => changeAccount(c.env.DB, ownerOf(c), { id, change, at }))))
  },
)

endpoint(
  app,
  {
    ...writes,
    method: 'delete',
    path: `${PATH}/{account_id}`,
    summary: 'Hide an account; what was booked in it is kept',
    params,
    replies: { ...gone, ...missing },
  },
  async (c, { params: { account_id } }) => {
    const id = idOf(account_id)
    const at = isoMicros(Date.now())
    await booked(c, () => changeAccount(c.env.DB, ownerOf(c), { id, change: { isActive: false }, at }))
    return c.json({ deleted: 1 as const })
  },
)

/** Text that is not a number is no id. */
export const idOf = (text: string): number => (/^[1-9]\d{0,14}$/.test(text) ? Number(text) : 0)

export function mustBeCurrency(c: Context<AppEnv>, text: string): string {
  const code = currencyCode(text)
  if (code === null) throw invalidEntry(c, (texts) => texts.currency(JSON.stringify(text)))
  return code
}

export { app as portfolioAccounts }
