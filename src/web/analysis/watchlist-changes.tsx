// What changed in the watchlists during the last day or week.

import { useEffect, useRef, useState } from 'preact/hooks'
import { messageOf, request } from '../api.ts'
import { price, signed } from '../format.ts'
import { Link, useChosen } from '../router.tsx'
import { say, type Text } from '../texts.ts'
import { Notice } from '../ui.tsx'
import { PATH, type Watchlist } from './watchlists-api.ts'

type FromTo<T> = { from: T; to: T } | null
type Level = 'ideal_buy' | 'secondary_buy' | 'stop_loss' | 'take_profit'
type Changed = {
  stock_code: string
  stock_name: string | null
  groups: string[]
  task_id: string | null
  is_first: boolean
  is_sample: boolean
  advice: FromTo<string | null>
  score: FromTo<number | null>
  price: FromTo<number>
  crossed: { level: Level; price: number; direction: 'up' | 'down' }[]
  failure: string | null
}
type Digest = {
  stocks: number
  changed: number
  unchanged: number
  without_new: number
  changes: Changed[]
  next_page_id: string | null
}

const DAY_MS = 86_400_000
const LEVELS: Record<Level, Text> = {
  ideal_buy: 'Ideal buy',
  secondary_buy: 'Second buy',
  stop_loss: 'Stop loss',
  take_profit: 'Take profit',
}

/** The changes of this many days, page by page. */
function useDigest(days: string) {
  const [digest, setDigest] = useState<Digest | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const newest = useRef(0)
  const read = (page: string | null) => {
    const turn = ++newest.current
    const since = new Date(Date.now() - Number(days) * DAY_MS).toISOString()
    const query = new URLSearchParams({ limit: '20', since, ...(page !== null && { page_id: page }) })
    request<Digest>(`${PATH}/digest?${query}`).then(
      (found) => {
        // The answer is for other days than the current choice.
        if (turn !== newest.current) return
        setProblem(null)
        setDigest((before) =>
          page === null ? found : { ...found, changes: [...(before?.changes ?? []), ...found.changes] },
        )
      },
      (error: unknown) => turn === newest.current && setProblem(messageOf(error)),
    )
  }
  return { digest, problem, read }
}

export function WatchlistChanges({ lists }: { lists: readonly Watchlist[] }) {
  const [{ since: days }, choose] = useChosen({ since: '1' }, { since: ['1', '7'] })
  const { digest, problem, read } = useDigest(days)
  const watched = lists.reduce((sum, { stocks }) => sum + stocks.length, 0)
  useEffect(() => {
    if (watched > 0) read(null)
  }, [days, watched])
  if (watched === 0) return null
  return (
    <section class="card changes" aria-labelledby="changes-head">
      <div class="watchlist-head">
        <h2 id="changes-head">{say('What changed')}</h2>
        <select
          aria-label={say('Since')}
          value={days}
          onChange={(event) => choose({ since: event.currentTarget.value })}
        >
          <option value="1">{say('since yesterday')}</option>
          <option value="7">{say('since a week ago')}</option>
        </select>
      </div>
      {problem !== null && (
        <Notice kind="error" action={{ label: say('Try again'), run: () => read(null) }}>
          {problem}
        </Notice>
      )}
      {digest !== null && <Changes digest={digest} />}
      {digest?.next_page_id != null && (
        <button type="button" onClick={() => read(digest.next_page_id)}>
          {say('More')}
        </button>
      )}
    </section>
  )
}

function Changes({ digest: { changes, stocks, changed, unchanged, without_new: quiet } }: { digest: Digest }) {
  return (
    <>
      <p class="hint">
        {say(
          '{changed} of {stocks} changed; {unchanged} with a new report that says the same, {quiet} without a new one.',
          {
            ...{ changed, stocks, unchanged, quiet },
          },
        )}
      </p>
      {changes.length > 0 && (
        <ul class="watched">
          {changes.map((one) => (
            <li key={one.stock_code}>
              <span class="watched-name">
                {one.task_id === null ? (
                  (one.stock_name ?? one.stock_code)
                ) : (
                  <Link to={`/analysis/${encodeURIComponent(one.task_id)}`}>{one.stock_name ?? one.stock_code}</Link>
                )}{' '}
                <span class="code">{one.stock_code}</span>
              </span>
              <span class="what">
                {wordsOf(one).map((words) => (
                  <span key={words}>{words}</span>
                ))}
              </span>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

function wordsOf({ is_first, is_sample, advice, score, price: prices, crossed, failure }: Changed): string[] {
  const pair = (one: { from: string | number | null; to: string | number | null }) =>
    is_first ? String(one.to ?? '–') : `${one.from ?? '–'} → ${one.to ?? '–'}`
  return [
    ...(is_first ? [say('first report')] : []),
    ...(advice === null ? [] : [pair(advice)]),
    ...(score === null ? [] : [`${say('score')} ${pair(score)}`]),
    ...(prices === null ? [] : [`${price(prices.from)} → ${price(prices.to)} (${signed(change(prices))} %)`]),
    ...crossed.map(({ level, price: at, direction }) =>
      say(direction === 'up' ? 'rose to {level}' : 'fell to {level}', { level: `${say(LEVELS[level])} ${price(at)}` }),
    ),
    ...(failure === null ? [] : [say('failed: {reason}', { reason: failure })]),
    ...(is_sample ? [say('sample data')] : []),
  ]
}

const change = ({ from, to }: { from: number; to: number }): number => (from === 0 ? 0 : (to / from - 1) * 100)
