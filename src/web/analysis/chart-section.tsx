import { useMemo, useState } from 'preact/hooks'
import { dailyBars, messageOf } from '../api.ts'
import type { ChartProps } from '../charts/price-chart.tsx'
import { alongside, drawnOf, type Level, type Line, PANES, type Pane, WARM_UP } from '../charts/series.ts'
import { price } from '../format.ts'
import { lazy } from '../lazy.tsx'
import { languageTag, locale, say } from '../texts.ts'
import { Notice, useAnswer } from '../ui.tsx'
import type { DailyBar, History } from '../wire.ts'

const LazyChart = lazy<ChartProps>(async () => (await import('../charts/price-chart.tsx')).PriceChart)

/** Lengths in sessions: a year has about 250. The report's own bars start half a year before its warm-up period. */
const SPANS = [
  [60, '3 months'],
  [120, '6 months'],
  [250, '1 year'],
] as const
/** The most that one answer of the service contains. */
const MOST_BARS = 365
const TABLE_ROWS = 20
const NO_LEVELS: Level[] = []

type Props = {
  code: string
  language: string
  levels: Level[]
  redRises: boolean
  reportIsSample: boolean
  /** The bars stored with the report; older reports have none. */
  own: DailyBar[]
  /** The index of the stock's market, if the report names one. */
  index: { code: string; name: string } | null
}

export function ChartSection({ code, language, levels, redRises, reportIsSample, own, index }: Props) {
  const [sessions, setSessions] = useState(120)
  const [panes, setPanes] = useState<readonly Pane[]>(['volume'])
  const [isLog, setIsLog] = useState(false)
  const isOwn = own.length >= Math.min(sessions + WARM_UP, 180) && sessions <= 120
  const { history, problem, tryAgain } = useHistory(isOwn ? null : code, language)
  const comparison = useComparison(language)
  const bars = isOwn ? own : history?.data
  // Levels must not be drawn over prices from another source.
  const isSample = isOwn || history === null ? reportIsSample : isOfSample(history)
  const isMixed = isSample !== reportIsSample
  const drawn = useMemo(() => (bars === undefined ? null : drawnOf(bars, sessions)), [bars, sessions])
  const beside = useMemo<Line | null>(() => {
    if (drawn === null || comparison.found === null) return null
    return { name: comparison.found.name, values: alongside(drawn.bars, comparison.found.bars) }
  }, [drawn, comparison.found])
  return (
    <section class="chart-section" aria-labelledby="chart-head" lang={languageTag}>
      <div class="chart-head">
        <h2 id="chart-head">{say('Price')}</h2>
        <SpanChoice chosen={sessions} onChoose={setSessions} />
      </div>
      <div class="chart-tools">
        <PaneChoice panes={panes} onChange={setPanes} />
        <Toggle label={say('Log scale')} on={isLog} disabled={beside !== null} onToggle={setIsLog} />
        <Comparison index={index} comparison={comparison} />
      </div>
      {problem !== null && <NoChart problem={problem} onAgain={tryAgain} />}
      {!isOwn && history !== null && <Warnings history={history} isMixed={isMixed} language={language} />}
      {beside !== null && <BesideNotice beside={beside} isMixed={comparison.found?.isSample !== isSample} />}
      {drawn?.bars.length === 0 && <p class="empty">{say('There are no daily prices for this time.')}</p>}
      {drawn === null && problem === null && <div class="plot skeleton" aria-hidden="true" />}
      {drawn !== null && drawn.bars.length > 0 && (
        <Prices {...{ code, drawn, panes, isLog, beside, redRises }} levels={isMixed ? NO_LEVELS : levels} />
      )}
    </section>
  )
}

const isOfSample = ({ data_notice: notice }: History): boolean => (notice ?? null) !== null

function BesideNotice({ beside: { name, values }, isMixed }: { beside: Line; isMixed: boolean }) {
  if (values.every(Number.isNaN)) {
    return <Notice kind="info">{say('{name} has no session in common with these.', { name })}</Notice>
  }
  if (!isMixed) return null
  return (
    <Notice kind="warning">
      {say('Of these prices and those of {name} one side is sample data and the other of a live market.', { name })}
    </Notice>
  )
}

