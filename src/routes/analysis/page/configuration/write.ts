// A change of the configuration document: parsed with the fields, validated as a whole, and stored in one transaction
// or not at all.

import type { Context } from 'hono'
import { channelRemoval, channelStatements } from '../../../../db/channels.ts'
import { screeningStatement } from '../../../../db/saved-screens.ts'
import { type ScheduleRow, scheduleRemoval, scheduleWrites } from '../../../../db/schedules.ts'
import { type SettingsChange, settingsStatements, touchesSecrets } from '../../../../db/settings.ts'
import { stockNameStore } from '../../../../db/stock-names.ts'
import { stocksReplaced, type WatchedStock, watchlistCreation } from '../../../../db/watchlists.ts'
import { type AppEnv, actorOf } from '../../../../http/app-env.ts'
import type { CallerLanguage } from '../../../../http/caller-language.ts'
import { AppError } from '../../../../http/errors.ts'
import { currentNames } from '../../../../kits/market-names/index.ts'
import { isoMicros } from '../../../../lib/clock.ts'
import { hexId } from '../../../../lib/crypto.ts'
import { partsOf } from '../../../../llm/providers.ts'
import { CHANNELS, type ChannelKind } from '../../../../notify/registry.ts'
import { marketsOf, nextSlot, plannedStocks, SchedulePlan } from '../../../../schedule/plan.ts'
import { MAX_STOCKS, stocksOf } from '../../watchlists.ts'
import { DEFAULT_NAME } from '../../watchlists-default.ts'
import { DEFAULT_ZONE, type Draft, type Field, fieldOf, MASK, mayChange, type Problem } from './fields.ts'
import { channelOf, PAGE_SCHEDULE, type PageState } from './state.ts'
import { type ConfigTexts, configTexts, fieldWords } from './texts.ts'

export type Item = { key: string; value: string }

export type Issue = Problem & { key: string; severity: 'error' }

const MAX_CHANNELS = 50
const MANY = Number.MAX_SAFE_INTEGER

type Reading = {
  draft: Draft
  issues: Issue[]
  /** The keys with an accepted value. */
  taken: string[]
  /** The number of masks for which the stored value was kept. */
  masked: number
}

/** Reads the items; an error in one does not prevent the check of the others. */
export function readItems(state: PageState, items: readonly Item[], language: CallerLanguage): Reading {
  const say = configTexts(language)
  const wordsOf: Draft['wordsOf'] = (field) => fieldWords(field, language)
  const draft: Draft = {
    settings: {},
    stocks: null,
    schedule: {},
    channels: {},
    model: {},
    screening: null,
    notes: [],
    say,
    wordsOf,
  }
  const reading: Reading = { draft, issues: [], taken: [], masked: 0 }
  const keepsKey = items.some(({ key, value }) => /^LLM_.+_API_KEYS?$/.test(key) && isMask(value))
  for (const { key: asked, value } of items) {
    const key = asked.trim().toUpperCase()
    const field = fieldOf(key)
    if (field === null) {
      reading.issues.push(issueOf(key, { code: 'unknown_key', message: say.unknownKey }))
    } else if (field.isSensitive && (isMask(value) || (keepsKey && /_API_KEYS?$/.test(field.key)))) {
      reading.masked += 1
    } else if (value !== field.value(state)) {
      const problem = writeField(field, { state, value, draft })
      if (problem === null) reading.taken.push(key)
      else reading.issues.push(issueOf(key, problem))
    }
  }
  return reading
}

const isMask = (value: string): boolean => value !== '' && value.split(',').every((one) => one.trim() === MASK)

const issueOf = (key: string, problem: Problem): Issue => ({ key, severity: 'error', ...problem })

function writeField(
  field: Field,
  { state, value, draft }: { state: PageState; value: string; draft: Draft },
): Problem | null {
  if (!mayChange(field, state) || field.write === undefined) {
    return { code: 'read_only', message: draft.say.readOnly(...draft.wordsOf(field)) }
  }
  return field.write(value, draft)
}

export type Planned = { statements: D1PreparedStatement[]; issues: Issue[]; touchesSecrets: boolean }

