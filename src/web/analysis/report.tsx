import { useMemo, useState } from 'preact/hooks'
import { messageOf, reportMarkdown } from '../api.ts'
import { Gauge } from '../charts/gauge.tsx'
import { clockTime, price, signed } from '../format.ts'
import { usePageTitle } from '../router.tsx'
import { Notice } from '../ui.tsx'
import type { Report, Strategy } from '../wire.ts'
import { ChartSection } from './chart-section.tsx'
import { Details } from './details.tsx'
import { chartLevels, namedLevels } from './levels.ts'

/** Where red means a price that rose. */
const RED_RISES = new Set(['cn', 'tw', 'jp', 'kr'])

export function ReportView({ report, taskId }: { report: Report; taskId: string }) {
  const { meta, summary, strategy, details } = report
  usePageTitle(meta.stock_name ?? meta.stock_code)
  const redRises = RED_RISES.has(meta.market_phase_summary?.market ?? '')
  const levels = useMemo(() => chartLevels(strategy), [strategy])
  const disclosure = details?.empty_news_disclosure
  return (
    <article class={redRises ? 'report red-rises' : 'report'} lang={meta.report_language}>
      <Heading report={report} taskId={taskId} />
      {meta.data_notice && <Notice kind="warning">{meta.data_notice}</Notice>}
      <Verdict summary={summary} />
      {strategy !== null && <LevelList strategy={strategy} />}
      <section aria-labelledby="summary-head">
        <h2 id="summary-head" lang="en">
          Summary
        </h2>
        <p class="summary-text">{summary.analysis_summary}</p>
        {typeof disclosure === 'string' && <Notice kind="info">{disclosure}</Notice>}
      </section>
      <ChartSection
        code={meta.stock_code}
        levels={levels}
        redRises={redRises}
        reportIsSample={Boolean(meta.data_notice)}
      />
      {details !== null && <Details details={details} />}
      <p class="hint" lang="en">
        Made {clockTime(meta.created_at)}
        {meta.model_used === null ? ' by fixed rules, without a model' : ` with ${meta.model_used}`}. No investment
        advice.
      </p>
    </article>
  )
}

function Verdict({ summary }: { summary: Report['summary'] }) {
  const { operation_advice: advice, action_label: action } = summary
  return (
    <div class="verdict card">
      <Gauge score={summary.sentiment_score} label={summary.sentiment_label} />
      <dl>
        <div>
          <dt lang="en">Advice</dt>
          <dd>
            {advice} {action !== null && action !== advice && <span class="badge">{action}</span>}
          </dd>
        </div>
        <div>
          <dt lang="en">Trend</dt>
          <dd>{summary.trend_prediction}</dd>
        </div>
      </dl>
    </div>
  )
}

function Heading({ report: { meta }, taskId }: { report: Report; taskId: string }) {
  const change = meta.change_pct
  const direction = change === null || change === 0 ? 'flat' : change > 0 ? 'up' : 'down'
  const barDate = meta.market_phase_summary?.effective_daily_bar_date
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
            {barDate && (
              <span class="hint" lang="en">
                session of {barDate}
              </span>
            )}
          </p>
        )}
      </div>
      <Download taskId={taskId} fileName={`${meta.stock_code}-${(barDate ?? meta.created_at).slice(0, 10)}.md`} />
    </header>
  )
}

function LevelList({ strategy }: { strategy: Strategy }) {
  const levels = namedLevels(strategy)
  if (levels.length === 0) return null
  return (
    <section aria-labelledby="levels-head">
      <h2 id="levels-head" lang="en">
        Levels
      </h2>
      <dl class="level-list">
        {levels.map(({ name, text, kind }) => (
          <div key={name} class={`level-card ${kind}`}>
            <dt lang="en">{name}</dt>
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
    <div class="download" lang="en">
      <button type="button" disabled={busy} onClick={() => void download()}>
        Download Markdown
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