const NoChart = ({ problem, onAgain }: { problem: string; onAgain: () => void }) => (
  <Notice kind="error" action={{ label: say('Try again'), run: onAgain }}>
    {say('No price chart: {problem}', { problem })}
  </Notice>
)

const Prices = ({ code, ...chart }: Omit<ChartProps, 'label'> & { code: string }) => (
  <>
    <LazyChart {...chart} label={say('Daily prices of {code}', { code })} />
    <BarTable bars={chart.drawn.bars.slice(-TABLE_ROWS)} />
  </>
)

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

/** The current bars of the service; none without a code. */
function useHistory(code: string | null, language: string) {
  const ask = async () => (code === null ? null : dailyBars(code, MOST_BARS, language))
  const { found, problem, again } = useAnswer(ask, [code, language])
  return { history: found, problem: code === null ? null : problem, tryAgain: again }
}

type ComparedStock = { code: string; name: string; bars: DailyBar[]; isSample: boolean }

type Compared = {
  found: ComparedStock | null
  problem: string | null
  isBusy: boolean
  show: (code: string) => void
  clear: () => void
  /** Removes the error while the user corrects the input. */
  forget: () => void
}

function useComparison(language: string): Compared {
  const [found, setFound] = useState<ComparedStock | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const [isBusy, setIsBusy] = useState(false)
  const show = async (code: string) => {
    setIsBusy(true)
    try {
      const found = await dailyBars(code, MOST_BARS, language)
      setFound({ code, name: found.stock_name ?? code, bars: found.data, isSample: isOfSample(found) })
      setProblem(null)
    } catch (error) {
      setProblem(messageOf(error))
    }
    setIsBusy(false)
  }
  const forget = () => setProblem(null)
  return { found, problem, isBusy, show: (code) => void show(code), clear: () => setFound(null), forget }
}

/** Compares with the market's index or with any stock: both in percent of the first session shown. */
function Comparison({ index, comparison }: { index: Props['index']; comparison: Compared }) {
  const [typed, setTyped] = useState('')
  const { found, problem, isBusy } = comparison
  if (found !== null) {
    return (
      <button type="button" class="chip" aria-pressed="true" onClick={comparison.clear}>
        <span class="swatch beside" aria-hidden="true" /> {found.name} <span aria-hidden="true">×</span>
        <span class="visually-hidden">{say('Remove the comparison')}</span>
      </button>
    )
  }
  return (
    <form
      class="compare"
      onSubmit={(event) => {
        event.preventDefault()
        if (typed.trim() !== '') comparison.show(typed.trim())
      }}
    >
      {index !== null && (
        <button type="button" class="chip" disabled={isBusy} onClick={() => comparison.show(index.code)}>
          {say('Compare with {name}', { name: index.name })}
        </button>
      )}
      <input
        aria-label={say('Compare with another stock')}
        placeholder={say('Another code')}
        value={typed}
        onInput={(event) => {
          setTyped(event.currentTarget.value)
          comparison.forget()
        }}
      />
      {problem !== null && <Notice kind="error">{problem}</Notice>}
    </form>
  )
}

const PANE_NAMES: Record<Pane, string> = { volume: '', macd: 'MACD', rsi: 'RSI', kdj: 'KDJ' }

function PaneChoice({ panes, onChange }: { panes: readonly Pane[]; onChange: (panes: readonly Pane[]) => void }) {
  const toggle = (pane: Pane, on: boolean) => onChange(PANES.filter((one) => (one === pane ? on : panes.includes(one))))
  return (
    <fieldset class="panes">
      <legend class="visually-hidden">{say('Below the prices')}</legend>
      {PANES.map((pane) => (
        <Toggle
          key={pane}
          label={PANE_NAMES[pane] || say('Volume')}
          on={panes.includes(pane)}
          onToggle={(on) => toggle(pane, on)}
        />
      ))}
    </fieldset>
  )
}

type ToggleProps = { label: string; on: boolean; disabled?: boolean; onToggle: (on: boolean) => void }

const Toggle = ({ label, on, disabled = false, onToggle }: ToggleProps) => (
  <label class="chip">
    <input
      type="checkbox"
      checked={on}
      disabled={disabled}
      onChange={(event) => onToggle(event.currentTarget.checked)}
    />
    <span>{label}</span>
  </label>
)

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