/** The statements of a draft, or its errors as a whole. Nothing is stored. */
export async function planned(c: Context<AppEnv>, state: PageState, draft: Draft): Promise<Planned> {
  const settings = settingsOf(state, draft)
  const list = await listOf(c, state, draft)
  const schedule =
    list.issue === null ? await scheduleOf(c, state, { draft, ...list }) : { issue: null, statements: [] }
  const channels = await channelsOf(c, state, draft)
  const by = { owner: ownerOf(c), actor: actorOf(c.get('principal')) }
  const changed = Object.keys(settings).length > 0
  return {
    issues: [list.issue, schedule.issue, ...channels.issues].filter((issue) => issue !== null),
    statements: [
      ...(changed ? await settingsStatements(c.env, { ...by, change: settings }) : []),
      ...list.statements,
      ...schedule.statements,
      ...channels.statements,
      ...(draft.screening === null
        ? []
        : [screeningStatement(c.env.DB, by.owner, { now: Date.now(), isShown: draft.screening })]),
    ],
    touchesSecrets: changed && touchesSecrets(settings),
  }
}

const ownerOf = (c: Context<AppEnv>): string => c.get('principal').owner

/** The page sends provider and name separately; the settings have one value. */
function settingsOf({ settings }: PageState, { settings: change, model }: Draft): SettingsChange {
  if (model.protocol === undefined && model.name === undefined) return change
  if ((change.llmModel ?? '') !== '') return change
  const { prefix, model: name } = partsOf(settings.llmModel?.trim() ?? '')
  const [protocol, wanted] = [model.protocol ?? prefix ?? '', model.name ?? name]
  const isWhole = protocol === '' || wanted.startsWith(`${protocol}/`)
  return { ...change, llmModel: wanted === '' ? null : isWhole ? wanted : `${protocol}/${wanted}` }
}

type Listed = {
  /** Null: there is none, and none will be created. */
  id: string | null
  stocks: readonly WatchedStock[]
  statements: D1PreparedStatement[]
  issue: Issue | null
}

async function listOf(c: Context<AppEnv>, { list }: PageState, { stocks: text, say }: Draft): Promise<Listed> {
  const kept = list?.stocks ?? []
  if (text === null) return { id: list?.id ?? null, stocks: kept, statements: [], issue: null }
  const entries = text.split(/[,，;；\n]+/).flatMap((one) => one.trim() || [])
  const read = await readStocks(c, kept, { entries, say })
  if (!Array.isArray(read)) return { id: null, stocks: [], statements: [], issue: read }
  const { env } = c
  if (list !== null) {
    const statements = stocksReplaced(env.DB, ownerOf(c), { id: list.id, stocks: read })
    return { id: list.id, stocks: read, statements, issue: null }
  }
  if (read.length === 0) return { id: null, stocks: [], statements: [], issue: null }
  const createdAt = isoMicros(Date.now())
  const created = { id: hexId(), name: DEFAULT_NAME, note: '', isDefault: true, createdAt, stocks: read }
  const statements = watchlistCreation(env.DB, ownerOf(c), { list: created, most: MANY })
  return { id: created.id, stocks: read, statements, issue: null }
}

/** A stock that is already in the list is not changed; new ones are resolved like names and codes everywhere. */
async function readStocks(
  c: Context<AppEnv>,
  kept: readonly WatchedStock[],
  { entries, say }: { entries: readonly string[]; say: ConfigTexts },
): Promise<WatchedStock[] | Issue> {
  const found = new Map<string, WatchedStock>()
  const wrong: string[] = []
  for (const entry of entries) {
    const known = kept.find(({ stockCode }) => stockCode === entry.toUpperCase())
    try {
      for (const stock of known ? [known] : (await stocksOf(c, [entry])).stocks) found.set(stock.key, stock)
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'bad_request')) throw error
      wrong.push(error.message)
    }
  }
  if (found.size > MAX_STOCKS) wrong.push(say.fullList(MAX_STOCKS))
  if (wrong.length === 0) return [...found.values()]
  const more = wrong.length > SHOWN_WRONG ? ` (+${wrong.length - SHOWN_WRONG})` : ''
  const message = `${wrong.slice(0, SHOWN_WRONG).join('; ')}${more}`
  return issueOf('STOCK_LIST', { code: 'invalid_value', message })
}

