// The earlier reports of the stock, and the outcome of its past advice.

import { useEffect, useState } from 'preact/hooks'
import { messageOf } from '../api.ts'
import { price } from '../format.ts'
import { Link } from '../router.tsx'
import { languageTag, say } from '../texts.ts'
import { Notice, RelativeTime } from '../ui.tsx'
import { type Accuracy, getAccuracy, type HistoryItem, type HistoryPage, listHistory } from './record-api.ts'
import { Section } from './report-parts.tsx'

const SHOWN = 12

export function PastReports({ code, current }: { code: string; current: string }) {
  const [page, setPage] = useState<HistoryPage | null>(null)
  const [accuracy, setAccuracy] = useState<Accuracy | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  useEffect(() => {
    const failed = (error: unknown) => setProblem(messageOf(error))
    listHistory({ stock_code: code, limit: SHOWN }).then(setPage, failed)
    getAccuracy(code).then(setAccuracy, failed)
  }, [code])
  if (problem !== null) return <Notice kind="error">{problem}</Notice>
  const items = page?.items ?? []
  if (items.length < 2 && (accuracy?.total ?? 0) === 0) return null
  return (
    <Section name="past" title="Reports of this stock">
      {items.length > 1 && <ScoreLine items={items.toReversed()} />}
      <ul class="rows past-reports" lang={languageTag}>
        {items.map((item) => (
          <PastRow key={item.id} item={item} isCurrent={item.query_id === current} />
        ))}
      </ul>
      {accuracy !== null && <AccuracyLine accuracy={accuracy} />}
    </Section>
  )
}

function PastRow({ item, isCurrent }: { item: HistoryItem; isCurrent: boolean }) {
  return (
    <li>
      <Link to={`/analysis/${encodeURIComponent(item.query_id)}`} class="row" current={isCurrent}>
        <strong class="score-chip">{item.sentiment_score ?? '–'}</strong>
        <span class="row-title">{item.operation_advice}</span>
        {item.current_price !== null && <span class="figure-value">{price(item.current_price)}</span>}
        <span class="row-time">
          <RelativeTime time={item.created_at} />
        </span>
      </Link>
    </li>
  )
}

const WIDTH = 320
const HEIGHT = 56

/** The scores in chronological order. */
function ScoreLine({ items }: { items: HistoryItem[] }) {
  const scores = items.flatMap(({ sentiment_score: score }) => (score === null ? [] : [score]))
  if (scores.length < 2) return null
  const points = scores.map((score, at) => {
    const x = 6 + (at / (scores.length - 1)) * (WIDTH - 12)
    return [x, HEIGHT - 6 - (score / 100) * (HEIGHT - 12)] as const
  })
  const words = say('Scores so far: {scores}', { scores: scores.join(', ') })
  return (
    <svg class="score-line" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={words}>
      <line x1={6} x2={WIDTH - 6} y1={HEIGHT / 2} y2={HEIGHT / 2} />
      <polyline points={points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ')} />
      {points.map(([x, y], at) => (
        <circle key={at} cx={x} cy={y} r={3} />
      ))}
    </svg>
  )
}

const AccuracyLine = ({
  accuracy: { overall, total, unmeasured, is_small_sample: isSmall },
}: {
  accuracy: Accuracy
}) => {
  const measured = overall.filter(({ count, hit_rate }) => count > 0 && hit_rate !== null)
  if (measured.length === 0) {
    return (
      <p class="hint" lang={languageTag}>
        {total === 0
          ? say('No advice on this stock is old enough to be measured.')
          : say('{unmeasured} of {total} reports could not be measured yet.', { unmeasured, total })}
      </p>
    )
  }
  return (
    <p class="hint" lang={languageTag}>
      {measured
        .map(({ horizon, hits, count }) =>
          say('after {horizon} sessions {hits} of {count} right', { horizon, hits, count }),
        )
        .join(' · ')}
      {isSmall ? ` (${say('a small sample')})` : ''}
    </p>
  )
}
