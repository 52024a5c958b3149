// The queue under kills at random moments: batches, reviews and cancels go on while the runtime dies again and again, and a
// client follows the event stream through all of it. In the end every accepted task must have ended, once; the stream must
// have told everything, once and in order; no lock may be held, and each report be stored once.

import { setTimeout as sleep } from 'node:timers/promises'
import { type MortalService, startMortalService } from './mortal-service.ts'
import { TaskBooks } from './task-books.ts'

const CODES = ['600519', 'AAPL', 'HK00700', 'MSFT', 'NVDA', '300750', '600000', '000001', 'HK09988', 'SPX', 'TSLA']
const REGIONS = ['cn', 'us', 'cn,us', 'tw,us']
const LARGEST_BATCH = 6
const LONGEST_LIFE_MS = 500
const ANSWERED_SHARE = 0.75
const REVIEW_SHARE = 0.3
const CANCEL_SHARE = 0.4
const PATIENCE_MS = 180_000

export async function queueFaults({ kills }: { kills: number }): Promise<boolean> {
  const service = await startMortalService({ MARKET_DATA: 'sample', MAX_RUNNING_TASKS: '4', LOG_LEVEL: 'silent' })
  const over = new AbortController()
  const books = new TaskBooks(`${service.url}/api/v1/analysis`)
  const following = books.follow(over.signal)
  try {
    const downMs: number[] = []
    for (let i = 0; i < kills; i++) downMs.push(await liveAndDie(service, books))
    await books.allEnded(PATIENCE_MS)
    const isLockFree = await reviewPasses(books)
    over.abort()
    await following
    return await balanced(books, { kills, downMs, isLockFree })
  } finally {
    over.abort()
    await service.stop()
  }
}

/** Work arrives, and the runtime is killed while some of it is on its way in. Settles with how long nobody answered. */
async function liveAndDie(service: MortalService, books: TaskBooks): Promise<number> {
  const batch = submitBatch(books)
  const arriving = [batch, maybe(REVIEW_SHARE, () => submitReview(books)), maybe(CANCEL_SHARE, () => cancelOne(books))]
  // Sometimes while the batch is on its way, mostly while its tasks run.
  if (Math.random() < ANSWERED_SHARE) await batch
  await sleep(Math.random() * LONGEST_LIFE_MS)
  const downMs = await service.kill()
  await Promise.all(arriving)
  return downMs
}

const maybe = async (share: number, act: () => Promise<void>): Promise<void> => {
  if (Math.random() < share) await act()
}

const pick = <T>(items: readonly T[]): T | undefined => items[Math.floor(Math.random() * items.length)]

async function submitBatch(books: TaskBooks): Promise<void> {
  const wanted = 1 + Math.floor(Math.random() * LARGEST_BATCH)
  const codes = [...CODES].sort(() => Math.random() - 0.5).slice(0, wanted)
  type Answer = { task_id?: string; accepted?: { task_id: string }[] }
  const answer = await books.post<Answer>('/analyze', { stock_codes: codes, async_mode: true, report_type: 'brief' })
  if (answer?.status !== 202) return
  books.accept(...(answer.body.accepted?.map(({ task_id }) => task_id) ?? [answer.body.task_id ?? '']))
}

async function submitReview(books: TaskBooks): Promise<void> {
  const answer = await books.post<{ task_id: string }>('/market-review', { region: pick(REGIONS) })
  if (answer?.status === 202) books.accept(answer.body.task_id)
}

async function cancelOne(books: TaskBooks): Promise<void> {
  const id = pick(books.open())
  if (id === undefined) return
  const answer = await books.post<{ status: string }>(`/tasks/${id}/cancel`, null)
  if (answer?.status === 200) books.cancels += 1
}

/** Whether one more review is taken and ends, now that nothing runs any more. */
async function reviewPasses(books: TaskBooks): Promise<boolean> {
  const answer = await books.post<{ task_id: string }>('/market-review', { region: 'us' })
  if (answer?.status !== 202) return false
  books.accept(answer.body.task_id)
  await books.allEnded(PATIENCE_MS)
  return true
}

type Run = { kills: number; downMs: number[]; isLockFree: boolean }

async function balanced(books: TaskBooks, { kills, downMs, isLockFree }: Run): Promise<boolean> {
  const { lost, twice, gaps, repeats, ends } = books.audit()
  const { missing, unwanted, doubled } = await books.auditReports()
  const slowest = Math.round(Math.max(...downMs))
  console.log(
    `${kills} kills; longest until another runtime answered: ${slowest} ms; ${books.reconnects} times reconnected`,
  )
  console.log(`tasks accepted: ${books.accepted}; seen: ${books.seen}; cancels accepted: ${books.cancels}`)
  console.log(`ends: ${[...ends].map(([how, n]) => `${how} ${n}`).join(', ')}`)
  const zeros = { 'tasks lost': lost, 'finished twice': twice, 'stream gaps': gaps, 'stream repeats': repeats }
  const reports = {
    'reports missing': missing,
    'reports of cancelled tasks': unwanted,
    'reports stored twice': doubled,
  }
  const all = { ...zeros, ...reports, 'locks stuck': isLockFree ? 0 : 1 }
  for (const [what, n] of Object.entries(all)) console.log(`${what}: ${n}`)
  return Object.values(all).every((n) => n === 0)
}
