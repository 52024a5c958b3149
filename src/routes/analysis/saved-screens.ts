// Saved screens: create, change, run manually or automatically, and their results.

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { config } from '../../config.ts'
import { notifyTargets } from '../../db/channels.ts'
import {
  addScreen,
  changeScreen,
  deleteAllScreens,
  deleteScreen,
  findScreen,
  listRuns,
  listScreens,
  type NewScreen,
  type SavedScreen,
} from '../../db/saved-screens.ts'
import type { AppEnv } from '../../http/app-env.ts'
import { callerLanguage } from '../../http/caller-language.ts'
import { AppError, analysisEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { isoMicros } from '../../lib/clock.ts'
import { laxBool } from '../../lib/lax.ts'
import { isAmbiguousZone, nextSlot, type ScheduleTime, WhenSchema } from '../../schedule/plan.ts'
import { type Screen, ScreenInput } from '../../screening/filter.ts'
import { compareScreen, runItem } from '../../screening/runs.ts'
import { pageQuery } from './page/alert-schemas.ts'
import {
  ROOT,
  reading,
  readOrRefuse,
  ScreenCounts,
  ScreenDefinition,
  ScreenedListing,
  screened,
  screenedSchema,
  toldListing,
  wordsOf,
} from './screening.ts'

const app = router(analysisEnvelope)
const LIST = `${ROOT}/screens`
const ONE = `${LIST}/{screen_id}`
const changing = { ...reading, method: 'post', limit: 'writes' } as const

/** For one owner. */
const MOST_SCREENS = 100
const MOST_CHANNELS = 20
const LONGEST_NAME = 64

const fields = {
  name: z.string().trim().min(1).max(LONGEST_NAME).describe('Its name, one line'),
  screen: ScreenDefinition.describe('What it looks for'),
  schedule: WhenSchema.nullable().describe(
    'When it runs by itself: `times` with `zone` and `days`, or `after_close_minutes`; null for never',
  ),
  enabled: laxBool().describe('Whether it runs by itself'),
  channels: z.array(z.string().min(1).max(100)).max(MOST_CHANNELS).nullable().describe('Where it tells; null for all'),
}

const ScreenNew = z
  .strictObject({
    ...fields,
    schedule: fields.schedule.default(null),
    enabled: fields.enabled.default(true),
    channels: fields.channels.default(null),
  })
  .openapi('SavedScreenInput')
const ScreenChange = z
  .strictObject({
    name: fields.name.optional(),
    screen: fields.screen.optional(),
    schedule: fields.schedule.optional(),
    enabled: fields.enabled.optional(),
    channels: fields.channels.optional(),
  })
  .openapi('SavedScreenChange')

const Text = z.string().nullable()
const SavedItem = z
  .object({
    id: z.int().describe('The number of the screen'),
    ...fields,
    next_run_at: Text.describe('When it runs next; null for never'),
    last_run_at: Text.describe('When it ran by itself last'),
    matched: z.int().nullable().describe('How many matched then; null before'),
    created_at: z.string().describe('When it was made'),
    updated_at: z.string().describe('When it was changed last'),
  })
  .openapi('SavedScreen')

const params = z.object({ screen_id: z.string().describe('The number of the screen') })
const missing = { 404: { description: 'No such screen' } }
const asItIs = { 200: { description: 'The screen as it is now', schema: SavedItem }, ...missing }
const refused = {
  400: { description: 'Something in it is wrong; `message` names the place' },
  403: { description: 'No figures are kept here' },
}
const paged = {
  total: z.int().describe('How many there are'),
  page: z.int().describe('From 1'),
  page_size: z.int().describe('Of a page'),
}

function item(saved: SavedScreen): z.infer<typeof SavedItem> {
  const { id, name, isEnabled: enabled, members } = saved
  return {
    ...{ id, name, screen: ScreenInput.parse(JSON.parse(saved.screen)), enabled },
    schedule: saved.schedule === null ? null : WhenSchema.parse(JSON.parse(saved.schedule)),
    channels: saved.channels === null ? null : (JSON.parse(saved.channels) as string[]),
    next_run_at: saved.nextAt === null || !enabled ? null : isoMicros(saved.nextAt),
    last_run_at: saved.lastRunAt,
    matched: members === null ? null : (JSON.parse(members) as string[]).length,
    ...{ created_at: saved.createdAt, updated_at: saved.updatedAt },
  }
}

async function screenAt(c: Context<AppEnv>, id: string): Promise<SavedScreen> {
  const isNumber = /^[1-9]\d{0,14}$/.test(id)
  const saved = isNumber ? await findScreen(c.env.DB, c.get('principal').owner, Number(id)) : null
  if (saved === null) throw new AppError('not_found', wordsOf(c).entry.none)
  return saved
}

/** A validated request, converted to the stored form. */
async function entered(c: Context<AppEnv>, body: z.infer<typeof ScreenNew>): Promise<NewScreen> {
  const { entry } = wordsOf(c)
  if (/\p{C}/u.test(body.name)) throw new AppError('bad_request', entry.oneLine)
  const screen = readOrRefuse(c, body.screen)
  const { schedule, channels } = body
  if (schedule !== null && 'zone' in schedule && isAmbiguousZone(schedule.zone))
    throw new AppError('bad_request', entry.times)
  const { owner } = c.get('principal')
  if (channels !== null && channels.length > 0) {
    const known = new Set((await notifyTargets(c.env, owner)).map(({ id }) => id))
    const unknown = channels.filter((id) => !known.has(id))
    if (unknown.length > 0) throw new AppError('bad_request', entry.noChannels(unknown.join(', ')))
  }
  return {
    ...{ owner, name: body.name, screen: JSON.stringify(body.screen), isEnabled: body.enabled },
    schedule: schedule === null ? null : JSON.stringify(schedule),
    channels: channels === null || channels.length === 0 ? null : JSON.stringify(channels),
    language: callerLanguage(c),
    nextAt: schedule === null || !body.enabled ? null : nextRun(c, schedule, screen),
  }
}

const nextRun = (c: Context<AppEnv>, when: ScheduleTime, { markets }: Screen): number | null =>
  nextSlot(when, markets.length === 0 ? config(c.env).screening.markets : markets, Date.now())?.at ?? null

endpoint(
  app,
  {
    ...reading,
    path: LIST,
    summary: 'Your saved screens, the last changed first',
    query: z.object(pageQuery),
    replies: {
      200: {
        description: 'A page of them',
        schema: z.object({ items: z.array(SavedItem).describe('The screens'), ...paged }).openapi('SavedScreens'),
      },
    },
  },
  async (c, { query: { page, page_size } }) => {
    const window = { limit: page_size, offset: (page - 1) * page_size }
    const { items, total } = await listScreens(c.env.DB, c.get('principal').owner, window)
    return c.json({ items: items.map(item), total, page, page_size })
  },
)

endpoint(
  app,
  {
    ...changing,
    path: LIST,
    summary: 'Save a screen; its first run by itself says only how things are',
    body: { required: true, schema: ScreenNew },
    example: {
      body: {
        name: 'Cheap and rising',
        screen: {
          markets: ['cn'],
          where: { and: [{ field: 'pe_ratio', op: 'between', value: [0.1, 15] }] },
          sort: [{ field: 'pe_ratio', order: 'asc' }],
        },
        schedule: { after_close_minutes: 120 },
      },
    },
    replies: {
      200: { description: 'The screen', schema: SavedItem },
      ...refused,
      404: { description: 'It was deleted at the same moment' },
    },
  },
  async (c, { body }) => {
    const screen = await entered(c, body)
    const id = await addScreen(c.env.DB, screen, { at: isoMicros(Date.now()), most: MOST_SCREENS })
    if (id === null) throw new AppError('bad_request', wordsOf(c).entry.tooMany(MOST_SCREENS))
    return c.json(item(await screenAt(c, String(id))))
  },
)

endpoint(
  app,
  {
    ...changing,
    method: 'delete',
    path: LIST,
    summary: 'Delete all of your screens, what they found, and that you screen at all',
    replies: {
      200: {
        description: 'They are gone',
        schema: z.object({ deleted: z.int().describe('How many rows there were') }),
      },
    },
  },
  async (c) => c.json({ deleted: await deleteAllScreens(c.env.DB, c.get('principal').owner) }),
)

endpoint(
  app,
  { ...reading, path: ONE, summary: 'One saved screen', params, replies: asItIs },
  async (c, { params: { screen_id } }) => c.json(item(await screenAt(c, screen_id))),
)

endpoint(
  app,
  {
    ...changing,
    method: 'patch',
    path: ONE,
    summary: 'Change a saved screen; what is left out stays, and another filter begins afresh',
    params,
    body: { required: true, schema: ScreenChange },
    example: { body: { enabled: false } },
    replies: { ...asItIs, ...refused },
  },
  async (c, { params: { screen_id }, body }) => {
    const before = await screenAt(c, screen_id)
    const { name, screen, schedule, enabled, channels } = item(before)
    const given = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
    const after = await entered(c, ScreenNew.parse({ name, screen, schedule, enabled, channels, ...given }))
    const isOther = after.screen !== before.screen
    await changeScreen(c.env.DB, { ...after, id: before.id }, { at: isoMicros(Date.now()), isOther })
    return c.json(item(await screenAt(c, screen_id)))
  },
)

endpoint(
  app,
  {
    ...changing,
    method: 'delete',
    path: ONE,
    summary: 'Delete a saved screen with what it found',
    params,
    replies: {
      200: { description: 'It is gone', schema: z.object({ deleted: z.literal(1).describe('Always 1') }) },
      ...missing,
    },
  },
  async (c, { params: { screen_id } }) => {
    const { owner, id } = await screenAt(c, screen_id)
    if (!(await deleteScreen(c.env.DB, owner, id))) throw new AppError('not_found', wordsOf(c).entry.none)
    return c.json({ deleted: 1 as const })
  },
)

const ScreenRun = z
  .object({
    ...screenedSchema.shape,
    is_first: z.boolean().describe('It has not run by itself yet, so there is nothing to compare with'),
    new_codes: z.array(z.string()).describe('Those that did not match when it ran by itself last'),
  })
  .openapi('SavedScreenRun')

endpoint(
  app,
  {
    ...changing,
    limit: 'screens',
    path: `${ONE}/run`,
    summary: 'What a saved screen finds now, and what is new since it ran by itself; nothing is stored or sent',
    params,
    query: z.object(pageQuery),
    replies: { 200: { description: 'A page of it', schema: ScreenRun }, ...refused, ...missing },
  },
  async (c, { params: { screen_id }, query }) => {
    const saved = await screenAt(c, screen_id)
    const screen = readOrRefuse(c, ScreenInput.parse(JSON.parse(saved.screen)))
    const found = await screened(c, screen, query)
    const { fresh, isFirst } = await compareScreen(c.env.DB, { saved, screen, now: Date.now() })
    const new_codes = isFirst ? [] : fresh.map(({ code }) => code)
    return c.json({ ...found, is_first: isFirst, new_codes })
  },
)

const RunItem = z
  .object({
    id: z.int().describe('The number of the run'),
    uid: z.string().describe('The same in the event stream'),
    screen_id: z.int().describe('The screen'),
    screen_name: z.string().describe('Its name then'),
    slot: z.string().describe('The time that it ran for'),
    ran_at: z.string().describe('When it ran'),
    is_first: z.boolean().describe('It had nothing to compare with'),
    counts: ScreenCounts.describe('What there was to look at'),
    new_count: z.int().describe('How many are new'),
    new_listings: z.array(ScreenedListing).describe('At most 200 of them, with their figures of then'),
    is_told: z.boolean().describe('Whether a message was made of it'),
  })
  .openapi('ScreenRun')

endpoint(
  app,
  {
    ...reading,
    path: `${ONE}/runs`,
    summary: 'What a saved screen found when it ran by itself, the newest run first; kept for 90 days',
    params,
    query: z.object(pageQuery),
    replies: {
      200: {
        description: 'A page of runs',
        schema: z.object({ items: z.array(RunItem).describe('The runs'), ...paged }).openapi('ScreenRuns'),
      },
      ...missing,
    },
  },
  async (c, { params: { screen_id }, query: { page, page_size } }) => {
    const { owner, id: screenId } = await screenAt(c, screen_id)
    const window = { screenId, limit: page_size, offset: (page - 1) * page_size }
    const { items, total } = await listRuns(c.env.DB, owner, window)
    const told = items.map(runItem).map(({ new_listings, ...rest }) => {
      return { ...rest, new_listings: new_listings.map((one) => toldListing(one, c)) }
    })
    return c.json({ items: told, total, page, page_size })
  },
)

export { app as savedScreens }
