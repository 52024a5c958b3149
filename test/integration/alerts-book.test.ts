// Rules of alerts about what an owner holds, at the rates that the page of the portfolio counts with.

import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { saveReference } from '../../src/db/reference-rates.ts'
import { ECB } from '../../src/portfolio/reference-rates.ts'
import { ALERTS, alertWorld, barsUntil, makeRule } from '../helpers/alerts.ts'
import { client } from '../helpers/app.ts'

test('the weight of a holding in another currency is told by the reference rates, as the page of the portfolio has it', async () => {
  const ann = await client()
  const { bars, state, sweep } = alertWorld()
  const book = { target_scope: 'portfolio_account', target: 'all' }
  const rule = await makeRule(ann, { ...book, alert_type: 'portfolio_concentration' })
  const made = { method: 'POST', body: { name: 'Main' } }
  const { id: account_id } = await ann.json<{ id: number }>('/api/v1/portfolio/accounts', made)
  const buy = async (symbol: string, price: number, currency: string) => {
    const body = { account_id, trade_date: '2026-08-10', side: 'buy', symbol, quantity: 100, price, currency }
    expect((await ann.ask('/api/v1/portfolio/trades', { method: 'POST', body })).status).toBe(200)
  }
  await buy('600519', 20, 'CNY')
  await buy('AAPL', 20, 'USD')
  state.now = Date.parse('2026-08-13T22:00:00Z')
  for (const key of ['600519', 'AAPL'])
    bars.set(
      key,
      barsUntil(
        '2026-08-13',
        Array.from({ length: 40 }, () => 20),
      ),
    )
  await sweep()
  expect((await ann.json<{ items: unknown[] }>(`${ALERTS}/triggers?rule_id=${rule}`)).items).toMatchObject([
    { status: 'degraded' },
  ])
  const days = [{ date: '2026-08-13', rates: { CNY: '8.0', USD: '1.0' } }]
  await saveReference(env.DB, { source: ECB, days, at: state.now })
  state.now += 3_600_000
  await sweep()
  // 2,000 yuan beside 16,000, for the first time: how things are, and no reason to tell.
  const kept = env.DB.prepare('SELECT body FROM alert_states WHERE rule_id = ?').bind(rule)
  const { slots } = JSON.parse((await kept.first<string>('body')) ?? '') as { slots: Record<string, [side: number]> }
  expect([slots.AAPL?.[0], slots['600519']?.[0]]).toEqual([1, -1])
})
