import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import type { TaskRequest } from '../../src/analysis/task.ts'
import { listRuns } from '../../src/db/schedules.ts'
import { stockNameStore } from '../../src/db/stock-names.ts'
import { takeTurn } from '../../src/db/upkeep.ts'
import worker from '../../src/index.ts'
import { currentNames } from '../../src/kits/market-names/index.ts'
import { runDueSchedules, runUpkeep, type TickDeps } from '../../src/schedule/cron.ts'
import { plannedStocks } from '../../src/schedule/plan.ts'
import { type Client, client } from '../helpers/app.ts'
import { isEnd, openStream } from './task-events.ts'

const PATH = '/api/v1/analysis/schedules'
type Schedule = Record<string, unknown> & { schedule_id: string; next_run_at: string | null }
type Run = { slot: string; status: string; detail: string | null; task_ids: string[]; left_out: string[] }

const REVIEW = {
  name: 'Evening review',
  what: { kind: 'market_review', region: 'cn,us' },
  when: { times: ['18:00'], zone: 'Asia/Shanghai', days: ['mon', 'tue', 'wed', 'thu', 'fri'] },
}

async function add(who: Client, body: unknown): Promise<Schedule> {
  const response = await who.ask(PATH, { method: 'POST', body })
  expect(response.status).toBe(201)
  return response.json<Schedule>()
}

/** As if the schedule had been made long before that moment. */
async function madeBefore({ schedule_id }: Schedule, moment: string): Promise<void> {
  const at = Date.parse(moment)
  await env.DB.prepare('UPDATE schedules SET since = ?1, next_at = ?1 WHERE id = ?2').bind(at, schedule_id).run()
}

type Submitted = { owner: string; requests: TaskRequest[]; key: string }

const NO_DIGESTS = {
  failed: async () => [],
  tell: async () => {},
  hasChannel: async () => false,
}

/** A queue that keeps what the one owner gives it, one submission a key; reviews meet a lock when told so. */
function rig({ owner: mine }: Client) {
  const submitted: Submitted[] = []
  const lock = { isHeld: false, isDead: false }
  const take = (owner: string, requests: TaskRequest[], key: string) => {
    if (owner === mine && !submitted.some((one) => one.key === key)) submitted.push({ owner, requests, key })
    if (lock.isDead) throw new Error('cut off')
    return requests.map(({ stockCode }) => ({ taskId: `${key} ${stockCode}` }))
  }
  const deps: TickDeps = {
    db: env.DB,
    submit: async (owner, requests, key) => ({ ok: true, results: take(owner, requests, key) }),
    submitReview: async (owner, request, key) => {
      if (lock.isHeld) return { ok: false, reason: 'locked' }
      const [result] = take(owner, [request], key)
      return { ok: true, taskId: result?.taskId ?? '' }
    },
    stocksOf: async (owner, plan) => plannedStocks(env.DB, await currentNames(stockNameStore(env.DB)), { owner, plan }),
    configuredLanguage: 'en',
    digests: NO_DIGESTS,
  }
  return { submitted, lock, tick: (moment: string) => runDueSchedules(deps, Date.parse(moment)) }
}

const runsOf = (who: Client) => who.json<{ runs: Run[] }>('/api/v1/analysis/schedule-runs').then(({ runs }) => runs)

