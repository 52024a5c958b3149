import { useMemo, useState } from 'preact/hooks'
import { messageOf, reportMarkdown } from '../api.ts'
import type { Level } from '../charts/layout.ts'
import { clockTime, price, signed } from '../format.ts'
import { usePageTitle } from '../router.tsx'
import { languageTag, say, type Text } from '../texts.ts'
import { Notice } from '../ui.tsx'
import type { Report, Strategy } from '../wire.ts'
import { ChartSection } from './chart-section.tsx'
import { BesideMarket, Evidence, Gauge, Horizons, Mark, ModelWords, Performance, Plan } from './report-parts.tsx'
import { type Checks, checksOf, type Figures, isObject, storedParts } from './stored-parts.ts'

const PRICE: readonly Figures[] = ['price', 'change']
/** Where red means a price that rose. */
const RED_RISES = new Set(['cn', 'tw', 'jp', 'kr'])

export function ReportView({ report, taskId }: { report: Report; taskId: string }) {
  const { meta, summary, strategy, details } = report
  usePageTitle(meta.stock_name ?? meta.stock_code)
  const redRises = RED_RISES.has(meta.market_phase_summary?.market ?? '')
  const levels = useMemo(() => chartLevels(strategy), [strategy])
  const checks = checksOf(report)
  // The figures failed a check: the report has no score, and its chart would show what is doubted.
  const isWithheld = checks.isBlocked
  const parts = useMemo(() => storedParts(report), [report])
  return (
    <article class={redRises ? 'report red-rises' : 'report'} lang={meta.report_language}>
      <Heading report={report} checks={checks} taskId={taskId} />
      <Notices meta={meta} isWithheld={isWithheld} />
      <Verdict summary={summary} checks={checks} />
      {/* What the model would do, where that is not what the report advises. */}
      {parts.comment?.contradiction && <Notice kind="info">{parts.comment.contradiction}</Notice>}
      {strategy !== null && <LevelList strategy={strategy} />}
      {parts.plan && <Plan part={parts.plan} checks={checks} />}
      {parts.horizons && <Horizons part={parts.horizons} checks={checks} />}
      <Summary text={summary.analysis_summary} disclosure={details?.empty_news_disclosure} />
      {!isWithheld && (
        <ChartSection
          code={meta.stock_code}
          levels={levels}
          redRises={redRises}
          language={meta.report_language}
          reportIsSample={Boolean(meta.data_notice)}
        />
      )}
      {parts.performance.length > 0 && <Performance part={parts.performance} checks={checks} />}
      {parts.beside.length > 0 && <BesideMarket part={parts.beside} checks={checks} />}
      {parts.evidence && <Evidence part={parts.evidence} checks={checks} />}
      {parts.comment && <ModelWords part={parts.comment} />}
      {details !== null && <Details details={details} checks={checks} />}
      <Origin meta={meta} />
    </article>
  )
}

const Origin = ({ meta: { created_at, model_used: model } }: { meta: Report['meta'] }) => {
  const time = clockTime(created_at)
  return (
    <p class="hint" lang={languageTag}>
      {model === null
        ? say('Made {time} by fixed rules, without a model. No investment advice.', { time })
        : say('Made {time} by fixed rules, with comments by {model}. No investment advice.', { time, model })}
    </p>
  )
}

/** How the entry was read, what the figures are, and what is doubted of them. */
function Notices({ meta, isWithheld }: { meta: Report['meta']; isWithheld: boolean }) {
  return (
    <>
      {meta.reading && <Notice kind="info">{meta.reading}</Notice>}
      {meta.data_notice && <Notice kind="warning">{meta.data_notice}</Notice>}
      {meta.data_checks && <Notice kind={isWithheld ? 'error' : 'warning'}>{meta.data_checks}</Notice>}
    </>
  )
}

/** With what is said where no news was found. */
function Summary({ text, disclosure }: { text: string; disclosure: unknown }) {
  return (
    <section class="report-part" aria-labelledby="summary-head">
      <h2 id="summary-head" lang={languageTag}>
        {say('Summary')}
      </h2>
      <p class="summary-text">{text}</p>
      {typeof disclosure === 'string' && <Notice kind="info">{disclosure}</Notice>}
    </section>
  )
}

