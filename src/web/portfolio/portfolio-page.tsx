// The holdings: their value, their performance, their risks, and the advice on each stock.

import './portfolio.css'
import { useState } from 'preact/hooks'
import { SubNav } from '../analysis/sub-nav.tsx'
import { messageOf, request, sendJson } from '../api.ts'
import { Choice } from '../controls.tsx'
import { price, signed } from '../format.ts'
import { Link, navigate, useChosen, usePageTitle } from '../router.tsx'
import { useStockNames } from '../stock-names.ts'
import { say, type Text } from '../texts.ts'
import { Notice, QueryState, useAnswer } from '../ui.tsx'
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

type LoadedPortfolio = { snapshot: Snapshot; advice: Map<string, Signal> }

const of = (account: string) => (account === '' ? {} : { account_id: account })
const queryOf = (account: string, method: string) => new URLSearchParams({ cost_method: method, ...of(account) })

async function ask(account: string, method: string): Promise<LoadedPortfolio> {
  const [snapshot, signals] = await Promise.all([
    request<Snapshot>(`${BASE}/snapshot?${queryOf(account, method)}`),
    listSignals({ holding_only: 'true', status: 'active', page_size: '100', ...of(account) }),
  ])
  // The newest come first.
  const advice = new Map(signals.items.toReversed().map((signal) => [signal.stock_code, signal]))
  return { snapshot, advice }
}

const askAccounts = () => request<{ accounts: Account[] }>(`${BASE}/accounts`)

export function PortfolioPage() {
  usePageTitle(say('Portfolio'))
  const [{ account: named, cost: method }, choose] = useChosen({ account: '', cost: 'fifo' }, { cost: ['fifo', 'avg'] })
  const [told, setTold] = useState<string | null>(null)
  const [round, setRound] = useState(0)
  const book = useAnswer(askAccounts, [round])
  const accounts = book.found?.accounts ?? null
  const account = accounts?.some(({ id }) => String(id) === named) === false ? '' : named
  const asked = [account, method, round]
  const { found, problem, setProblem } = useAnswer(() => ask(account, method), asked)
  const risk = useAnswer(() => request<Risk>(`${BASE}/risk?${queryOf(account, method)}`), asked)
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
      <QueryState found={found} problem={book.problem ?? problem ?? risk.problem} onAgain={changed} />
      {told !== null && <Notice kind="info">{told}</Notice>}
      {accounts !== null && (
        <Choices
          {...{ accounts, account, method }}
          onAccount={(id) => choose({ account: id })}
          onMethod={(cost) => choose({ cost })}
          onRefresh={() => void refresh()}
        />
      )}
      {accounts !== null && found !== null && (
        <Assets {...{ accounts, found, account, round }} risk={risk.found} onChanged={changed} onProblem={setProblem} />
      )}
    </main>
  )
}

type AssetsProps = {
  accounts: Account[]
  found: LoadedPortfolio
  risk: Risk | null
  account: string
  round: number
  onChanged: () => void
  onProblem: (text: string) => void
}

function Assets({ accounts, found, risk, account, round, onChanged, onProblem }: AssetsProps) {
  const { snapshot } = found
  const isAnyHeld = snapshot.accounts.some(({ positions }) => positions.length > 0)
  return (
    <>
      {accounts.length === 0 && <p class="empty">{say('No account yet. Add one below.')}</p>}
      <Worth snapshot={snapshot} />
      <Positions found={found} onProblem={onProblem} />
      {risk !== null && isAnyHeld && <RiskView risk={risk} />}
      {isAnyHeld && <ExpectedDividends account={account} round={round} />}
      <Booking accounts={accounts} chosen={account} onBooked={onChanged} />
      {accounts.length > 0 && (
        <>
          <FileImport accounts={accounts} chosen={account} onBooked={onChanged} />
          <Entries account={account} round={round} onChanged={onChanged} />
        </>
      )}
    </>
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
          <Figure key={name} name={name} text={orDash(value, price)} currency={currency} />
        ))}
      </ul>
    </section>
  )
}

/** `12,345,678.90`; a longer amount uses the space of two cards. */
const LONGEST_IN_CARD = 13

const Figure = ({ name, text, currency }: { name: string; text: string; currency: string }) => (
  <li class={text.length > LONGEST_IN_CARD ? 'card tight long' : 'card tight'}>
    <span class="hint">{name}</span>
    <strong>{text}</strong>
    <span class="hint">{currency}</span>
  </li>
)

function Positions({ found, onProblem }: { found: LoadedPortfolio; onProblem: (text: string) => void }) {
  const { snapshot, advice } = found
  const rows = snapshot.accounts.flatMap(({ account_id: account, account_name: name, positions }) =>
    positions.map((position) => ({ account, name, position })),
  )
  const names = useStockNames(rows.map(({ position }) => position.symbol))
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
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section class="table-scroll" aria-label={say('Positions')} tabIndex={0}>
      <table>
        <PositionHead isOne={isOne} />
        <tbody>
          {rows.map(({ account, name, position }) => (
            <PositionRow
              key={`${account} ${position.symbol} ${position.currency}`}
              {...{ account: isOne ? null : name, position, advice: advice.get(position.symbol) ?? null }}
              name={names.get(position.symbol) ?? ''}
              onAnalyse={() => void analyse(account, position.symbol)}
            />
          ))}
        </tbody>
      </table>
    </section>
  )
}

const PositionHead = ({ isOne }: { isOne: boolean }) => (
  <thead>
    <tr>
      {HEADS.filter((name) => !isOne || name !== 'Account').map((name) => (
        <th key={name} scope="col">
          {say(name)}
        </th>
      ))}
      <th scope="col">
        <span class="visually-hidden">{say('Analyse')}</span>
      </th>
    </tr>
  </thead>
)

const HEADS: readonly Text[] = ['Stock', 'Account', 'Shares', 'Average cost', 'Close', 'Value', 'Profit', 'Advice']

type RowProps = {
  /** Of the stock; empty if unknown. */
  name: string
  account: string | null
  position: Position
  advice: Signal | null
  onAnalyse: () => void
}

function PositionRow({ name, account, position, advice, onAnalyse }: RowProps) {
  const { symbol, currency, quantity, unrealized_pnl_pct: pct } = position
  const report = advice?.metadata?.query_id
  const label = advice === null ? '–' : nameOf(ACTIONS, advice.action)
  return (
    <tr>
      <th scope="row">
        <span class="code">{symbol}</span> {name !== '' && <span class="stock-name">{name}</span>}
      </th>
      {account !== null && <td>{account}</td>}
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