test('schedules are made, changed, listed in order, replaced as a whole and deleted, each owner their own', async () => {
  const ann = await client()
  const first = await add(ann, REVIEW)
  expect(first).toMatchObject({
    ...REVIEW,
    enabled: true,
    trading_days_only: true,
    notify: true,
    channels: null,
    catch_up_minutes: 240,
    report_language: null,
  })
  expect(first.next_run_at).toMatch(/T10:00:00\.000000Z$/)
  const settings = { url: 'https://push.example.com', token: 'x' }
  await ann.ask('/api/v1/analysis/channels/desk', { method: 'PUT', body: { kind: 'gotify', settings } })
  const second = await add(ann, {
    name: 'Close',
    what: { kind: 'analysis', stock_codes: ['茅台', 'AAPL', 'aapl.us'] },
    when: { after_close_minutes: 15 },
    enabled: false,
    channels: ['desk'],
  })
  expect(second).toMatchObject({ enabled: false, next_run_at: null, channels: ['desk'] })
  const changed = await ann.json<Schedule>(`${PATH}/${first.schedule_id}`, {
    method: 'PUT',
    body: { ...REVIEW, name: 'Later', catch_up_minutes: 60 },
  })
  expect(changed).toMatchObject({ name: 'Later', schedule_id: first.schedule_id, next_run_at: first.next_run_at })
  const { schedules } = await ann.json<{ schedules: Schedule[] }>(PATH)
  expect(schedules.map(({ name }) => name)).toEqual(['Later', 'Close'])

  const replaced = await ann.json<{ schedules: Schedule[] }>(PATH, {
    method: 'PUT',
    body: {
      schedules: [
        { ...REVIEW, name: 'New' },
        { ...REVIEW, schedule_id: first.schedule_id },
      ],
    },
  })
  expect(replaced.schedules.map(({ name }) => name)).toEqual(['New', 'Evening review'])
  expect((await ann.ask(`${PATH}/${second.schedule_id}`)).status).toBe(404)

  const bob = await client()
  const strange = await bob.ask(`${PATH}/${first.schedule_id}`)
  expect([strange.status, await strange.text()]).toEqual([404, await (await bob.ask(`${PATH}/never`)).text()])
  expect((await bob.ask(`${PATH}/${first.schedule_id}`, { method: 'DELETE' })).status).toBe(404)
  expect((await bob.ask(`${PATH}/${first.schedule_id}`, { method: 'PUT', body: REVIEW })).status).toBe(404)
  expect(await bob.json(PATH)).toEqual({ schedules: [] })
  expect(await ann.json(`${PATH}/${first.schedule_id}`, { method: 'DELETE' })).toEqual({ deleted: true })
  expect((await ann.ask(`${PATH}/${first.schedule_id}`, { method: 'DELETE' })).status).toBe(404)
})

test('a name that is not clear is asked about; confirmed, it is stored as the code that the answer names', async () => {
  const ann = await client()
  const close = {
    name: 'Close',
    what: { kind: 'analysis', stock_codes: ['AAPL', '贵州茅苔'] },
    when: { after_close_minutes: 15 },
  }
  const asked = await ann.ask(PATH, { method: 'POST', body: close })
  expect([asked.status, await asked.json()]).toMatchObject([
    400,
    { error: 'validation_error', detail: { reason: 'not_found', candidates: [{ stock_code: '600519' }] } },
  ])
  const reading = { input: '贵州茅苔', kind: 'reading', stock_code: '600519', stock_name: '贵州茅台' }
  const what = { kind: 'analysis', stock_codes: ['AAPL', '600519'] }
  const made = await add(ann, { ...close, confirm: true })
  expect(made).toMatchObject({ what, readings: [reading] })
  expect(made).not.toHaveProperty('confirm')
  const changed = await ann.json(`${PATH}/${made.schedule_id}`, { method: 'PUT', body: { ...close, confirm: true } })
  expect(changed).toMatchObject({ what, readings: [reading], next_run_at: made.next_run_at })
  const body = { schedules: [{ ...REVIEW }, { ...close, confirm: true }] }
  const list = await ann.json<{ schedules: Schedule[] }>(PATH, { method: 'PUT', body })
  expect(list).toMatchObject({ schedules: [{ name: 'Evening review' }, { what }], readings: [reading] })
  const hopeless = { ...close, what: { ...what, stock_codes: ['zzqqxxyyvv完全没有'] }, confirm: true }
  expect((await ann.ask(PATH, { method: 'POST', body: hopeless })).status).toBe(400)
})

