import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createParser } from 'eventsource-parser'
import { ask } from './http.ts'
import { OUTPUT } from './main.ts'
import { demand, say } from './print.ts'

const CODES = ['600519', 'AAPL', 'HK00700']
const BAR_WIDTH = 24
const PATIENCE_MS = 180_000

type Task = {
  task_id: string
  stock_code: string
  status: string
  progress: number
  message: string
  error: string | null
}

type Report = {
  meta: {
    stock_code: string
    stock_name: string
    current_price: number | null
    change_pct: number | null
    data_notice?: string | null
  }
  summary: {
    analysis_summary: string
    operation_advice: string
    action_label: string
    trend_prediction: string
    sentiment_score: number
    sentiment_label: string
  }
  strategy: Record<'ideal_buy' | 'secondary_buy' | 'stop_loss' | 'take_profit', string | null> | null
}

export async function showAnalysis(url: string): Promise<void> {
  const stream = await fetch(`${url}/api/v1/analysis/tasks/stream`)
  const ended = follow(stream, CODES.length)
  say(`Submitting ${CODES.join(', ')} …`)
  type Batch = { accepted: { task_id: string; stock_code: string }[] }
  const batch = await ask<Batch>(`${url}/api/v1/analysis/analyze`, {
    json: { stock_codes: CODES, async_mode: true, report_language: 'en' },
    expect: 202,
  })
  const tasks = await ended
  demand(
    tasks.every(({ status }) => status === 'completed'),
    `all ${CODES.length} tasks were completed`,
  )
  for (const { task_id } of batch.accepted) await showReport(url, task_id)
}

/** Prints a line for each change until that many tasks have ended; returns how they did. */
async function follow(response: Response, count: number): Promise<Task[]> {
  const ended: Task[] = []
  const shown = new Map<string, string>()
  const parser = createParser({
    onEvent: ({ event, data }) => {
      if (!event?.startsWith('task_')) return
      const task = JSON.parse(data) as Task
      const { stock_code: code, progress, message } = task
      const line = `  ${code.padEnd(8)} ${bar(progress)} ${String(progress).padStart(3)} %  ${message}`
      // A task also reports each request to a source, with the same stage and text.
      if (shown.get(code) !== line) say(line)
      shown.set(code, line)
      if (event === 'task_completed' || event === 'task_failed') ended.push(task)
    },
  })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  if (reader === undefined) throw new Error('the event stream has no body')
  const timer = setTimeout(() => reader.cancel(), PATIENCE_MS)
  while (ended.length < count) {
    const { value, done } = await reader.read()
    if (done) throw new Error(`the event stream ended after ${ended.length} of ${count} tasks`)
    parser.feed(value)
  }
  clearTimeout(timer)
  await reader.cancel()
  return ended
}

function bar(progress: number): string {
  const filled = Math.round((progress / 100) * BAR_WIDTH)
  return `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)}`
}

async function showReport(url: string, taskId: string): Promise<void> {
  type Status = { result: { report: Report; stock_code: string } | null }
  const { result } = await ask<Status>(`${url}/api/v1/analysis/status/${taskId}`)
  if (result === null) throw new Error(`task ${taskId} has no result`)
  const { meta, summary, strategy } = result.report
  const change = meta.change_pct === null ? '' : ` (${meta.change_pct >= 0 ? '+' : ''}${meta.change_pct.toFixed(2)} %)`
  say(`\n${meta.stock_name} (${meta.stock_code})  ${meta.current_price ?? 'no price'}${change}`)
  if (meta.data_notice) say(`  ! ${meta.data_notice}`)
  say(`  Trend   ${summary.trend_prediction}`)
  say(`  Score   ${summary.sentiment_score} of 100, ${summary.sentiment_label}`)
  say(`  Advice  ${summary.operation_advice} (${summary.action_label})`)
  for (const [name, level] of Object.entries(strategy ?? {}))
    say(`  ${name.replace('_', ' ').padEnd(14)}${level ?? '–'}`)
  const { content } = await ask<{ content: string }>(`${url}/api/v1/history/${taskId}/markdown`)
  const file = `${meta.stock_code.replace(/[^\w.-]/g, '_')}.md`
  writeFileSync(join(OUTPUT, file), content)
  say(`  The whole report: demo-output/${file}`)
}
