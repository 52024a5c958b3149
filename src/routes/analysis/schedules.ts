import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { notifyTargets } from '../../db/channels.ts'
import {
  deleteSchedule,
  findSchedule,
  listRuns,
  listSchedules,
  type ScheduleRow,
  saveSchedules,
} from '../../db/schedules.ts'
import { stockNameStore } from '../../db/stock-names.ts'
import { findWatchlist } from '../../db/watchlists.ts'
import type { AppEnv } from '../../http/app-env.ts'
import { callerLanguage } from '../../http/caller-language.ts'
import { AppError, analysisEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { PAGE_QUERY, pageIdOf, pageKeyOf, pageOf } from '../../http/paging.ts'
import { router } from '../../http/router.ts'
import { valueError } from '../../http/validation.ts'
import { currentNames, type NameIndex } from '../../kits/market-names/index.ts'
import { isoMicros } from '../../lib/clock.ts'
import { hexId } from '../../lib/crypto.ts'
import { laxBool } from '../../lib/lax.ts'
import type { Language } from '../../market/names/labels.ts'
import { readEntry, takeFirst } from '../../market/readings.ts'
import { resolveInput } from '../../market/resolve.ts'
import { isAmbiguousZone, marketsOf, nextSlot, plannedStocks, SchedulePlan } from '../../schedule/plan.ts'
import { readingOf, StockReading } from './readings.ts'
import { refusalError as refusal, unclearNames } from './refusals.ts'

const MAX_SCHEDULES = 50

const ScheduleInput = SchedulePlan.extend({
  enabled: laxBool().default(true),
  confirm: laxBool().default(false).describe('Takes the first candidate of each stock that is not clear'),
}).openapi('ScheduleInput')
type ScheduleInput = z.infer<typeof ScheduleInput>

const ListedInput = ScheduleInput.extend({
  schedule_id: z.string().max(64).optional().describe('Keeps this schedule and its runs; a new one without it'),
}).openapi('ScheduleListItem')

const ScheduleListInput = z.object({ schedules: z.array(ListedInput).max(MAX_SCHEDULES) }).openapi('ScheduleListInput')

const Schedule = SchedulePlan.extend({
  schedule_id: z.string(),
  enabled: z.boolean(),
  next_run_at: z.string().nullable().describe('The first slot that is not settled; null when none comes'),
  created_at: z.string(),
  updated_at: z.string(),
}).openapi('Schedule')
type Schedule = z.infer<typeof Schedule>

const ScheduleList = z.object({ schedules: z.array(Schedule) }).openapi('ScheduleList')

/** A confirmed stock is stored as its code, so every later run uses the one that was shown to the owner. */
const readings = z.array(StockReading).describe('How the stocks were read that were not clear, and are confirmed')
const SavedSchedule = Schedule.extend({ readings }).openapi('SavedSchedule')
const SavedScheduleList = ScheduleList.extend({ readings }).openapi('SavedScheduleList')
type Readings = z.infer<typeof readings>

const ScheduleRunItem = z
  .object({
    schedule_id: z.string(),
    name: z.string(),
    slot: z.string().describe('The time by the clock of its zone, or the market and day whose close it follows'),
    due_at: z.string(),
    claimed_at: z.string(),
    status: z.enum(['claimed', 'waiting', 'started', 'skipped', 'missed', 'failed']),
    detail: z.string().nullable(),
    task_ids: z.array(z.string()),
    left_out: z.array(z.string()).describe('Regions and stocks whose market was closed that day'),
  })
  .openapi('ScheduleRun')

const app = router(analysisEnvelope)
const tag = 'Schedules'
const PATH = '/api/v1/analysis/schedules'
const ONE = `${PATH}/{schedule_id}`
const params = z.object({ schedule_id: z.string() })
const missing = { 404: { description: 'No such schedule' } }
/** The due time of a slot, the owner, and the slot. */
const RunPlace = z.tuple([z.int(), z.string(), z.string()])
const refused = {
  400: { description: 'Too many schedules, or stocks, a watchlist or channels that are none' },
}

endpoint(
  app,
  {
    method: 'get',
    path: PATH,
    scope: 'analysis',
    limit: 'reads',
    bodyLimit: 'standard',
    tag,
    summary: 'Your schedules, oldest first',
    replies: { 200: { description: 'What, when, and what comes next', schema: ScheduleList } },
  },
  async (c) => c.json({ schedules: (await listSchedules(c.env.DB, ownerOf(c))).map(wire) }),
)

endpoint(
  app,
  {
    method: 'put',
    path: PATH,
    scope: 'analysis',
    limit: 'writes',
    bodyLimit: 'standard',
    tag,
    summary: 'Replace all your schedules: those of the list are kept or made, every other one goes',
    body: { schema: ScheduleListInput, required: true },
    replies: { 200: { description: 'The new list', schema: SavedScheduleList }, ...refused },
  },
  async (c, { body }) => {
    const owner = ownerOf(c)
    const before = await listSchedules(c.env.DB, owner)
    const rows: ScheduleRow[] = []
    const read: Readings = []
    for (const [i, { schedule_id, ...input }] of body.schedules.entries()) {
      const known = before.find(({ id }) => id === schedule_id) ?? null
      if (schedule_id !== undefined && (known === null || rows.some(({ id }) => id === schedule_id))) {
        const reason = known === null ? 'no schedule of yours has this id' : 'the id stands in the list twice'
        throw valueError(['body', 'schedules', i, 'schedule_id'], reason, schedule_id)
      }
      const saved = await rowOf(c, input, { known, place: i, loc: ['body', 'schedules', i] })
      rows.push(saved.row)
      read.push(...saved.readings)
    }
    await saveSchedules(c.env.DB, owner, { rows, replaceAll: true })
    return c.json({ schedules: rows.map(wire), readings: read })
  },
)

endpoint(
  app,
  {
    method: 'post',
    path: PATH,
    scope: 'analysis',
    limit: 'writes',
    bodyLimit: 'standard',
    tag,
    summary: 'Add a schedule',
    body: { schema: ScheduleInput, required: true },
    replies: { 201: { description: 'The schedule', schema: SavedSchedule }, ...refused },
  },
  async (c, { body }) => {
    const owner = ownerOf(c)
    if ((await listSchedules(c.env.DB, owner)).length >= MAX_SCHEDULES) {
      throw refusal(c, (say) => say.schedules(MAX_SCHEDULES))
    }
    const { row, readings: read } = await rowOf(c, body, { known: null, place: 0, loc: ['body'] })
    await saveSchedules(c.env.DB, owner, { rows: [row], replaceAll: false })
    return c.json({ ...wire(row), readings: read }, 201)
  },
)

endpoint(
  app,
  {
    method: 'get',
    path: ONE,
    scope: 'analysis',
    limit: 'reads',
    bodyLimit: 'standard',
    tag,
    summary: 'One schedule',
    params,
    replies: { 200: { description: 'The schedule', schema: Schedule }, ...missing },
  },
  async (c, { params: { schedule_id } }) => c.json(wire(await mustFind(c, schedule_id))),
)

endpoint(
  app,
  {
    method: 'put',
    path: ONE,
    scope: 'analysis',
    limit: 'writes',
    bodyLimit: 'standard',
    tag,
    summary: 'Change a schedule',
    params,
    body: { schema: ScheduleInput, required: true },
    replies: { 200: { description: 'The schedule', schema: SavedSchedule }, ...missing, ...refused },
  },
  async (c, { params: { schedule_id }, body }) => {
    const known = await mustFind(c, schedule_id)
    const { row, readings: read } = await rowOf(c, body, { known, place: 0, loc: ['body'] })
    await saveSchedules(c.env.DB, ownerOf(c), { rows: [row], replaceAll: false })
    return c.json({ ...wire(row), readings: read })
  },
)

endpoint(
  app,
  {
    method: 'delete',
    path: ONE,
    scope: 'analysis',
    limit: 'writes',
    bodyLimit: 'standard',
    tag,
    summary: 'Delete a schedule; the log of its runs stays',
    params,
    replies: { 200: { description: 'Deleted', schema: z.object({ deleted: z.literal(true) }) }, ...missing },
  },
  async (c, { params: { schedule_id } }) => {
    if (!(await deleteSchedule(c.env.DB, ownerOf(c), schedule_id))) throw notFound()
    return c.json({ deleted: true as const })
  },
)

endpoint(
  app,
  {
    method: 'get',
    path: '/api/v1/analysis/schedule-runs',
    scope: 'analysis',
    limit: 'reads',
    bodyLimit: 'standard',
    tag,
    summary: 'What became of each slot that came, newest first',
    query: z.object({
      schedule_id: z.string().optional(),
      ...PAGE_QUERY,
    }),
    replies: {
      200: {
        description: 'One page',
        schema: z.object({ runs: z.array(ScheduleRunItem), next_page_id: z.string().nullable() }),
      },
      400: { description: 'A page_id that is not one of ours' },
    },
  },
  async (c, { query }) => {
    const scheduleId = query.schedule_id === undefined || query.schedule_id === '' ? null : query.schedule_id
    const [dueAt, of, slot] = pageKeyOf(query.page_id, RunPlace) ?? []
    const after = dueAt === undefined || of === undefined || slot === undefined ? null : { dueAt, scheduleId: of, slot }
    const found = await listRuns(c.env.DB, { owner: ownerOf(c), scheduleId, limit: query.limit + 1, after })
    const { page, next_page_id } = pageOf(found, query.limit, (run) => pageIdOf([run.dueAt, run.scheduleId, run.slot]))
    return c.json({
      next_page_id,
      runs: page.map((run) => ({
        schedule_id: run.scheduleId,
        name: run.name,
        slot: run.slot,
        due_at: isoMicros(run.dueAt),
        claimed_at: isoMicros(run.claimedAt),
        status: run.status,
        detail: run.detail,
        task_ids: run.taskIds,
        left_out: run.leftOut,
      })),
    })
  },
)

const ownerOf = (c: Context<AppEnv>): string => c.get('principal').owner
const notFound = () => new AppError('not_found', 'No such schedule')

async function mustFind(c: Context<AppEnv>, id: string): Promise<ScheduleRow> {
  const row = await findSchedule(c.env.DB, ownerOf(c), id)
  if (row === null) throw notFound()
  return row
}

/** The row for an input. A change that affects neither the time nor `enabled` keeps the unsettled slots. */
async function rowOf(
  c: Context<AppEnv>,
  { enabled, confirm, ...input }: ScheduleInput,
  { known, place, loc }: { known: ScheduleRow | null; place: number; loc: (string | number)[] },
): Promise<{ row: ScheduleRow; readings: Readings }> {
  const asked = SchedulePlan.parse(input)
  const names = await currentNames(stockNameStore(c.env.DB))
  checkZone(asked, loc)
  checkDigest(asked, loc)
  await checkWatchlist(c, asked)
  const { plan, readings: read } = clearStocks(asked, names, { confirm, language: callerLanguage(c) })
  await checkChannels(c, plan)
  const stocks = await plannedStocks(c.env.DB, names, { owner: ownerOf(c), plan })
  const now = Date.now()
  const isSameTime = known?.enabled === enabled && sameTimes(known, plan)
  const since = known !== null && isSameTime ? known.since : now
  const next =
    isSameTime && known?.nextAt != null ? known.nextAt : nextSlot(plan.when, marketsOf(plan, stocks), now)?.at
  const row = {
    id: known?.id ?? hexId(),
    owner: ownerOf(c),
    plan: JSON.stringify(plan),
    enabled,
    since,
    nextAt: enabled ? (next ?? null) : null,
    // Rows of one list get different times, so that the list keeps its order.
    createdAt: known?.createdAt ?? isoMicros(now + place),
    updatedAt: isoMicros(now),
  }
  return { row, readings: read }
}

const sameTimes = ({ plan: before }: ScheduleRow, { when, what }: SchedulePlan): boolean => {
  const known = SchedulePlan.parse(JSON.parse(before))
  return JSON.stringify([known.when, known.what]) === JSON.stringify([when, what])
}

function checkZone({ when }: SchedulePlan, loc: (string | number)[]): void {
  if (!('zone' in when) || !isAmbiguousZone(when.zone)) return
  const reason = 'the abbreviation means several zones; one such as Asia/Shanghai is wanted'
  throw valueError([...loc, 'when', 'zone'], reason, when.zone)
}

/** One message a day, at a fixed time; a digest without a recipient is refused. */
function checkDigest({ what, when, notify }: SchedulePlan, loc: (string | number)[]): void {
  if (what.kind !== 'digest') return
  const times = 'times' in when ? when.times.length : 0
  if (times !== 1)
    throw valueError([...loc, 'when'], 'a digest comes once a day: one time of the clock is wanted', when)
  if (!notify) throw valueError([...loc, 'notify'], 'a digest is a message: it has no other form', notify)
}

async function checkWatchlist(c: Context<AppEnv>, { what }: SchedulePlan): Promise<void> {
  if (what.kind !== 'watchlist' && what.kind !== 'digest') return
  if (what.watchlist_id === null || (await findWatchlist(c.env.DB, ownerOf(c), what.watchlist_id)) !== null) return
  throw refusal(c, ({ noWatchlist }) => noWatchlist)
}

type Cleared = { plan: SchedulePlan; readings: Readings }

/** The plan with every stock resolved: unchanged if clear, or, if confirmed, as the code of the first candidate. */
function clearStocks(
  plan: SchedulePlan,
  names: NameIndex,
  { confirm, language }: { confirm: boolean; language: Language },
): Cleared {
  const { what } = plan
  if (what.kind !== 'analysis') return { plan, readings: [] }
  const entries = what.stock_codes.flatMap((code) => readEntry(code, names, resolveInput) ?? [])
  const unclear = entries.filter(({ rejected }) => rejected !== null)
  const taken = confirm ? unclear.map(takeFirst) : unclear
  const rejected = taken.flatMap((one) => one.rejected ?? [])
  if (rejected.length > 0) throw unclearNames(rejected, language, 'what.stock_codes')
  const codes = new Map(taken.map(({ input, resolved }) => [input, resolved?.stockCode ?? input]))
  const stock_codes = what.stock_codes.map((code) => codes.get(code) ?? code)
  return { plan: { ...plan, what: { ...what, stock_codes } }, readings: taken.map((one) => readingOf(one, language)) }
}

/** Messages to a missing channel would be lost without notice. */
async function checkChannels(c: Context<AppEnv>, { channels }: SchedulePlan): Promise<void> {
  if (channels === null) return
  const known = new Set((await notifyTargets(c.env, ownerOf(c))).map(({ id }) => id))
  const unknown = channels.filter((id) => !known.has(id))
  if (unknown.length === 0) return
  throw refusal(c, (say) => say.noChannels(unknown.map((id) => `"${id}"`).join(', ')))
}

function wire(row: ScheduleRow): Schedule {
  return {
    ...SchedulePlan.parse(JSON.parse(row.plan)),
    schedule_id: row.id,
    enabled: row.enabled,
    next_run_at: row.nextAt === null ? null : isoMicros(row.nextAt),
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  }
}

export { app as schedules }