test('every bad schedule is refused with the place of its fault', async () => {
  const ann = await client()
  const bad: [object, number, string][] = [
    [{ ...REVIEW, name: ' ' }, 422, 'name'],
    [{ ...REVIEW, what: { kind: 'market_review', region: 'cn,,us' } }, 422, 'region'],
    [{ ...REVIEW, what: { kind: 'dance' } }, 422, 'what'],
    [{ ...REVIEW, when: { ...REVIEW.when, zone: '+08:00' } }, 422, 'when'],
    [{ ...REVIEW, when: { ...REVIEW.when, zone: 'Mars/Olympus' } }, 422, 'when'],
    [{ ...REVIEW, when: { ...REVIEW.when, times: [] } }, 422, 'when'],
    [{ ...REVIEW, when: { ...REVIEW.when, times: ['24:00'] } }, 422, 'when'],
    [{ ...REVIEW, when: { ...REVIEW.when, times: ['6:00'] } }, 422, 'when'],
    [{ ...REVIEW, when: { ...REVIEW.when, days: ['someday'] } }, 422, 'when'],
    [{ ...REVIEW, when: { after_close_minutes: -1 } }, 422, 'when'],
    [{ ...REVIEW, when: {} }, 422, 'when'],
    [{ ...REVIEW, catch_up_minutes: 100_000 }, 422, 'catch_up_minutes'],
    [{ ...REVIEW, channels: ['nobodys'] }, 400, ''],
    [{ ...REVIEW, when: { ...REVIEW.when, zone: 'CST' } }, 422, 'zone'],
    [{ ...REVIEW, when: { ...REVIEW.when, after_close_minutes: 5 } }, 422, 'after_close_minutes'],
    [{ ...REVIEW, when: { after_close_minutes: 'soon' } }, 422, 'after_close_minutes'],
    [{ ...REVIEW, when: { cron: '0 18 * * *' } }, 422, 'cron'],
    [{ ...REVIEW, channels: Array.from({ length: 21 }, () => 'x') }, 422, 'channels'],
    [{ ...REVIEW, what: { kind: 'analysis', stock_codes: [] } }, 422, 'what'],
    [{ ...REVIEW, what: { kind: 'analysis', stock_codes: ['12ab!'] } }, 400, ''],
    [{ ...REVIEW, what: { kind: 'watchlist', watchlist_id: 'nobody’s' } }, 400, ''],
  ]
  for (const [body, status, place] of bad) {
    const response = await ann.ask(PATH, { method: 'POST', body })
    const answer = await response.json<{ error: string; detail?: { loc: string[] }[] }>()
    expect([body, response.status, answer.error]).toEqual([body, status, 'validation_error'])
    if (place !== '') expect(answer.detail?.flatMap(({ loc }) => loc)).toContain(place)
  }
  const said = await ann.ask(PATH, { method: 'POST', body: { ...REVIEW, when: { ...REVIEW.when, times: ['6:00'] } } })
  expect((await said.json<{ message: string }>()).message).toMatch(
    /a time of the 24-hour clock such as 09:30 is wanted/,
  )
  // A form with several fields is told which of them an unclear name stands in.
  const codes = { ...REVIEW, what: { kind: 'analysis', stock_codes: ['12ab!'] } }
  const unclear = await ann.ask(PATH, { method: 'POST', body: codes })
  expect((await unclear.json<{ detail: object }>()).detail).toMatchObject({ field: 'what.stock_codes' })
  const known = await add(ann, REVIEW)
  for (const ids of [['nobody’s'], [known.schedule_id, known.schedule_id]]) {
    const body = { schedules: ids.map((schedule_id) => ({ ...REVIEW, schedule_id })) }
    expect((await ann.ask(PATH, { method: 'PUT', body })).status).toBe(422)
  }
  expect((await ann.json<{ schedules: unknown[] }>(PATH)).schedules.length).toBe(1)
  expect((await ann.ask('/api/v1/analysis/schedule-runs?limit=0')).status).toBe(422)
})

test('numbers and switches of a schedule may be texts, and are numbers and switches in the answer', async () => {
  const ann = await client()
  const typed = { when: { after_close_minutes: '5' }, catch_up_minutes: '60', notify: 'no', trading_days_only: 'true' }
  const made = await add(ann, { ...REVIEW, ...typed })
  const read = { when: { after_close_minutes: 5 }, catch_up_minutes: 60, notify: false, trading_days_only: true }
  expect(await ann.json(`${PATH}/${made.schedule_id}`)).toMatchObject(read)
})

test('a due slot runs once however often and by how many the cron fires, and the schedule moves on', async () => {
  const ann = await client()
  const schedule = await add(ann, REVIEW)
  await madeBefore(schedule, '2026-08-14T09:00:00Z')
  const { submitted, tick } = rig(ann)
  await tick('2026-08-14T09:59:00Z')
  expect(submitted).toEqual([])
  await Promise.all([tick('2026-08-14T10:03:00Z'), tick('2026-08-14T10:03:00Z')])
  await tick('2026-08-14T10:08:00Z')
  expect(submitted.map(({ owner, requests }) => [owner, requests[0]?.region, requests[0]?.priority])).toEqual([
    [ann.owner, 'cn,us', 'scheduled'],
  ])
  expect(await runsOf(ann)).toMatchObject([{ slot: '2026-08-14T18:00', status: 'started', left_out: [] }])
  const after = await ann.json<Schedule>(`${PATH}/${schedule.schedule_id}`)
  expect(after.next_run_at).toBe('2026-08-17T10:00:00.000000Z')
})