function Verdict({ summary, checks }: { summary: Report['summary']; checks: Checks }) {
  const { operation_advice: advice, action_label: action } = summary
  return (
    <div class="verdict card">
      {checks.isBlocked ? (
        <p class="no-score">{summary.sentiment_label}</p>
      ) : (
        <div class="scored">
          <Gauge score={summary.sentiment_score} label={summary.sentiment_label} />
          <Mark checks={checks} />
        </div>
      )}
      <dl>
        <div>
          <dt lang={languageTag}>{say('Advice')}</dt>
          <dd>
            {advice} {action !== null && action !== advice && <span class="badge">{action}</span>}
            <Mark checks={checks} />
          </dd>
        </div>
        <div>
          <dt lang={languageTag}>{say('Trend')}</dt>
          <dd>
            {summary.trend_prediction} <Mark checks={checks} of={['price', 'averages', 'range']} />
          </dd>
        </div>
      </dl>
    </div>
  )
}

type HeadingProps = { report: Report; checks: Checks; taskId: string }

function Heading({ report, checks, taskId }: HeadingProps) {
  const { meta } = report
  const change = meta.change_pct
  const direction = change === null || change === 0 ? 'flat' : change > 0 ? 'up' : 'down'
  const barDate = priceDay(report)
  return (
    <header class="report-head">
      <div>
        <h1>
          {meta.stock_name ?? meta.stock_code} <span class="code">{meta.stock_code}</span>
        </h1>
        {meta.current_price !== null && (
          <p class="quote">
            <strong>{price(meta.current_price)}</strong>
            {change !== null && (
              <span class={direction}>
                <span aria-hidden="true">{direction === 'up' ? '▲' : direction === 'down' ? '▼' : '='}</span>{' '}
                {signed(change)} %
              </span>
            )}
            <Mark checks={checks} of={PRICE} />
            {barDate && (
              <span class="hint" lang={languageTag}>
                {say('session of {day}', { day: barDate })}
              </span>
            )}
          </p>
        )}
      </div>
      <Download taskId={taskId} fileName={`${meta.stock_code}-${(barDate ?? meta.created_at).slice(0, 10)}.md`} />
    </header>
  )
}

/** The session that the price is of; the market may have had later ones that the figures lack. Older reports do not tell it. */
function priceDay({ meta, details }: Report): string | null {
  const context = details?.context_snapshot
  const day = isObject(context) && isObject(context.enhanced_context) ? context.enhanced_context.date : null
  return typeof day === 'string' ? day : (meta.market_phase_summary?.effective_daily_bar_date ?? null)
}

