// The queue under kills at random moments: batches, reviews, cancellations, synchronous analyses, and the sending of their
// reports continue while the runtime is killed repeatedly, and a client follows the event stream all the time. At the end
// every accepted task must have ended once; the stream must have had every event once and in order; no lock may be held,
// each report must be stored once, and sent once to every channel or listed as uncertain.

import { setTimeout as sleep } from 'node:timers/promises'
import { startLoopbackMarket } from '../../test/support/loopback-market.ts'
import { startNotifyHost } from '../../test/support/notify-host.ts'
import { DeliveryBooks, operatorVars } from './delivery-books.ts'
import { Moments } from './moments.ts'
import { type MortalService, startMortalService } from './mortal-service.ts'
import { TaskBooks } from './task-books.ts'

const CODES = ['600519', 'AAPL', 'HK00700', 'MSFT', 'NVDA', '300750', '600000', '000001', 'HK09988', 'SPX', 'TSLA']
const REGIONS = ['cn', 'us', 'cn,us', 'tw,us', 'both']
const LARGEST_BATCH = 6
const LONGEST_LIFE_MS = 500
const ANSWERED_SHARE = 0.75
const REVIEW_SHARE = 0.3
const CANCEL_SHARE = 0.4
const MISHAP_SHARE = 0.25
const AT_ONCE_SHARE = 0.5
const PATIENCE_MS = 180_000
/** Channels have a rate limit, and a part in doubt is retried only after a while. */
const SENDING_PATIENCE_MS = 600_000
/** The share of kills that happen while a message is being sent, and the maximum delay after its arrival. */
const SENDING_SHARE = 0.4
const MESSAGE_PATIENCE_MS = 4_000
const AFTER_MESSAGE_MS = 20

type Deps = { service: MortalService; books: TaskBooks; deliveries: DeliveryBooks; moments: Moments<'message'> }

export async function queueFaults({ kills }: { kills: number }): Promise<boolean> {
  const moments = new Moments<'message'>()
  const host = await startNotifyHost(() => moments.happened('message'))
  const market = await startLoopbackMarket()
  const data = { MARKET_DATA: 'yahoo', YAHOO_URL: market.url, YAHOO_COOKIE_URL: market.url, ...operatorVars(host.url) }
  const service = await startMortalService({ ...data, MAX_RUNNING_TASKS: '4', LOG_LEVEL: 'silent' })
  const over = new AbortController()
  const base = `${service.url}/api/v1/analysis`
  const deps: Deps = { service, books: new TaskBooks(base), deliveries: new DeliveryBooks(base, host.url), moments }
  const following = deps.books.follow(over.signal)
  try {
    await deps.deliveries.openChannels()
    const downMs: number[] = []
    for (let i = 0; i < kills; i++) downMs.push(await liveAndDie(deps))
    await deps.books.allEnded(PATIENCE_MS)
    const isLockFree = await reviewPasses(deps.books)
    await deps.deliveries.allSettled(SENDING_PATIENCE_MS)
    over.abort()
    await following
    return await balanced(deps, { kills, downMs, isLockFree })
  } finally {
    over.abort()
    await service.stop()
    await host.close()
    await market.close()
  }
}

/** Sends work and kills the runtime during the submission. Settles with the time without an answer. */
async function liveAndDie({ service, books, deliveries, moments }: Deps): Promise<number> {
  const batch = submitBatch(books)
  const arriving = [
    batch,
    maybe(REVIEW_SHARE, () => submitReview(books)),
    maybe(CANCEL_SHARE, () => cancelOne(books)),
    maybe(MISHAP_SHARE, () => deliveries.mishap()),
    maybe(AT_ONCE_SHARE, () => analyseAtOnce(books)),
  ]
  // Sometimes during the submission of the batch, mostly while its tasks run.
  if (Math.random() < ANSWERED_SHARE) await batch
  if (Math.random() < SENDING_SHARE) {
    await moments.next('message', MESSAGE_PATIENCE_MS)
    await sleep(Math.random() * AFTER_MESSAGE_MS)
  } else await sleep(Math.random() * LONGEST_LIFE_MS)
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

/** A synchronous analysis: if its report is stored, it must be sent like any other, with or without a response. */
async function analyseAtOnce(books: TaskBooks): Promise<void> {
  await books.post('/analyze', { stock_code: pick(CODES), report_type: 'brief' })
}

async function cancelOne(books: TaskBooks): Promise<void> {
  const id = pick(books.open())
  if (id === undefined) return
  const answer = await books.post<{ status: string }>(`/tasks/${id}/cancel`, null)
  if (answer?.status === 200) books.cancels += 1
}

/** Whether one more review is accepted and ends when nothing else runs. */
async function reviewPasses(books: TaskBooks): Promise<boolean> {
  const answer = await books.post<{ task_id: string }>('/market-review', { region: 'us' })
  if (answer?.status !== 202) return false
  books.accept(answer.body.task_id)
  await books.allEnded(PATIENCE_MS)
  return true
}

type Run = { kills: number; downMs: number[]; isLockFree: boolean }

async function balanced({ books, deliveries }: Deps, { kills, downMs, isLockFree }: Run): Promise<boolean> {
  const { lost, twice, gaps, repeats, ends } = books.audit()
  const { missing, unwanted, doubled, atOnce } = await books.auditReports()
  const completed = [...books.having('completed'), ...atOnce]
  const sent = await deliveries.audit({ completed, batches: books.batches })
  const slowest = Math.round(Math.max(...downMs))
  console.log(
    `${kills} kills; longest until another runtime answered: ${slowest} ms; ${books.reconnects} times reconnected`,
  )
  console.log(`tasks accepted: ${books.accepted}; seen: ${books.seen}; cancels accepted: ${books.cancels}`)
  console.log(`reports of no task: ${atOnce.length}`)
  console.log(`ends: ${[...ends].map(([how, n]) => `${how} ${n}`).join(', ')}`)
  console.log(`deliveries: ${sent.deliveries} (${sent.states}); services made to fail: ${deliveries.mishaps} times`)
  console.log(
    `parts sent: ${sent.sent}; in doubt, by name: ${sent.inDoubt}; repeats that a service knew: ${sent.repeats}`,
  )
  const zeros = {
    'tasks lost': lost,
    'finished twice': twice,
    'stream gaps': gaps,
    'stream repeats': repeats,
    'reports missing': missing,
    'reports of cancelled tasks': unwanted,
    'reports stored twice': doubled,
    'locks stuck': isLockFree ? 0 : 1,
    'reports not told': sent.notTold,
    'sent twice': sent.twice,
    'called sent, not received': sent.lost,
    'refused by a service': sent.refused,
    'deliveries that did not end': sent.open,
  }
  for (const [what, n] of Object.entries(zeros)) console.log(`${what}: ${n}`)
  return Object.values(zeros).every((n) => n === 0)
}
