// The advice of reports, whether it is still valid, and the user's assessment.

import './portfolio.css'
import { useState } from 'preact/hooks'
import { SubNav } from '../analysis/sub-nav.tsx'
import { messageOf, request, sendJson } from '../api.ts'
import { Choice, PagesOf } from '../controls.tsx'
import { pageIn, price } from '../format.ts'
import { Link, useChosen, usePageTitle } from '../router.tsx'
import { say, type Text } from '../texts.ts'
import { Notice, QueryState, RelativeTime, useAnswer } from '../ui.tsx'
import { ACTIONS, listSignals, nameOf, type Signal } from './portfolio-api.ts'

const PER_PAGE = 20
const STATUSES: readonly (readonly [status: string, name: Text])[] = [
  ['active', 'Still hold'],
  ['expired', 'Expired'],
  ['invalidated', 'Contradicted'],
  ['closed', 'Closed'],
  ['archived', 'Archived'],
]
/** In the form of the URL. */
type Chosen = { status: string; action: string; held: string; page: string }
const FIRST: Chosen = { status: 'active', action: '', held: '', page: '1' }
const ALL = 'all'
const ALLOWED = {
  status: [ALL, ...STATUSES.map(([status]) => status)],
  action: ['', ...ACTIONS.map(([action]) => action)],
  held: ['', 'yes'],
}
type Stats = { completed: number; hit: number; miss: number; hit_rate_pct: number | null }

export function SignalsPage() {
  usePageTitle(say('Signals'))
  const [chosen, choose] = useChosen(FIRST, ALLOWED)
  const [round, setRound] = useState(0)
  const asked = [...Object.values(chosen), round]
  const signals = useAnswer(() => listSignals(queryOf(chosen)), asked)
  const stats = useAnswer(() => request<Stats>('/api/v1/decision-signals/outcomes/stats'), [round])
  const { found } = signals
  const again = () => setRound((before) => before + 1)
  return (
    <main class="page">
      <h1>{say('Signals')}</h1>
      <SubNav current="signals" />
      <Filters chosen={chosen} onChoose={(part) => choose({ ...part, page: '1' })} />
      <QueryState found={found} problem={signals.problem ?? stats.problem} onAgain={again} />
      {stats.found !== null && <p class="hint">{measured(stats.found)}</p>}
      {found?.total === 0 && (
        <p class="empty">{say('No signals here. Each report that advises something makes one.')}</p>
      )}
      {found?.items.map((signal) => (
        <SignalCard key={signal.id} signal={signal} onChanged={again} />
      ))}
      <PagesOf
        total={found?.total ?? null}
        perPage={PER_PAGE}
        page={pageIn(chosen.page)}
        onPage={(page, way) => choose({ page }, way)}
      />
    </main>
  )
}

const queryOf = ({ status, action, held, page }: Chosen): Record<string, string> => ({
  ...(status !== ALL && { status }),
  ...(action && { action }),
  ...(held && { holding_only: 'true' }),
  page: String(pageIn(page)),
  page_size: String(PER_PAGE),
})

type FiltersProps = { chosen: Chosen; onChoose: (part: Partial<Chosen>) => void }

const Filters = ({ chosen: { status, action, held }, onChoose }: FiltersProps) => (
  <div class="filters">
    <Choice
      label={say('State')}
      value={status}
      options={named(STATUSES, ALL)}
      onValue={(value) => onChoose({ status: value })}
    />
    <Choice
      label={say('Advice')}
      value={action}
      options={named(ACTIONS)}
      onValue={(value) => onChoose({ action: value })}
    />
    <label class="tick">
      <input
        type="checkbox"
        checked={held !== ''}
        onChange={(event) => onChoose({ held: event.currentTarget.checked ? 'yes' : '' })}
      />{' '}
      {say('Only what I hold')}
    </label>
  </div>
)

const measured = ({ completed, hit, miss, hit_rate_pct: rate }: Stats): string =>
  rate === null
    ? say('{completed} outcomes are measured so far: too few for a rate.', { completed })
    : say('{hit} right, {miss} wrong: {rate} % of those that were either.', { hit, miss, rate: rate.toFixed(0) })

/** With an option for no choice. */
const named = (options: readonly (readonly [string, Text])[], all = ''): [string, string][] => [
  [all, say('All')],
  ...options.map(([code, name]): [string, string] => [code, say(name)]),
]

type CardProps = { signal: Signal; onChanged: () => void }

function SignalCard({ signal, onChanged }: CardProps) {
  const name = signal.stock_name ?? signal.stock_code
  return (
    <section class="card signal" aria-label={`${name} ${nameOf(ACTIONS, signal.action)}`}>
      <h2>
        {name} <span class="code">{signal.stock_code}</span> <span class="badge">{nameOf(ACTIONS, signal.action)}</span>
      </h2>
      <p class="hint">
        {nameOf(STATUSES, signal.status)} · <RelativeTime time={signal.created_at} />
        {signal.score !== null && ` · ${say('Score {score}', { score: signal.score })}`}
      </p>
      <Levels signal={signal} />
      {[signal.reason, signal.watch_conditions, signal.risk_summary, signal.invalidation].map(
        (text) => text !== null && text !== '' && <p key={text}>{text}</p>,
      )}
      <Verdict signal={signal} onChanged={onChanged} />
    </section>
  )
}

const RATINGS: readonly (readonly [value: string, name: Text])[] = [
  ['useful', 'Useful'],
  ['not_useful', 'Not useful'],
]

/** The user's assessment of the signal, and a button that ends it. */
function Verdict({ signal, onChanged }: CardProps) {
  const [problem, setProblem] = useState<string | null>(null)
  const [said, setSaid] = useState<string | null>(null)
  const path = `/api/v1/decision-signals/${signal.id}`
  const report = signal.metadata?.query_id
  const send = (way: string, init: RequestInit, done: () => void) => {
    const sent = request(`${path}/${way}`, init).then(() => {
      setProblem(null)
      done()
    })
    sent.catch((error: unknown) => setProblem(messageOf(error)))
  }
  const rate = (value: string) =>
    send('feedback', sendJson('PUT', { feedback_value: value, source: 'web' }), () => setSaid(value))
  return (
    <>
      <div class="form-actions">
        {report !== undefined && (
          <Link class="button" to={`/analysis/${encodeURIComponent(report)}`}>
            {say('Open the report')}
          </Link>
        )}
        {RATINGS.map(([value, name]) => (
          <button key={value} type="button" aria-pressed={said === value} onClick={() => rate(value)}>
            {say(name)}
          </button>
        ))}
        {signal.status === 'active' && (
          <button type="button" onClick={() => send('status', sendJson('PATCH', { status: 'closed' }), onChanged)}>
            {say('Close it')}
          </button>
        )}
      </div>
      {problem !== null && <Notice kind="error">{problem}</Notice>}
    </>
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