const SHOWN_WRONG = 5

type Scheduled = { statements: D1PreparedStatement[]; issue: Issue | null }

async function scheduleOf(
  c: Context<AppEnv>,
  { schedule }: PageState,
  { draft, id: listId, stocks }: { draft: Draft; id: string | null; stocks: readonly WatchedStock[] },
): Promise<Scheduled> {
  const { isOn, times: asked, zone } = draft.schedule
  const nothing = { statements: [], issue: null }
  if (isOn === undefined && asked === undefined && zone === undefined) return nothing
  const wrong = (key: string, message: string) => ({
    statements: [],
    issue: issueOf(key, { code: 'invalid_value', message }),
  })
  const before = schedule !== null && 'times' in schedule.plan.when ? schedule.plan.when : null
  const times = asked ?? before?.times ?? []
  const enabled = isOn ?? schedule?.row.enabled ?? false
  if (times.length === 0) {
    if (enabled) return wrong('SCHEDULE_TIMES', draft.say.noTime)
    return schedule === null
      ? nothing
      : { statements: [scheduleRemoval(c.env.DB, ownerOf(c), schedule.row.id)], issue: null }
  }
  if (listId === null || stocks.length === 0) return wrong('STOCK_LIST', draft.say.noStock)
  const read = SchedulePlan.safeParse({
    ...schedule?.plan,
    name: PAGE_SCHEDULE,
    what: { kind: 'watchlist', watchlist_id: listId },
    when: { ...before, times, zone: zone ?? before?.zone ?? DEFAULT_ZONE },
  })
  if (!read.success) return wrong('SCHEDULE_TIMES', draft.say.timesUnfit)
  const row = await rowOf(c, { plan: read.data, enabled, before: schedule?.row ?? null })
  return { statements: scheduleWrites(c.env.DB, ownerOf(c), [row]), issue: null }
}

type NewRow = { plan: SchedulePlan; enabled: boolean; before: ScheduleRow | null }

async function rowOf(c: Context<AppEnv>, { plan, enabled, before }: NewRow): Promise<ScheduleRow> {
  const now = Date.now()
  const names = await currentNames(stockNameStore(c.env.DB))
  const stocks = await plannedStocks(c.env.DB, names, { owner: ownerOf(c), plan })
  return {
    id: before?.id ?? hexId(),
    owner: ownerOf(c),
    plan: JSON.stringify(plan),
    enabled,
    since: now,
    nextAt: enabled ? (nextSlot(plan.when, marketsOf(plan, stocks), now)?.at ?? null) : null,
    createdAt: before?.createdAt ?? isoMicros(now),
    updatedAt: isoMicros(now),
  }
}

type Channelled = { statements: D1PreparedStatement[]; issues: Issue[] }

async function channelsOf(c: Context<AppEnv>, state: PageState, { channels, say }: Draft): Promise<Channelled> {
  const all: Channelled = { statements: [], issues: [] }
  for (const [kind, change] of Object.entries(channels) as [ChannelKind, Record<string, unknown>][]) {
    const { statements, issues } = await channelChange(c, state, { kind, change, say })
    all.statements.push(...statements)
    all.issues.push(...issues)
  }
  return all
}

