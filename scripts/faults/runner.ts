// Faulty runners: each stock has one that hangs, throws, is slow, reports after its lease has expired, or has no
// database to save its report in. In each case the task must end once, with the expected state and at most one report.

import { startLoopbackMarket } from '../../test/support/loopback-market.ts'
import { startMortalService } from './mortal-service.ts'
import { TaskBooks } from './task-books.ts'

type Case = { code: string; fault: string; status: 'completed' | 'failed'; error?: RegExp }

const CASES: readonly Case[] = [
  { code: '600519', fault: 'hangs without a word', status: 'completed' },
  { code: 'AAPL', fault: 'reports, but gets no further', status: 'failed', error: /"dawdling"/ },
  { code: 'MSFT', fault: 'throws once', status: 'completed' },
  { code: 'NVDA', fault: 'throws always', status: 'failed', error: /3/ },
  { code: 'TSLA', fault: 'says that it is done after its lease', status: 'completed' },
  { code: '300750', fault: 'says that it failed after its lease', status: 'completed' },
  { code: 'HK00700', fault: 'saves when the database is away', status: 'completed' },
]
const PATIENCE_MS = 120_000
/** Late reports have arrived by then. */
const AFTERWARDS_MS = 25_000

type Ended = { task_id: string; stock_code: string; status: string; error: string | null }

export async function runnerFaults(): Promise<boolean> {
  const market = await startLoopbackMarket()
  const service = await startMortalService(
    {
      MARKET_DATA: 'yahoo',
      YAHOO_URL: market.url,
      YAHOO_COOKIE_URL: market.url,
      MAX_RUNNING_TASKS: String(CASES.length),
      // Longer than a lease.
      STAGE_TIMEOUT_SECONDS: '20',
      REPORT_LANGUAGE: 'en',
      LOG_LEVEL: 'silent',
    },
    'faulty-runner.ts',
  )
  const over = new AbortController()
  const base = `${service.url}/api/v1/analysis`
  const books = new TaskBooks(base)
  const following = books.follow(over.signal)
  try {
    const body = { stock_codes: CASES.map(({ code }) => code), async_mode: true }
    const answer = await books.post<{ accepted: { task_id: string }[] }>('/analyze', body)
    if (answer?.status !== 202) throw new Error(`the batch was not accepted: ${JSON.stringify(answer)}`)
    books.accept(...answer.body.accepted.map(({ task_id }) => task_id))
    await books.allEnded(PATIENCE_MS)
    await new Promise((resolve) => setTimeout(resolve, AFTERWARDS_MS))
    over.abort()
    await following
    const { tasks } = (await (await fetch(`${base}/tasks?limit=100`)).json()) as { tasks: Ended[] }
    return await balanced(books, tasks)
  } finally {
    over.abort()
    await service.stop()
    await market.close()
  }
}

async function balanced(books: TaskBooks, tasks: readonly Ended[]): Promise<boolean> {
  let differing = 0
  for (const { code, fault, status, error = /^$/ } of CASES) {
    const task = tasks.find(({ stock_code }) => stock_code === code)
    const isRight = task?.status === status && error.test(task.error ?? '')
    if (!isRight) differing += 1
    console.log(`a runner that ${fault}: ${task?.status}${task?.error ? `, "${task.error}"` : ''}`)
  }
  const { lost, twice, gaps, repeats } = books.audit()
  const { missing, doubled, stored } = await books.auditReports()
  const zeros = {
    'tasks lost': lost,
    'finished twice': twice,
    'stream gaps': gaps,
    'stream repeats': repeats,
    'ends that differ': differing,
    'reports missing': missing,
    'reports stored twice': doubled,
    'reports of failed tasks': stored - CASES.filter(({ status }) => status === 'completed').length,
  }
  for (const [what, n] of Object.entries(zeros)) console.log(`${what}: ${n}`)
  return Object.values(zeros).every((n) => n === 0)
}
