import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { config } from '../../config.ts'
import {
  type ChannelRow,
  channelStarts,
  deleteChannel,
  findChannel,
  listChannels,
  noteChannelTest,
  operatorTargets,
  saveChannel,
  targetOf,
} from '../../db/channels.ts'
import { type AppEnv, actorOf } from '../../http/app-env.ts'
import { AppError, analysisEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { invalid, valueError } from '../../http/validation.ts'
import { isoMicros } from '../../lib/clock.ts'
import { hexId } from '../../lib/crypto.ts'
import { laxBool } from '../../lib/lax.ts'
import {
  type Channel as ChannelType,
  later,
  longestWindowMs,
  type Part,
  paceWaitMs,
  type Verdict,
} from '../../notify/channel.ts'
import { testMessage } from '../../notify/message.ts'
import { CHANNEL_KINDS, CHANNELS } from '../../notify/registry.ts'
import { isReachable, type Opened, openTarget, sendPart, type Target } from '../../notify/send.ts'
import { refusalError } from './refusals.ts'

const MAX_CHANNELS = 50

/** Ids of the operator's channels from the environment start with this. */
const OPERATOR_PREFIX = 'operator-'

const ChannelId = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'small letters, digits, _ and - are wanted')
  .refine((id) => !id.startsWith(OPERATOR_PREFIX), { error: `ids that begin with ${OPERATOR_PREFIX} are taken` })

const Mode = z
  .enum(['single', 'digest'])
  .describe('`digest`: the reports of what was asked for together come as one message when the last is there')

/** All fields of a change are optional: a missing one is not changed, null removes it. */
function settingsOf({ settings, secrets }: ChannelType) {
  const fields = Object.entries(settings.shape).map(([name, field]) => {
    // A default is used when a channel is created, not when a change leaves the field out.
    const bare = field instanceof z.ZodDefault ? field.unwrap() : field
    const optional = (bare as z.ZodType).nullish()
    return [name, secrets.includes(name) ? optional.describe('Never shown') : optional]
  })
  return z
    .strictObject(Object.fromEntries(fields) as Record<string, z.ZodType>)
    .describe('Of a channel of the same kind, what is left out stays as it is; null takes it away')
}

const inputs = CHANNEL_KINDS.map((kind) =>
  z
    .object({
      kind: z.literal(kind),
      settings: settingsOf(CHANNELS[kind]),
      mode: Mode.optional(),
      enabled: laxBool().optional(),
    })
    .openapi(`ChannelInput_${kind}`),
)

const ChannelInput = z
  .discriminatedUnion('kind', inputs as [(typeof inputs)[number], ...typeof inputs])
  .openapi('ChannelInput')
type ChannelInput = z.infer<typeof ChannelInput>

const Channel = z
  .object({
    channel_id: z.string(),
    kind: z.enum(CHANNEL_KINDS),
    mode: Mode,
    enabled: z.boolean(),
    settings: z.record(z.string(), z.unknown()).describe('Without what is sealed'),
    secrets_set: z.array(z.string()).describe('The names of the sealed settings that have a value'),
    readable: z.boolean().describe('False when what is sealed cannot be opened any more'),
    from_environment: z.boolean().describe("The operator's own, which only the environment changes"),
    created_at: z.string().nullable(),
    updated_at: z.string().nullable(),
  })
  .openapi('Channel')
type Channel = z.infer<typeof Channel>

const ChannelTest = z
  .object({
    ok: z.boolean(),
    outcome: z
      .enum(['sent', 'rejected', 'later', 'unknown'])
      .describe('`later`: the service asked to be left alone for now; `unknown`: no answer came'),
    error: z.string().nullable(),
    retry_after_seconds: z.number().nullable(),
  })
  .openapi('ChannelTest')

const app = router(analysisEnvelope)
const tag = 'Notifications'
const PATH = '/api/v1/analysis/channels'
const ONE = `${PATH}/{channel_id}`
const params = z.object({ channel_id: z.string() })
const missing = { 404: { description: 'No such channel' } }

endpoint(
  app,
  {
    method: 'get',
    path: PATH,
    scope: 'analysis',
    limit: 'reads',
    bodyLimit: 'standard',
    tag,
    summary: 'Where your reports are sent',
    replies: { 200: { description: 'Your channels by id', schema: z.object({ channels: z.array(Channel) }) } },
  },
  async (c) => {
    const rows = await listChannels(c.env, ownerOf(c))
    return c.json({ channels: [...rows.map(wire), ...operatorTargets(c.env, ownerOf(c)).map(wireOperator)] })
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
    summary: 'One channel',
    params,
    replies: { 200: { description: 'The channel', schema: Channel }, ...missing },
  },
  async (c, { params: { channel_id } }) => {
    const row = await findChannel(c.env, ownerOf(c), channel_id)
    const operators = operatorTargets(c.env, ownerOf(c)).find(({ id }) => id === channel_id)
    if (row === null && operators === undefined) throw notFound()
    return c.json(row === null ? operators && wireOperator(operators) : wire(row))
  },
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
    summary: 'Make or change a channel',
    params: z.object({ channel_id: ChannelId }),
    body: { schema: ChannelInput, required: true },
    replies: {
      200: { description: 'The channel', schema: Channel },
      400: { description: 'Too many channels' },
    },
  },
  async (c, { params: { channel_id: id }, body }) => {
    const owner = ownerOf(c)
    const known = await findChannel(c.env, owner, id)
    const settings = merged(body, known?.kind === body.kind ? { ...known.shown, ...known.secret } : {})
    const { secrets } = CHANNELS[body.kind]
    const [shown, secret] = [false, true].map((isSecret) =>
      Object.fromEntries(Object.entries(settings).filter(([name]) => secrets.includes(name) === isSecret)),
    )
    const by = { owner, actor: actorOf(c.get('principal')) }
    const { kind, mode = known?.mode ?? 'single', enabled: isEnabled = known?.isEnabled ?? true } = body
    const write = { id, kind, mode, isEnabled, shown: shown ?? {}, secret: secret ?? {} }
    const saved = await saveChannel(c.env, by, { ...write, now: isoMicros(Date.now()), most: MAX_CHANNELS })
    if (saved === null) throw refusalError(c, (say) => say.channels(MAX_CHANNELS))
    return c.json(wire(saved))
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
    summary: 'Delete a channel; what was still to be sent there fails',
    params,
    replies: { 200: { description: 'Deleted', schema: z.object({ deleted: z.literal(true) }) }, ...missing },
  },
  async (c, { params: { channel_id } }) => {
    const by = { owner: ownerOf(c), actor: actorOf(c.get('principal')) }
    if (!(await deleteChannel(c.env, by, channel_id))) throw notFound()
    return c.json({ deleted: true as const })
  },
)