async function channelChange(
  c: Context<AppEnv>,
  state: PageState,
  { kind, change, say }: { kind: ChannelKind; change: Record<string, unknown>; say: ConfigTexts },
): Promise<Channelled> {
  const row = channelOf(state, kind)
  const by = { owner: ownerOf(c), actor: actorOf(c.get('principal')) }
  const whole = mergedChannel({ ...row?.shown, ...row?.secret }, change)
  const isGone = Object.entries(change).some(([name, value]) => value === null && isNeeded(kind, name))
  if (isGone) return { statements: row === null ? [] : channelRemoval(c.env.DB, by, row.id), issues: [] }
  const read = CHANNELS[kind].settings.safeParse(whole)
  if (!read.success) {
    const [issue] = read.error.issues
    const name = String(issue?.path[0] ?? '')
    return { statements: [], issues: [issueOf(keyOf(kind, name), channelProblem(name, whole[name], say))] }
  }
  const { secrets } = CHANNELS[kind]
  const part = (isSecret: boolean) =>
    Object.fromEntries(Object.entries(read.data).filter(([name]) => secrets.includes(name) === isSecret))
  const write = {
    ...{ id: row?.id ?? `page-${kind}`, kind, mode: row?.mode ?? ('single' as const) },
    ...{ isEnabled: row?.isEnabled ?? true, shown: part(false), secret: part(true) },
    ...{ now: isoMicros(Date.now()), most: MAX_CHANNELS },
  }
  return { statements: await channelStatements(c.env, by, write), issues: [] }
}

const mergedChannel = (before: Record<string, unknown>, change: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries({ ...before, ...change }).filter(([, value]) => value !== null))

const isNeeded = (kind: ChannelKind, name: string): boolean => {
  const field = (CHANNELS[kind].settings.shape as Record<string, { safeParse(value: unknown): { success: boolean } }>)[
    name
  ]
  return field !== undefined && !field.safeParse(undefined).success
}

function channelProblem(name: string, value: unknown, say: ConfigTexts): Problem {
  if (value === undefined) return { code: 'invalid_value', message: say.needed }
  return { code: 'invalid_format', message: name.endsWith('url') ? say.address : say.unfit }
}

/** The settings that a channel would have after the draft, and which stored secrets it still uses. */
export function draftChannel(state: PageState, draft: Draft, kind: ChannelKind) {
  const row = channelOf(state, kind)
  const stored = { ...row?.shown, ...row?.secret }
  const change = draft.channels[kind] ?? {}
  const kept = CHANNELS[kind].secrets.filter((name) => !ADDRESSES.has(name) && name in stored && !(name in change))
  const hasOtherAddress = Object.keys(change).some((name) => ADDRESSES.has(name) && change[name] !== stored[name])
  return {
    id: row?.id ?? `page-${kind}`,
    settings: mergedChannel(stored, change),
    isMixed: kept.length > 0 && hasOtherAddress,
  }
}

const ADDRESSES: ReadonlySet<string> = new Set(['url', 'webhook_url', 'api_url', 'topic'])

/** The key of a channel's setting in the document. */
const keyOf = (kind: ChannelKind, name: string): string =>
  CHANNEL_KEYS[`${kind}.${name}`] ?? `${kind}.${name}`.toUpperCase()

const CHANNEL_KEYS: Readonly<Record<string, string>> = {
  'wecom.webhook_url': 'WECHAT_WEBHOOK_URL',
  'feishu.webhook_url': 'FEISHU_WEBHOOK_URL',
  'feishu.secret': 'FEISHU_WEBHOOK_SECRET',
  'telegram.bot_token': 'TELEGRAM_BOT_TOKEN',
  'telegram.chat_id': 'TELEGRAM_CHAT_ID',
  'discord.webhook_url': 'DISCORD_WEBHOOK_URL',
  'slack.webhook_url': 'SLACK_WEBHOOK_URL',
  'pushover.user': 'PUSHOVER_USER_KEY',
  'pushover.token': 'PUSHOVER_API_TOKEN',
  'ntfy.url': 'NTFY_URL',
  'ntfy.topic': 'NTFY_URL',
  'ntfy.token': 'NTFY_TOKEN',
  'gotify.url': 'GOTIFY_URL',
  'gotify.token': 'GOTIFY_TOKEN',
  'pushplus.token': 'PUSHPLUS_TOKEN',
  'pushplus.topic': 'PUSHPLUS_TOPIC',
  'serverchan.key': 'SERVERCHAN3_SENDKEY',
  'webhook.url': 'CUSTOM_WEBHOOK_URLS',
  'webhook.token': 'CUSTOM_WEBHOOK_BEARER_TOKEN',
}
