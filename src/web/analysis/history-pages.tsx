// The history: all reports, with search and pages; the outcome of advice; the performance of the method.

import { useEffect, useState } from 'preact/hooks'
import { Choice, PagesOf } from '../controls.tsx'
import { pageIn, price, signed } from '../format.ts'
import { Link, navigate, useChosen, usePageTitle } from '../router.tsx'
import { say, type Text } from '../texts.ts'
import { Notice, QueryState, RelativeTime, useAnswer } from '../ui.tsx'
import {
  type Accuracy,
  type EvidencePage,
  type EvidenceRow,
  getAccuracy,
  getEvidence,
  type HistoryItem,
  type Horizon,
  listHistory,
} from './record-api.ts'
import { SubNav } from './sub-nav.tsx'

const PER_PAGE = 20
const REPORT_TYPES: readonly (readonly [type: string, name: Text])[] = [
  ['', 'All'],
  ['market_review', 'Market review'],
]

export function HistoryPageView() {
  usePageTitle(say('History'))
  const [chosen, choose] = useChosen({ code: '', type: '', page: '1' }, { type: REPORT_TYPES.map(([type]) => type) })
  const { code, type } = chosen
  const page = pageIn(chosen.page)
  const { found, problem, again } = useAnswer(
    () => listHistory({ stock_code: code.trim(), report_type: type, page, limit: PER_PAGE }),
    [code, type, page],
  )
  return (
    <main class="page">
      <h1>{say('History')}</h1>
      <SubNav current="history" />
      <div class="filters">
        <CodeField first={code} onCode={(text) => choose({ code: text, page: '1' })} />
        <Choice
          label={say('Report')}
          value={type}
          options={REPORT_TYPES.map(([value, name]) => [value, say(name)])}
          onValue={(value) => choose({ type: value, page: '1' })}
        />
      </div>
      <QueryState {...{ found, problem }} onAgain={again} />
      {found?.total === 0 && <p class="empty">{say('No reports here yet.')}</p>}
      <ul class="rows">
        {found?.items.map((item) => (
          <Row key={item.id} item={item} />
        ))}
      </ul>
      <PagesOf
        total={found?.total ?? null}
        perPage={PER_PAGE}
        page={page}
        onPage={(to, way) => choose({ page: to }, way)}
      />
    </main>
  )
}

/**
 * Submits when it loses the focus. Its text is its own state: a list that arrives while the user types must not
 * overwrite it.
 */
function CodeField({ first, onCode }: { first: string; onCode: (code: string) => void }) {
  const [typed, setTyped] = useState(first)
  // Back and forward restore the previous search.
  useEffect(() => setTyped(first), [first])
  return (
    <label class="choice">
      <span>{say('Code or name')}</span>
      <input
        type="search"
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
        onChange={(event) => onCode(event.currentTarget.value.trim())}
      />
    </label>
  )
}

const Row = ({ item }: { item: HistoryItem }) => (
  <li>
    <Link to={`/analysis/${encodeURIComponent(item.query_id)}`} class="row">
      <strong class="score-chip">{item.sentiment_score ?? '–'}</strong>
      <span class="row-title">
        {item.stock_name ?? item.stock_code} <span class="code">{item.region?.toUpperCase() ?? item.stock_code}</span>{' '}
        <span class="hint">{item.operation_advice || item.analysis_summary}</span>
      </span>
      {item.current_price !== null && <span class="figure-value">{price(item.current_price)}</span>}
      <span class="row-time">
        <RelativeTime time={item.created_at} />
      </span>
    </Link>
  </li>
)

export function AccuracyPage() {
  usePageTitle(say('Accuracy'))
  const { found: accuracy, problem, again } = useAnswer(() => getAccuracy(''), [])
  return (
    <main class="page">
      <h1>{say('Accuracy')}</h1>
      <SubNav current="accuracy" />
      <QueryState found={accuracy} problem={problem} onAgain={again} />
      {accuracy !== null && <AccuracyView accuracy={accuracy} />}
    </main>
  )
}

function AccuracyView({ accuracy }: { accuracy: Accuracy }) {
  if (accuracy.total === 0) {
    return (
      <div class="card">
        <p>{say('No advice has been given on real prices yet: there is nothing to measure.')}</p>
        <p class="hint">{say('Reports made from samples are not measured.')}</p>
      </div>
    )
  }
  return (
    <>
      {accuracy.is_small_sample && (
        <Notice kind="info">{say('Fewer than 30 advices are measured: the rates say little.')}</Notice>
      )}
      <ul class="stat-cards">
        {accuracy.overall.map((horizon) => (
          <li key={horizon.horizon} class="card tight">
            <span class="hint">{say('after {n} sessions', { n: horizon.horizon })}</span>
            <strong>{percent(horizon.hit_rate)}</strong>
            <span class="hint">{rangeOf(horizon)}</span>
          </li>
        ))}
      </ul>
      {accuracy.by_action.length > 0 && <ActionTable accuracy={accuracy} />}
      <ul class="bullets">
        {accuracy.notes.map((note) => (
          <li key={note} lang="en">
            {note}
          </li>
        ))}
      </ul>
    </>
  )
}