endpoint(
  app,
  {
    method: 'post',
    path: `${ONE}/test`,
    scope: 'analysis',
    limit: 'writes',
    bodyLimit: 'standard',
    tag,
    summary: 'Send a test message there, also while the channel is switched off',
    params,
    replies: { 200: { description: 'What became of it', schema: ChannelTest }, ...missing },
  },
  async (c, { params: { channel_id } }) => {
    const operators = operatorTargets(c.env, ownerOf(c)).find(({ id }) => id === channel_id)
    const target = operators ?? targetOf(await mustFind(c, channel_id))
    const { addressPolicy, reportLanguage } = config(c.env)
    const opened = openTarget(target, addressPolicy)
    if (opened === null) return c.json(testOf(unreadable))
    const part = { ...testMessage(channel_id, reportLanguage), key: hexId(), n: 1, of: 1 }
    return c.json(testOf(await testChannel(c, { channelId: channel_id, opened, part })))
  },
)

/**
 * Sends the message unless the rate limit is exceeded or the channel cannot be reached. It counts towards the channel's
 * rate limit, like every message.
 */
export async function testChannel(
  c: Context<AppEnv>,
  { channelId, opened, part }: { channelId: string; opened: Opened; part: Part },
  timing: { timeoutMs?: number } = {},
): Promise<Verdict> {
  const at = Date.now()
  const { pace } = opened.line
  const channel = { owner: ownerOf(c), channelId }
  const starts = await channelStarts(c.env.DB, { ...channel, since: at - longestWindowMs(pace) })
  const waitMs = paceWaitMs(pace, starts, at)
  if (waitMs > 0) return later('the channel has been used as often as its service allows', waitMs)
  if (!(await isReachable(opened, part, at))) return later('the service cannot be reached')
  await noteChannelTest(c.env.DB, { ...channel, at })
  return sendPart(opened, part, { at, ...timing })
}

const unreadable: Verdict = { ok: false, outcome: 'rejected', reason: 'the settings of the channel cannot be read' }

function testOf(verdict: Verdict): z.infer<typeof ChannelTest> {
  if (verdict.ok) return { ok: true, outcome: 'sent', error: null, retry_after_seconds: null }
  const { reason: error, outcome } = verdict
  const waitMs = outcome === 'later' ? verdict.retryAfterMs : null
  return {
    ok: false,
    // If the message is refused with markup twice, it counts as rejected.
    outcome: outcome === 'plain' ? 'rejected' : outcome,
    error,
    retry_after_seconds: waitMs === null ? null : Math.ceil(waitMs / 1000),
  }
}

const ownerOf = (c: Context<AppEnv>): string => c.get('principal').owner
const notFound = () => new AppError('not_found', 'No such channel')

async function mustFind(c: Context<AppEnv>, id: string): Promise<ChannelRow> {
  const row = await findChannel(c.env, ownerOf(c), id)
  if (row === null) throw notFound()
  return row
}

/** The complete settings: missing fields keep their value, null removes it. */
function merged({ kind, settings }: ChannelInput, before: Record<string, unknown>): Record<string, unknown> {
  const { settings: schema } = CHANNELS[kind]
  const given = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))
  const whole = Object.fromEntries(Object.entries({ ...before, ...given }).filter(([, value]) => value !== null))
  const parsed = schema.safeParse(whole)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const path = (issue?.path ?? []).filter((step) => typeof step !== 'symbol')
  const loc = ['body', 'settings', ...path]
  if (whole[String(path[0])] !== undefined) throw valueError(loc, 'it does not fit', null)
  // The other settings may be secret: their names are shown, but not their values.
  const input = Object.fromEntries(Object.keys(given).map((name) => [name, '**********']))
  throw invalid([{ type: 'missing', loc, msg: 'Field required', input }])
}

function wire({ id, kind, mode, isEnabled, shown, secret, createdAt, updatedAt }: ChannelRow): Channel {
  return {
    channel_id: id,
    kind,
    mode,
    enabled: isEnabled,
    settings: shown,
    secrets_set: Object.keys(secret ?? {}).sort(),
    readable: secret !== null,
    from_environment: false,
    created_at: createdAt,
    updated_at: updatedAt,
  }
}

function wireOperator({ id, kind, mode, isEnabled, settings }: Target): Channel {
  const { secrets } = CHANNELS[kind]
  const entries = Object.entries(settings ?? {})
  return {
    channel_id: id,
    kind,
    mode,
    enabled: isEnabled,
    settings: Object.fromEntries(entries.filter(([name]) => !secrets.includes(name))),
    secrets_set: entries.map(([name]) => name).filter((name) => secrets.includes(name)),
    readable: true,
    from_environment: true,
    created_at: null,
    updated_at: null,
  }
}

export { app as channels }
