import { useEffect, useState } from 'preact/hooks'
import { dailyBars, messageOf } from '../api.ts'
import type { Level } from '../charts/layout.ts'
import { PriceChart } from '../charts/price-chart.tsx'
import { price } from '../format.ts'
import { languageTag, locale, say } from '../texts.ts'
import { Notice } from '../ui.tsx'
import type { DailyBar, History } from '../wire.ts'

/** Lengths in sessions: a year has about 250. */
const SPANS = [
  [63, '3 months'],
  [126, '6 months'],
  [250, '1 year'],
] as const
const TABLE_ROWS = 20
const NO_LEVELS: Level[] = []

type Props = { code: string; language: string; levels: Level[]; redRises: boolean; reportIsSample: boolean }

export function ChartSection({ code, language, levels, redRises, reportIsSample }: Props) {
  const [sessions, setSessions] = useState(126)
  const { history, problem, tryAgain } = useHistory(code, sessions, language)
  // Levels of one source over prices of another would be a picture of nothing.
  const isMixed = history !== null && ((history.data_notice ?? null) !== null) !== reportIsSample
  const bars = history?.data ?? []
  return (
    <section class="chart-section" aria-labelledby="chart-head" lang={languageTag}>
      <div class="chart-head">
        <h2 id="chart-head">{say('Price')}</h2>
        <SpanChoice chosen={sessions} onChoose={setSessions} />
      </div>
      {problem !== null && (
        <Notice kind="error" action={{ label: say('Try again'), run: tryAgain }}>
          {say('No price chart: {problem}', { problem })}
        </Notice>
      )}
      {history !== null && <Warnings history={history} isMixed={isMixed} language={language} />}
      {history !== null && bars.length === 0 && <p class="empty">{say('There are no daily prices for this time.')}</p>}
      {bars.length > 0 && (
        <>
          <PriceChart
            bars={bars}
            levels={isMixed ? NO_LEVELS : levels}
            label={say('Daily prices of {code}', { code })}
            redRises={redRises}
          />
          <BarTable bars={bars.slice(-TABLE_ROWS)} />
        </>
      )}
    </section>
  )
}

type WarningsProps = { history: History; isMixed: boolean; language: string }

function Warnings({ history, isMixed, language }: WarningsProps) {
  return (
    <>
      {isMixed && (
        <Notice kind="warning">
          {say('These prices come from another source than the report, so its levels are not drawn.')}{' '}
          {history.data_notice ?? say('They are a live market’s.')}
        </Notice>
      )}
      {history.data_checks && (
        <Notice kind="warning">
          <span lang={language}>{history.data_checks}</span>
        </Notice>
      )}
    </>
  )
}

function useHistory(code: string, sessions: number, language: string) {
  const [history, setHistory] = useState<History | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const [tries, setTries] = useState(0)
  useEffect(() => {
    let current = true
    dailyBars(code, sessions, language).then(
      (found) => {
        if (!current) return
        setHistory(found)
        setProblem(null)
      },
      (error: unknown) => current && setProblem(messageOf(error)),
    )
    return () => {
      current = false
    }
  }, [code, sessions, language, tries])
  return { history, problem, tryAgain: () => setTries(tries + 1) }
}

function SpanChoice({ chosen, onChoose }: { chosen: number; onChoose: (sessions: number) => void }) {
  return (
    <fieldset class="spans">
      <legend class="visually-hidden">{say('Time shown')}</legend>
      {SPANS.map(([length, name]) => (
        <label key={length}>
          <input type="radio" name="span" checked={length === chosen} onChange={() => onChoose(length)} />
          <span>{say(name)}</span>
        </label>
      ))}
    </fieldset>
  )
}

const COLUMNS = ['Date', 'Open', 'High', 'Low', 'Close', 'Volume'] as const

function BarTable({ bars }: { bars: DailyBar[] }) {
  return (
    <details class="bar-table">
      <summary>{say('The last {count} sessions as a table', { count: bars.length })}</summary>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              {COLUMNS.map((name) => (
                <th key={name} scope="col">
                  {say(name)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {bars.toReversed().map((bar) => (
              <tr key={bar.date}>
                <th scope="row">{bar.date}</th>
                <td>{price(bar.open)}</td>
                <td>{price(bar.high)}</td>
                <td>{price(bar.low)}</td>
                <td>{price(bar.close)}</td>
                <td>{bar.volume?.toLocaleString(locale) ?? '–'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  )
}
