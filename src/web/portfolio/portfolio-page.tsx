// What somebody holds: its worth, how it has done, what could go wrong, and what is advised of each stock.

import './portfolio.css'
import { useEffect, useState } from 'preact/hooks'
import { SubNav } from '../analysis/sub-nav.tsx'
import { messageOf, request, sendJson } from '../api.ts'
import { Choice } from '../controls.tsx'
import { price, signed } from '../format.ts'
import { Link, navigate, usePageTitle } from '../router.tsx'
import { say } from '../texts.ts'
import { Notice } from '../ui.tsx'
import { Booking } from './booking.tsx'
import { Entries } from './entries.tsx'
import { ExpectedDividends } from './expected.tsx'
import { FileImport } from './file-import.tsx'
import {
  ACTIONS,
  type Account,
  BASE,
  listSignals,
  nameOf,
  orDash,
  type Position,
  type Risk,
  type Signal,
  type Snapshot,
} from './portfolio-api.ts'
import { RiskView } from './risk-view.tsx'

type Found = { accounts: Account[]; snapshot: Snapshot; risk: Risk | null; advice: Map<string, Signal> }

async function ask(account: string, method: string): Promise<Found> {
  const query = new URLSearchParams({ cost_method: method, ...(account === '' ? {} : { account_id: account }) })
  const held = {
    holding_only: 'true',
    status: 'active',
    page_size: '100',
    ...(account === '' ? {} : { account_id: account }),
  }
  const [{ accounts }, snapshot, signals] = await Promise.all([
    request<{ accounts: Account[] }>(`${BASE}/accounts`),
    request<Snapshot>(`${BASE}/snapshot?${query}`),
    listSignals(held),
  ])
  // The newest come first.
  const advice = new Map(signals.items.toReversed().map((signal) => [signal.stock_code, signal]))
  return { accounts, snapshot, risk: null, advice }
}

export function PortfolioPage() {
  usePageTitle(say('Portfolio'))
  const [account, setAccount] = useState('')
  const [method, setMethod] = useState('fifo')
  const [found, setFound] = useState<Found | null>(null)
  const [risk, setRisk] = useState<Risk | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const [told, setTold] = useState<string | null>(null)
  const [round, setRound] = useState(0)
  useEffect(() => {
    let isCurrent = true
    const fail = (error: unknown) => isCurrent && setProblem(messageOf(error))
    ask(account, method).then((answer) => {
      if (!isCurrent) return
      setFound(answer)
      setProblem(null)
    }, fail)
    const query = new URLSearchParams({ cost_method: method, ...(account === '' ? {} : { account_id: account }) })
    request<Risk>(`${BASE}/risk?${query}`).then((answer) => isCurrent && setRisk(answer), fail)
    return () => {
      isCurrent = false
    }
  }, [account, method, round])
  const changed = () => setRound((before) => before + 1)
  const refresh = async () => {
    try {
      setTold(ratesTold(await request<Refreshed>(`${BASE}/fx/refresh`, { method: 'POST' })))
      changed()
    } catch (error) {
      setProblem(messageOf(error))
    }
  }
  return (
    <main class="page">
      <h1>{say('Portfolio')}</h1>
      <SubNav current="portfolio" />
      {problem !== null && <Notice kind="error">{problem}</Notice>}
      {told !== null && <Notice kind="info">{told}</Notice>}
      {found === null && problem === null && <p class="opening">{say('Opening…')}</p>}
      {found !== null && (
        <>
          <Choices
            {...{ accounts: found.accounts, account, method, onAccount: setAccount, onMethod: setMethod }}
            onRefresh={() => void refresh()}
          />
          {found.accounts.length === 0 && <p class="empty">{say('No account yet. Add one below.')}</p>}
          <Worth snapshot={found.snapshot} />
          <Positions found={found} onProblem={setProblem} />
          {risk !== null && found.snapshot.accounts.some(({ positions }) => positions.length > 0) && (
            <RiskView risk={risk} />
          )}
          {found.snapshot.accounts.some(({ positions }) => positions.length > 0) && (
            <ExpectedDividends account={account} round={round} />
          )}
          <Booking accounts={found.accounts} chosen={account} onBooked={changed} />
          {found.accounts.length > 0 && (
            <>
              <FileImport accounts={found.accounts} chosen={account} onBooked={changed} />
              <Entries account={account} round={round} onChanged={changed} />
            </>
          )}
        </>
      )}
    </main>
  )
}

type Refreshed = {
  refresh_enabled: boolean
  pair_count: number
  updated_count: number
  missing_rates: string[]
  source_error: string | null
}

function ratesTold({
  refresh_enabled: isOn,
  pair_count: pairs,
  updated_count: current,
  missing_rates,
  source_error,
}: Refreshed): string {
  if (!isOn) return say('Rates from a source are switched off by the operator.')
  const missing = missing_rates.length > 0 ? ` ${say('No rate: {pairs}.', { pairs: missing_rates.join(', ') })}` : ''
  const fault = source_error === null ? '' : ` ${say('The source failed: {fault}', { fault: source_error })}`
  return `${say('{current} of {pairs} rates are of the newest day.', { current, pairs })}${missing}${fault}`
}