test('missed slots are caught up within the window, older ones are noted as missed, and nothing is due from before the schedule was made', async () => {
  const ann = await client()
  const schedule = await add(ann, {
    ...REVIEW,
    when: { times: ['09:00', '12:00', '15:00'], zone: 'UTC', days: ['fri'] },
    catch_up_minutes: 240,
  })
  await madeBefore(schedule, '2026-08-14T08:00:00Z')
  const { submitted, tick } = rig(ann)
  await tick('2026-08-14T15:10:00Z')
  expect((await runsOf(ann)).map(({ slot, status }) => [slot, status])).toEqual([
    ['2026-08-14T15:00', 'started'],
    ['2026-08-14T12:00', 'started'],
    ['2026-08-14T09:00', 'missed'],
  ])
  expect(submitted.length).toBe(2)
})

test('closed markets are left out by their own calendars; a day on which all are closed is skipped', async () => {
  const ann = await client()
  // China is closed for the national holiday, New York trades.
  const review = await add(ann, REVIEW)
  const stocks = await add(ann, { ...REVIEW, what: { kind: 'analysis', stock_codes: ['600519', 'AAPL'] } })
  for (const schedule of [review, stocks]) await madeBefore(schedule, '2025-10-02T09:00:00Z')
  const always = await add(ann, { ...REVIEW, trading_days_only: false })
  await madeBefore(always, '2025-10-02T09:00:00Z')
  const { submitted, tick } = rig(ann)
  await tick('2025-10-02T10:05:00Z')
  const asked = submitted.flatMap(({ requests }) => requests.map(({ region, stockCode }) => region ?? stockCode))
  expect(asked.toSorted()).toEqual(['AAPL', 'cn,us', 'us'])
  const runs = await runsOf(ann)
  expect(runs.map(({ left_out }) => left_out).toSorted()).toEqual([[], ['600519'], ['cn']])
  const alone = await add(ann, { ...REVIEW, what: { kind: 'market_review', region: 'cn' } })
  await madeBefore(alone, '2025-10-02T09:00:00Z')
  await tick('2025-10-02T10:10:00Z')
  expect(await runsOf(ann)).toContainEqual(
    expect.objectContaining({ status: 'skipped', detail: 'market_closed', left_out: ['cn'], task_ids: [] }),
  )
})

test('a review that meets another one waits for it within its window, then counts as missed', async () => {
  const ann = await client()
  const schedule = await add(ann, { ...REVIEW, catch_up_minutes: 30 })
  await madeBefore(schedule, '2026-08-14T09:00:00Z')
  const { submitted, tick, lock } = rig(ann)
  lock.isHeld = true
  await tick('2026-08-14T10:05:00Z')
  expect(await runsOf(ann)).toMatchObject([{ status: 'waiting', detail: 'another market review runs' }])
  lock.isHeld = false
  await tick('2026-08-14T10:10:00Z')
  expect(await runsOf(ann)).toMatchObject([{ status: 'started' }])
  expect(submitted.length).toBe(1)
  lock.isHeld = true
  await tick('2026-08-17T10:05:00Z')
  await tick('2026-08-17T10:40:00Z')
  expect((await runsOf(ann))[0]).toMatchObject({ slot: '2026-08-17T18:00', status: 'missed' })
  expect(submitted.length).toBe(1)
})

test('a call that dies after it has submitted leaves a slot that the next one finishes without submitting it again', async () => {
  const ann = await client()
  const schedule = await add(ann, REVIEW)
  await madeBefore(schedule, '2026-08-14T09:00:00Z')
  const { submitted, tick, lock } = rig(ann)
  lock.isDead = true
  await tick('2026-08-14T10:05:00Z')
  expect(submitted.length).toBe(1)
  expect(await runsOf(ann)).toMatchObject([{ status: 'claimed' }])
  lock.isDead = false
  await tick('2026-08-14T10:06:00Z')
  expect(await runsOf(ann)).toMatchObject([{ status: 'claimed' }])
  await tick('2026-08-14T10:10:00Z')
  expect(submitted.length).toBe(1)
  expect(await runsOf(ann)).toMatchObject([
    { status: 'started', task_ids: [expect.stringContaining('2026-08-14T18:00')] },
  ])
})

