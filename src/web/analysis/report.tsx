import { useMemo, useState } from 'preact/hooks'
import { messageOf, reportMarkdown } from '../api.ts'
import type { Level } from '../charts/series.ts'
import { clockTime, price, signed } from '../format.ts'
import { Link, usePageTitle } from '../router.tsx'
import { languageTag, say, type Text } from '../texts.ts'
import { copyText, Notice } from '../ui.tsx'
import type { Report, Strategy } from '../wire.ts'
import { ChartSection } from './chart-section.tsx'
import { PastReports } from './past-reports.tsx'
import { Details } from './report-details.tsx'
import { BesideMarket, Evidence, Gauge, Horizons, Mark, ModelWords, Performance, Plan } from './report-parts.tsx'
import { RunFlow } from './run-flow.tsx'
import { type Checks, checksOf, type Figures, isObject, RED_RISES, storedParts } from './stored-parts.ts'
import { storedStory } from './stored-story.ts'
import { DataQuality, News, RisksAndNext, ScoreParts, Strategies, WhatChanged, Zones } from './story-parts.tsx'

const PRICE: readonly Figures[] = ['price', 'change']

export function ReportView({ report, taskId }: { report: Report; taskId: string }) {
  const { meta, summary, strategy, details } = report
  usePageTitle(meta.stock_name ?? meta.stock_code)
  const redRises = RED_RISES.has(meta.market_phase_summary?.market ?? '')
  const checks = checksOf(report)
  // The figures failed a check: the report has no score, and a chart would show doubtful data.
  const isWithheld = checks.isBlocked
  const parts = useMemo(() => storedParts(report), [report])
  const story = useMemo(() => storedStory(report), [report])
  return (
    <article class={redRises ? 'report red-rises' : 'report'} lang={meta.report_language}>
      <Heading report={report} checks={checks} taskId={taskId} />
      <Notices meta={meta} isWithheld={isWithheld} />
      <Verdict {...{ summary, checks, story }} horizons={parts.horizons?.brief ?? null} />
      {/* The model's advice if it differs from the report's. */}
      {parts.comment?.contradiction && <Notice kind="info">{parts.comment.contradiction}</Notice>}
      <WhatChanged story={story} />
      {strategy !== null && <LevelList strategy={strategy} />}
      {parts.plan && <Plan part={parts.plan} checks={checks} />}
      {!isWithheld && <Chart {...{ report, story, redRises }} />}
      <Grounds {...{ story, parts, checks }} />
      <News story={story} />
      {parts.comment && <ModelWords part={parts.comment} />}
      <Summary text={summary.analysis_summary} disclosure={details?.empty_news_disclosure} />
      <DataQuality story={story} />
      <PastReports code={meta.stock_code} current={meta.query_id} />
      <RunFlow id={meta.query_id} />
      {details !== null && <Details details={details} checks={checks} />}
      <Origin meta={meta} />
    </article>
  )
}

type Story = ReturnType<typeof storedStory>
type GroundsProps = { story: Story; parts: ReturnType<typeof storedParts>; checks: Checks }

/** The reasons for the advice. */
const Grounds = ({ story, parts, checks }: GroundsProps) => (
  <>
    <ScoreParts story={story} checks={checks} />
    <RisksAndNext story={story} />
    {parts.horizons && <Horizons part={parts.horizons} checks={checks} />}
    <Zones story={story} checks={checks} />
    {parts.performance.length > 0 && <Performance part={parts.performance} checks={checks} />}
    {parts.beside.length > 0 && <BesideMarket part={parts.beside} checks={checks} />}
    {parts.evidence && <Evidence part={parts.evidence} checks={checks} />}
    <Strategies story={story} />
  </>
)

type ChartPartProps = { report: Report; story: Story; redRises: boolean }