type ChoicesProps = {
  accounts: Account[]
  account: string
  method: string
  onAccount: (id: string) => void
  onMethod: (method: string) => void
  onRefresh: () => void
}

const Choices = ({ accounts, account, method, onAccount, onMethod, onRefresh }: ChoicesProps) => (
  <div class="filters">
    <Choice
      label={say('Account')}
      value={account}
      options={[
        ['', say('All accounts')],
        ...accounts.map(({ id, name, base_currency: currency }) => [String(id), `${name} (${currency})`] as const),
      ]}
      onValue={onAccount}
    />
    <Choice
      label={say('Cost')}
      value={method}
      options={[
        ['fifo', say('First in, first out')],
        ['avg', say('Average')],
      ]}
      onValue={onMethod}
    />
    <button type="button" onClick={onRefresh} disabled={accounts.length === 0}>
      {say('Refresh rates')}
    </button>
  </div>
)

function Worth({ snapshot }: { snapshot: Snapshot }) {
  const { currency, missing_rates: missing, unpriced_symbols: unpriced, limitations } = snapshot
  const figures = [
    [say('Total value'), snapshot.total_equity],
    [say('Stocks'), snapshot.total_market_value],
    [say('Cash'), snapshot.total_cash],
    [say('Unrealised profit'), snapshot.unrealized_pnl],
    [say('Realised profit'), snapshot.realized_pnl],
    [say('Dividends'), snapshot.dividend_income],
  ] as const
  return (
    <section class="worth" aria-label={say('Worth')}>
      {missing.length > 0 && (
        <Notice kind="warning">
          {say('No rate for {pairs}: sums that need it are left open.', { pairs: missing.join(', ') })}
        </Notice>
      )}
      {unpriced.length > 0 && (
        <Notice kind="warning">
          {say('No price for {codes}: they are not in the sums.', { codes: unpriced.join(', ') })}
        </Notice>
      )}
      {limitations.includes('sample_prices') && (
        <Notice kind="info">{say('Prices are of bundled samples, not of the market.')}</Notice>
      )}
      <ul class="stat-cards">
        {figures.map(([name, value]) => (
          <li key={name} class="card tight">
            <span class="hint">{name}</span>
            <strong>{orDash(value, price)}</strong>
            <span class="hint">{currency}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Positions({ found, onProblem }: { found: Found; onProblem: (text: string) => void }) {
  const { snapshot, advice } = found
  const rows = snapshot.accounts.flatMap(({ account_id: account, account_name: name, positions }) =>
    positions.map((position) => ({ account, name, position })),
  )
  if (rows.length === 0) return null
  const isOne = snapshot.accounts.length === 1
  const analyse = async (account: number, symbol: string) => {
    try {
      const path = `${BASE}/positions/${encodeURIComponent(symbol)}/analysis`
      const { task_id: id } = await request<{ task_id: string }>(path, sendJson('POST', { account_id: account }))
      navigate(`/analysis/${id}`)
    } catch (error) {
      onProblem(messageOf(error))
    }
  }
  const head = [
    say('Stock'),
    ...(isOne ? [] : [say('Account')]),
    say('Shares'),
    say('Average cost'),
    say('Close'),
    say('Value'),
    say('Profit'),
  ]
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section class="table-scroll" aria-label={say('Positions')} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {[...head, say('Advice'), ''].map((name) => (
              <th key={name} scope="col">
                {name === '' ? <span class="visually-hidden">{say('Analyse')}</span> : name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ account, name, position }) => (
            <PositionRow
              key={`${account} ${position.symbol} ${position.currency}`}
              {...{ name: isOne ? null : name, position, advice: advice.get(position.symbol) ?? null }}
              onAnalyse={() => void analyse(account, position.symbol)}
            />
          ))}
        </tbody>
      </table>
    </section>
  )
}

type RowProps = { name: string | null; position: Position; advice: Signal | null; onAnalyse: () => void }

function PositionRow({ name, position, advice, onAnalyse }: RowProps) {
  const { symbol, currency, quantity, unrealized_pnl_pct: pct } = position
  const report = advice?.metadata?.query_id
  const label = advice === null ? '–' : nameOf(ACTIONS, advice.action)
  return (
    <tr>
      <th scope="row">
        <span class="code">{symbol}</span>
      </th>
      {name !== null && <td>{name}</td>}
      <td>{quantity.toLocaleString('en', { maximumFractionDigits: 8 })}</td>
      <td>{price(position.avg_cost)}</td>
      <td>
        {position.last_price === null ? say('no price') : price(position.last_price)}
        {position.price_stale && <span class="hint day">{` ${position.price_date}`}</span>}
      </td>
      <td>{orDash(position.market_value, (value) => `${price(value)} ${currency}`)}</td>
      <td>
        {orDash(position.unrealized_pnl, price)} {pct === null ? '' : `(${signed(pct)} %)`}
      </td>
      <td>{report === undefined ? label : <Link to={`/analysis/${encodeURIComponent(report)}`}>{label}</Link>}</td>
      <td>
        <button type="button" class="quiet" onClick={onAnalyse}>
          {say('Analyse')}
          <span class="visually-hidden">{` ${symbol}`}</span>
        </button>
      </td>
    </tr>
  )
}