test('the cron handler of the Worker carries a due watchlist through the queue to finished reports', async () => {
  const ann = await client()
  const list = await ann.json<{ watchlist_id: string }>('/api/v1/analysis/watchlists', {
    method: 'POST',
    body: { name: 'tech', stock_codes: ['NVDA', 'MSFT'] },
  })
  // Due at whatever hour this runs.
  const anHourAgo = new Date(Date.now() - 3_600_000).toISOString().slice(11, 16)
  const schedule = await add(ann, {
    name: 'watch',
    what: { kind: 'watchlist', watchlist_id: list.watchlist_id },
    when: { times: [anHourAgo], zone: 'UTC', days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] },
    trading_days_only: false,
    catch_up_minutes: 1440,
    report_type: 'brief',
  })
  await madeBefore(schedule, new Date(Date.now() - 2 * 3_600_000).toISOString())
  const moment = { scheduledTime: Date.now(), cron: '*/5 * * * *', noRetry: () => {} } as ScheduledController
  await worker.scheduled(moment, env)
  const [run] = await runsOf(ann)
  expect(run).toMatchObject({ status: 'started', task_ids: [expect.any(String), expect.any(String)] })
  const stream = await openStream(ann.key, { query: '?after=0' })
  await stream.until((_, all) => all.filter(isEnd).length === 2)
  stream.close()
  await worker.scheduled(moment, env)
  const { total, tasks } = await ann.json<{ total: number; tasks: Record<string, unknown>[] }>('/api/v1/analysis/tasks')
  expect(total).toBe(2)
  expect(tasks).toMatchObject([
    { stock_code: 'MSFT', status: 'completed', report_type: 'brief', selection_source: 'schedule' },
    { stock_code: 'NVDA', status: 'completed' },
  ])
  expect((await listRuns(env.DB, { owner: ann.owner, scheduleId: null, limit: 10, after: null })).length).toBe(1)
})

test('an upkeep job runs at its pace, one caller at a time, and again within the hour when it failed', async () => {
  const name = `job-${crypto.randomUUID()}`
  const count = { runs: 0, fails: false }
  const run = async () => {
    count.runs += 1
    if (count.fails) throw new Error('no')
    return 'done'
  }
  const day = 86_400_000
  const jobs = [{ name, everyMs: day, run }]
  const T0 = Date.parse('2026-08-14T00:00:00Z')
  await Promise.all([runUpkeep(env.DB, jobs, T0), runUpkeep(env.DB, jobs, T0)])
  await runUpkeep(env.DB, jobs, T0 + day - 1)
  expect(count.runs).toBe(1)
  count.fails = true
  await runUpkeep(env.DB, jobs, T0 + day)
  count.fails = false
  await runUpkeep(env.DB, jobs, T0 + day + 3_599_999)
  expect(count.runs).toBe(2)
  await runUpkeep(env.DB, jobs, T0 + day + 3_600_000)
  expect(count.runs).toBe(3)
  expect(await takeTurn(env.DB, { name, now: T0 + day + 3_600_001, everyMs: day })).toBe(false)
})

test('the log of runs goes on page by page, newest first, also where slots were due at the same moment', async () => {
  const ann = await client()
  const slot = (i: number) =>
    env.DB.prepare(
      "INSERT INTO schedule_runs (schedule_id, slot, owner, name, due_at, claimed_at, status) VALUES (?, ?, ?, 'n', ?, 0, 'started')",
    ).bind(`s${i % 3}-${ann.owner}`, `slot-${i}`, ann.owner, 1_000 * Math.floor(i / 4))
  await env.DB.batch(Array.from({ length: 11 }, (_, i) => slot(i)))
  type Page = { runs: { slot: string; due_at: string }[]; next_page_id: string | null }
  const path = '/api/v1/analysis/schedule-runs'
  const whole = await ann.json<Page>(path)
  expect([whole.runs.length, whole.next_page_id]).toEqual([11, null])
  expect(whole.runs.map(({ due_at }) => due_at)).toEqual(
    whole.runs
      .map(({ due_at }) => due_at)
      .sort()
      .reverse(),
  )
  const read: Page['runs'] = []
  for (let next: string | null = ''; next !== null; ) {
    const page: Page = await ann.json<Page>(`${path}?limit=3&page_id=${next}`)
    read.push(...page.runs)
    next = page.next_page_id
  }
  expect(read).toEqual(whole.runs)
  const wrong = await ann.ask(`${path}?page_id=zzz`)
  expect([wrong.status, await wrong.json()]).toMatchObject([400, { message: 'Invalid page_id' }])
})