function Chart({ report: { meta, strategy }, story, redRises }: ChartPartProps) {
  const levels = useMemo(() => chartLevels(strategy), [strategy])
  return (
    <ChartSection
      code={meta.stock_code}
      levels={levels}
      redRises={redRises}
      language={meta.report_language}
      reportIsSample={Boolean(meta.data_notice)}
      own={story.bars}
      index={story.index}
    />
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

/** How the entry was read, the origin of the figures, and their failed checks. */
function Notices({ meta, isWithheld }: { meta: Report['meta']; isWithheld: boolean }) {
  return (
    <>
      {meta.reading && <Notice kind="info">{meta.reading}</Notice>}
      {meta.data_notice && <Notice kind="warning">{meta.data_notice}</Notice>}
      {meta.data_checks && <Notice kind={isWithheld ? 'error' : 'warning'}>{meta.data_checks}</Notice>}
    </>
  )
}

/** Includes a remark if no news was found. */
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

type VerdictProps = { summary: Report['summary']; checks: Checks; story: Story; horizons: string | null }

function Verdict({ summary, checks, story: { oneSentence: said, confidence }, horizons }: VerdictProps) {
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
          <dt lang={languageTag}>{say('Overall trend')}</dt>
          <dd>
            {summary.trend_prediction} <Mark checks={checks} of={['price', 'averages', 'range']} />
          </dd>
          {horizons !== null && <dd class="by-horizon">{horizons}</dd>}
        </div>
        {confidence !== null && (
          <div>
            <dt lang={languageTag}>{say('Confidence')}</dt>
            <dd>{confidence}</dd>
          </div>
        )}
      </dl>
      {said !== null && <p class="said">{said}</p>}
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
      <Download
        taskId={taskId}
        meta={meta}
        fileName={`${meta.stock_code}-${(barDate ?? meta.created_at).slice(0, 10)}.md`}
      />
    </header>
  )
}

/** The session of the price; the market may have had later sessions. Older reports do not contain it. */
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
            <dd>
              <LevelText text={text} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

/** The price, and below it the remark in brackets about its origin. */
function LevelText({ text }: { text: string }) {
  const { said, basis } = /^(?<said>[^(（]+)[(（](?<basis>.+)[)）]\s*$/.exec(text)?.groups ?? {}
  if (said === undefined) return <strong>{text}</strong>
  return (
    <>
      <strong>{said.trim()}</strong> <span class="basis">{basis}</span>
    </>
  )
}

function Download({ taskId, fileName, meta }: { taskId: string; fileName: string; meta: Report['meta'] }) {
  const [busy, setBusy] = useState(false)
  const [isCopied, setIsCopied] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const take = async (use: (text: string) => void | Promise<void>) => {
    setBusy(true)
    setProblem(null)
    try {
      await use((await reportMarkdown(taskId)).content)
    } catch (error) {
      setProblem(messageOf(error))
    }
    setBusy(false)
  }
  const copy = async (text: string) => {
    await copyText(text)
    setIsCopied(true)
  }
  return (
    <div class="download" lang={languageTag}>
      <Link class="button" to={`/analysis/talks?${askAbout(meta)}`}>
        {say('Ask about this report')}
      </Link>
      <button type="button" disabled={busy} onClick={() => void take((text) => saveAs(fileName, text))}>
        {say('Download Markdown')}
      </button>
      <button type="button" disabled={busy} onClick={() => void take(copy)}>
        {isCopied ? say('Copied') : say('Copy Markdown')}
      </button>
      <a class="button" href={pictureOf(taskId)} download={fileName.replace(/\.md$/, '.png')}>
        {say('Download picture')}
      </a>
      <button type="button" onClick={() => print()}>
        {say('Print')}
      </button>
      {problem !== null && <Notice kind="error">{problem}</Notice>}
    </div>
  )
}

const askAbout = ({ stock_code: stock, stock_name: name, query_id: record }: Report['meta']): URLSearchParams =>
  new URLSearchParams({ stock, ...(name !== null && { name }), record })

/** The chart in the page's theme. */
function pictureOf(taskId: string): string {
  const isDark = matchMedia('(prefers-color-scheme: dark)').matches
  return `/api/v1/history/${encodeURIComponent(taskId)}/share-image?theme=${isDark ? 'dark' : 'light'}`
}

function saveAs(fileName: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/markdown;charset=utf-8' }))
  const link = document.createElement('a')
  link.href = url
  link.download = fileName
  link.click()
  // The browser has read the text by the next turn of the event loop.
  setTimeout(() => URL.revokeObjectURL(url))
}

// A strategy level is a text for users, `1480.00元（MA10附近）`; a line in the chart needs its number.

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

/** The price in the text of a level: the last number before any remark in brackets that is not the length of an average. */
function levelPrice(text: string): number | null {
  const [said = ''] = text.split(/[(（]/)
  const numbers = said.replaceAll(/MA\s*\d+/gi, '').match(/\d[\d,]*(?:\.\d+)?/g)
  const value = Number(numbers?.at(-1)?.replaceAll(',', ''))
  return Number.isFinite(value) && value > 0 ? value : null
}