const percent = (share: number | null): string => (share === null ? '–' : `${(share * 100).toFixed(0)} %`)
const change = (value: number | null): string => (value === null ? '–' : `${signed(value)} %`)

const rangeOf = ({ hits, count, hit_rate_low: low, hit_rate_high: high }: Horizon): string =>
  low === null || high === null
    ? say('{hits} of {count} right', { hits, count })
    : `${say('{hits} of {count} right', { hits, count })} · ${percent(low)} – ${percent(high)}`

const ActionTable = ({ accuracy }: { accuracy: Accuracy }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
  <section class="table-scroll" aria-label={say('By advice')} tabIndex={0}>
    <table>
      <thead>
        <tr>
          <th scope="col">{say('Advice')}</th>
          {accuracy.overall.map(({ horizon }) => (
            <th key={horizon} scope="col">
              {say('after {n} sessions', { n: horizon })}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {accuracy.by_action.map(({ action, horizons }) => (
          <tr key={action}>
            <th scope="row">{action}</th>
            {horizons.map((horizon) => (
              <td key={horizon.horizon}>
                {percent(horizon.hit_rate)} ({horizon.count}) {change(horizon.median_return_pct)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </section>
)

export function EvidencePageView() {
  usePageTitle(say('Evidence'))
  const [{ data }, choose] = useChosen({ data: 'market' }, { data: ['market', 'sample'] })
  const answer = useAnswer(async () => ({ data, page: await getEvidence({ ...ALL_EVIDENCE, data }) }), [data])
  const { problem, again } = answer
  // Rows of other prices are not shown below this choice.
  const found = answer.found?.data === data ? answer.found.page : null
  return (
    <main class="page">
      <h1>{say('Evidence')}</h1>
      <SubNav current="evidence" />
      <p>
        {say(
          'What the method was worth when it was replayed over past prices, beside a random entry on the same days.',
        )}
      </p>
      <div class="filters">
        <Choice
          label={say('Prices')}
          value={data}
          options={[
            ['market', say('Of markets')],
            ['sample', say('Packaged samples')],
          ]}
          onValue={(value) => choose({ data: value })}
        />
      </div>
      <QueryState {...{ found, problem }} onAgain={again} />
      {found?.rows.length === 0 && (
        <p class="empty">{say('Nothing has been computed over these prices yet. It happens once a day.')}</p>
      )}
      {found !== null && found.rows.length > 0 && <EvidenceTable found={found} />}
    </main>
  )
}

const ALL_EVIDENCE = { market: 'all', regime: 'all', limit: 100 } as const
const EVIDENCE_COLUMNS: readonly Text[] = ['Held', 'Group', 'Cases', 'Mean return', 'Random entry', 'Excess', 'Verdict']

const EvidenceTable = ({ found }: { found: EvidencePage }) => (
  <>
    <p class="hint">
      {say('{series} listings, {days} days judged, {from} to {to}', {
        series: found.series,
        days: found.days,
        from: found.from ?? '–',
        to: found.to ?? '–',
      })}
    </p>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
    <section class="table-scroll" aria-label={say('Evidence')} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {EVIDENCE_COLUMNS.map((name) => (
              <th key={name} scope="col">
                {say(name)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {found.rows.map((row) => (
            <EvidenceLine key={`${row.measure} ${row.group}`} row={row} />
          ))}
        </tbody>
      </table>
    </section>
  </>
)

const words = (name: string): string => name.replaceAll('_', ' ')

const EvidenceLine = ({ row }: { row: EvidenceRow }) => (
  <tr>
    <th scope="row">{words(row.measure)}</th>
    <td>{words(row.group)}</td>
    <td>{row.effective_size.toFixed(0)}</td>
    <td>{change(row.mean_return_pct)}</td>
    <td>{change(row.random_entry_pct)}</td>
    <td>
      {change(row.excess_pct)}
      {row.excess_low_pct !== null && row.excess_high_pct !== null && (
        <span class="hint">
          {' '}
          ({signed(row.excess_low_pct)} … {signed(row.excess_high_pct)})
        </span>
      )}
    </td>
    <td>{words(row.verdict)}</td>
  </tr>
)

/** Puts the codes of a list into the form. */
export const analyseCodes = (codes: readonly string[]): void =>
  navigate(`/analysis?codes=${encodeURIComponent(codes.join(','))}`)
