// What reports advise, whether it still holds, and what somebody thinks of it.

import './portfolio.css'
import { useEffect, useState } from 'preact/hooks'
import { SubNav } from '../analysis/sub-nav.tsx'
import { messageOf, request, sendJson } from '../api.ts'
import { Choice, Pager } from '../controls.tsx'
import { price } from '../format.ts'
import { Link, usePageTitle } from '../router.tsx'
import { say, type Text } from '../texts.ts'
import { Ago, Notice } from '../ui.tsx'
import { ACTIONS, listSignals, nameOf, type Page, type Signal } from './portfolio-api.ts'

const PER_PAGE = 20
const STATUSES: readonly (readonly [status: string, name: Text])[] = [
  ['active', 'Still hold'],
  ['expired', 'Expired'],
  ['invalidated', 'Contradicted'],
  ['closed', 'Closed'],
  ['archived', 'Archived'],
]
type Stats = { completed: number; hit: number; miss: number; hit_rate_pct: number | null }

export function SignalsPage() {
  usePageTitle(say('Signals'))
  const [status, setStatus] = useState('active')
  const [action, setAction] = useState('')
  const [isHeld, setIsHeld] = useState(false)
  const [page, setPage] = useState(1)
  const [round, setRound] = useState(0)
  const [found, setFound] = useState<Page<Signal> | null>(null)
  const [stats, setStats] = useState<Stats | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  useEffect(() => {
    let isCurrent = true
    const fail = (error: unknown) => isCurrent && setProblem(messageOf(error))
    const chosen = { ...(status && { status }), ...(action && { action }), ...(isHeld && { holding_only: 'true' }) }
    listSignals({ ...chosen, page: String(page), page_size: String(PER_PAGE) }).then((list) => {
      if (!isCurrent) return
      setFound(list)
      setProblem(null)
    }, fail)
    request<Stats>('/api/v1/decision-signals/outcomes/stats').then((told) => isCurrent && setStats(told), fail)
    return () => {
      isCurrent = false
    }
  }, [status, action, isHeld, page, round])
  const choose = (set: () => void) => {
    set()
    setPage(1)
  }
  const pages = Math.max(1, Math.ceil((found?.total ?? 0) / PER_PAGE))
  return (
    <main class="page">
      <h1>{say('Signals')}</h1>
      <SubNav current="signals" />
      <div class="filters">
        <Choice
          label={say('State')}
          value={status}
          options={named(STATUSES)}
          onValue={(value) => choose(() => setStatus(value))}
        />
        <Choice
          label={say('Advice')}
          value={action}
          options={named(ACTIONS)}
          onValue={(value) => choose(() => setAction(value))}
        />
        <label class="tick">
          <input
            type="checkbox"
            checked={isHeld}
            onChange={(event) => choose(() => setIsHeld(event.currentTarget.checked))}
          />{' '}
          {say('Only what I hold')}
        </label>
      </div>
      {problem !== null && <Notice kind="error">{problem}</Notice>}
      {found === null && problem === null && <p class="opening">{say('Opening…')}</p>}
      {stats !== null && <p class="hint">{measured(stats)}</p>}
      {found?.items.length === 0 && (
        <p class="empty">{say('No signals here. Each report that advises something makes one.')}</p>
      )}
      {found?.items.map((signal) => (
        <SignalCard key={signal.id} signal={signal} onChanged={() => setRound((before) => before + 1)} />
      ))}
      <Pager page={page} pages={pages} onPage={setPage} />
    </main>
  )
}

const measured = ({ completed, hit, miss, hit_rate_pct: rate }: Stats): string =>
  rate === null
    ? say('{completed} outcomes are measured so far: too few for a rate.', { completed })
    : say('{hit} right, {miss} wrong: {rate} % of those that were either.', { hit, miss, rate: rate.toFixed(0) })

/** With the choice that chooses nothing. */
const named = (options: readonly (readonly [string, Text])[]): [string, string][] => [
  ['', say('All')],
  ...options.map(([code, name]): [string, string] => [code, say(name)]),
]

function SignalCard({ signal, onChanged }: { signal: Signal; onChanged: () => void }) {
  const [problem, setProblem] = useState<string | null>(null)
  const [said, setSaid] = useState<string | null>(null)
  const path = `/api/v1/decision-signals/${signal.id}`
  const send = async (doing: () => Promise<unknown>, done: () => void) => {
    try {
      await doing()
      setProblem(null)
      done()
    } catch (error) {
      setProblem(messageOf(error))
    }
  }
  const rate = (value: 'useful' | 'not_useful') =>
    send(
      () => request(`${path}/feedback`, sendJson('PUT', { feedback_value: value, source: 'web' })),
      () => setSaid(value),
    )
  const close = () => send(() => request(`${path}/status`, sendJson('PATCH', { status: 'closed' })), onChanged)
  const name = signal.stock_name ?? signal.stock_code
  const report = signal.metadata?.query_id
  return (
    <section class="card signal" aria-label={`${name} ${nameOf(ACTIONS, signal.action)}`}>
      <h2>
        {name} <span class="code">{signal.stock_code}</span> <span class="badge">{nameOf(ACTIONS, signal.action)}</span>
      </h2>
      <p class="hint">
        {nameOf(STATUSES, signal.status)} · <Ago time={signal.created_at} />
        {signal.score !== null && ` · ${say('Score {score}', { score: signal.score })}`}
      </p>
      <Levels signal={signal} />
      {[signal.reason, signal.watch_conditions, signal.risk_summary, signal.invalidation].map(
        (text) => text !== null && text !== '' && <p key={text}>{text}</p>,
      )}
      <div class="form-actions">
        {report !== undefined && (
          <Link class="button" to={`/analysis/${encodeURIComponent(report)}`}>
            {say('Open the report')}
          </Link>
        )}
        <button type="button" aria-pressed={said === 'useful'} onClick={() => void rate('useful')}>
          {say('Useful')}
        </button>
        <button type="button" aria-pressed={said === 'not_useful'} onClick={() => void rate('not_useful')}>
          {say('Not useful')}
        </button>
        {signal.status === 'active' && (
          <button type="button" onClick={() => void close()}>
            {say('Close it')}
          </button>
        )}
      </div>
      {problem !== null && <Notice kind="error">{problem}</Notice>}
    </section>
  )
}

function Levels({ signal }: { signal: Signal }) {
  const entry = [signal.entry_low, signal.entry_high].flatMap((value) => (value === null ? [] : [price(value)]))
  const levels = [
    [say('Entry'), entry.join(' – ')],
    [say('Stop loss'), signal.stop_loss === null ? '' : price(signal.stop_loss)],
    [say('Target'), signal.target_price === null ? '' : price(signal.target_price)],
  ].filter(([, value]) => value !== '')
  if (levels.length === 0) return null
  return (
    <dl class="risk-figures">
      {levels.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
