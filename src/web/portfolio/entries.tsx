// The booked entries, the newest first. A wrong entry is cancelled and booked again.

import { messageOf, request } from '../api.ts'
import { Choice, PagesOf } from '../controls.tsx'
import { pageIn, price } from '../format.ts'
import { useChosen } from '../router.tsx'
import { say, type Text } from '../texts.ts'
import { Notice, useAnswer } from '../ui.tsx'
import { BASE, type Page } from './portfolio-api.ts'

type Entry = { id: number; currency: string } & Partial<{
  symbol: string
  trade_date: string
  event_date: string
  effective_date: string
  side: 'buy' | 'sell'
  direction: 'in' | 'out'
  action_type: string
  quantity: number
  price: number
  amount: number
  tax: number | null
  cash_dividend_per_share: number | null
  split_ratio: number | null
}>

const KINDS: readonly (readonly [path: string, name: Text])[] = [
  ['trades', 'Trades'],
  ['cash-ledger', 'Payments'],
  ['corporate-actions', 'Dividends and splits'],
]
const PER_PAGE = 20
const FIRST = { booked: 'trades', page: '1' }

type Props = { account: string; round: number; onChanged: () => void }

export function Entries({ account, round, onChanged }: Props) {
  const [{ booked: kind, page: at }, choose] = useChosen(FIRST, { booked: KINDS.map(([path]) => path) })
  const page = pageIn(at)
  const turn = (to: string, way?: 'replace') => choose({ page: to }, way)
  const ask = async () => ({ kind, ...(await listEntries(kind, { page, account })) })
  const answer = useAnswer(ask, [kind, page, account, round])
  const { problem, setProblem } = answer
  // Entries of another kind are not shown below this choice.
  const found = answer.found?.kind === kind ? answer.found : null
  const takeBack = async (id: number) => {
    try {
      await request(`${BASE}/${kind}/${id}`, { method: 'DELETE' })
      setProblem(null)
      onChanged()
    } catch (error) {
      setProblem(messageOf(error))
    }
  }
  return (
    <section class="card entries" aria-labelledby="entries-head">
      <h2 id="entries-head">{say('What was booked')}</h2>
      <Choice
        label={say('Kind')}
        value={kind}
        options={KINDS.map(([path, name]) => [path, say(name)])}
        onValue={(next) => choose({ booked: next, page: '1' })}
      />
      {problem !== null && <Notice kind="error">{problem}</Notice>}
      {found?.total === 0 && <p class="hint">{say('Nothing is booked here.')}</p>}
      <ul class="plain rows-like">
        {found?.items.map((entry) => (
          <EntryRow key={entry.id} entry={entry} onTakeBack={() => void takeBack(entry.id)} />
        ))}
      </ul>
      <PagesOf total={found?.total ?? null} perPage={PER_PAGE} page={page} onPage={turn} />
    </section>
  )
}

type EntryQuery = { page: number; account: string }

const listEntries = (kind: string, { page, account }: EntryQuery): Promise<Page<Entry>> => {
  const chosen = account === '' ? {} : { account_id: account }
  const query = new URLSearchParams({ page: String(page), page_size: String(PER_PAGE), ...chosen })
  return request<Page<Entry>>(`${BASE}/${kind}?${query}`)
}

const EntryRow = ({ entry, onTakeBack }: { entry: Entry; onTakeBack: () => void }) => (
  <li>
    <span class="code">{entry.trade_date ?? entry.event_date ?? entry.effective_date}</span>
    <span class="entry-text">{textOf(entry)}</span>
    <button type="button" class="quiet" onClick={onTakeBack}>
      {say('Take back')}
      <span class="visually-hidden">{` ${textOf(entry)}`}</span>
    </button>
  </li>
)

function textOf(entry: Entry): string {
  const { symbol = '', currency } = entry
  if (entry.side !== undefined) {
    const shares = (entry.quantity ?? 0).toLocaleString('en', { maximumFractionDigits: 8 })
    return `${say(entry.side === 'buy' ? 'Bought' : 'Sold')} ${shares} ${symbol} · ${price(entry.price ?? 0)} ${currency}`
  }
  if (entry.direction !== undefined) {
    return `${say(entry.direction === 'in' ? 'Paid in' : 'Paid out')} ${price(entry.amount ?? 0)} ${currency}`
  }
  if (entry.action_type === 'cash_dividend' && entry.amount != null) {
    const tax = entry.tax ? ` · ${say('Tax')} ${price(entry.tax)}` : ''
    return `${say('Dividend')} ${symbol} · ${price(entry.amount)} ${currency}${tax}`
  }
  if (entry.action_type === 'cash_dividend') {
    return `${say('Dividend')} ${symbol} · ${price(entry.cash_dividend_per_share ?? 0)} ${currency}`
  }
  return `${say('Split')} ${symbol} · ${entry.split_ratio ?? 0} : 1`
}