function LevelList({ strategy }: { strategy: Strategy }) {
  const levels = namedLevels(strategy)
  if (levels.length === 0) return null
  return (
    <section aria-labelledby="levels-head">
      <h2 id="levels-head" lang={languageTag}>
        {say('Levels')}
      </h2>
      <dl class="level-list">
        {levels.map(({ name, text, kind }) => (
          <div key={name} class={`level-card ${kind}`}>
            <dt lang={languageTag}>{name}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

function Download({ taskId, fileName }: { taskId: string; fileName: string }) {
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const download = async () => {
    setBusy(true)
    setProblem(null)
    try {
      saveAs(fileName, (await reportMarkdown(taskId)).content)
    } catch (error) {
      setProblem(messageOf(error))
    }
    setBusy(false)
  }
  return (
    <div class="download" lang={languageTag}>
      <button type="button" disabled={busy} onClick={() => void download()}>
        {say('Download Markdown')}
      </button>
      {problem !== null && <Notice kind="error">{problem}</Notice>}
    </div>
  )
}

function saveAs(fileName: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/markdown;charset=utf-8' }))
  const link = document.createElement('a')
  link.href = url
  link.download = fileName
  link.click()
  // The browser has taken the text by the next turn of its loop.
  setTimeout(() => URL.revokeObjectURL(url))
}

// A strategy level is a text for people, `1480.00元（MA10附近）`; a line in the chart needs the number in it.

type NamedLevel = { name: string; text: string; kind: Level['kind'] }

const NAMES: [keyof Strategy, Text, Level['kind']][] = [
  ['ideal_buy', 'Ideal buy', 'buy'],
  ['secondary_buy', 'Second buy', 'buy'],
  ['stop_loss', 'Stop loss', 'stop'],
  ['take_profit', 'Take profit', 'target'],
]

const namedLevels = (strategy: Strategy): NamedLevel[] =>
  NAMES.flatMap(([key, name, kind]) => {
    const text = strategy[key]
    return text === null || text === '' ? [] : [{ name: say(name), text, kind }]
  })

const chartLevels = (strategy: Strategy | null): Level[] =>
  (strategy === null ? [] : namedLevels(strategy)).flatMap(({ name, text, kind }) => {
    const price = levelPrice(text)
    return price === null ? [] : [{ label: name, price, kind }]
  })

/** The price that a level names: the last number before any remark in brackets that is not the length of an average. */
function levelPrice(text: string): number | null {
  const [said = ''] = text.split(/[(（]/)
  const numbers = said.replaceAll(/MA\s*\d+/gi, '').match(/\d[\d,]*(?:\.\d+)?/g)
  const value = Number(numbers?.at(-1)?.replaceAll(',', ''))
  return Number.isFinite(value) && value > 0 ? value : null
}

// What stands behind a report. Its members differ by market, data source and model, so they are shown by their own names
// rather than by a fixed form that would leave some out.

const MAX_DEPTH = 6
/** Shown elsewhere on the page. */
const SHOWN_ABOVE = new Set(['empty_news_disclosure'])

function Details({ details, checks }: { details: Record<string, unknown>; checks: Checks }) {
  const blocks = Object.entries(details).filter(([key, value]) => !SHOWN_ABOVE.has(key) && !isBlank(value))
  if (blocks.length === 0) return null
  return (
    <section class="details" aria-labelledby="details-head">
      <h2 id="details-head" lang={languageTag}>
        {say('Details')}
      </h2>
      {blocks.map(([key, value]) => (
        <details key={key} class="detail">
          <summary>
            {title(key)} <Mark checks={checks} />
          </summary>
          <div class="detail-body">
            <Value value={value} depth={0} />
          </div>
        </details>
      ))}
    </section>
  )
}

function Value({ value, depth }: { value: unknown; depth: number }) {
  if (Array.isArray(value)) return <Items items={value} depth={depth} />
  if (typeof value === 'object' && value !== null) return <Fields fields={Object.entries(value)} depth={depth} />
  return <span class="value">{String(value)}</span>
}

function Items({ items, depth }: { items: unknown[]; depth: number }) {
  if (depth >= MAX_DEPTH) return <span class="value">{JSON.stringify(items)}</span>
  return (
    <ul class="items">
      {items.map((item, index) => (
        <li key={index}>
          <Value value={item} depth={depth + 1} />
        </li>
      ))}
    </ul>
  )
}

function Fields({ fields, depth }: { fields: [string, unknown][]; depth: number }) {
  if (depth >= MAX_DEPTH) return <span class="value">{JSON.stringify(Object.fromEntries(fields))}</span>
  return (
    <dl class="fields-list">
      {fields
        .filter(([, value]) => !isBlank(value))
        .map(([key, value]) => (
          <div key={key} class={typeof value === 'object' ? 'nested' : 'plain'}>
            <dt>{title(key)}</dt>
            <dd>
              <Value value={value} depth={depth + 1} />
            </dd>
          </div>
        ))}
    </dl>
  )
}

function isBlank(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true
  return typeof value === 'object' && Object.values(value).every(isBlank)
}

function title(key: string): string {
  const spaced = key.replaceAll('_', ' ')
  return spaced.charAt(0).toUpperCase() + spaced.slice(1)
}
