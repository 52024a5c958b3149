// Tests a channel with the values in the form of the analysis page's settings. Nothing is stored.

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { config } from '../../../config.ts'
import type { AppEnv } from '../../../http/app-env.ts'
import { callerLanguage } from '../../../http/caller-language.ts'
import { analysisEnvelope } from '../../../http/errors.ts'
import { endpoint } from '../../../http/openapi.ts'
import { router } from '../../../http/router.ts'
import { hexId } from '../../../lib/crypto.ts'
import { laxInt } from '../../../lib/lax.ts'
import type { Verdict } from '../../../notify/channel.ts'
import type { ChannelKind } from '../../../notify/registry.ts'
import { openTarget } from '../../../notify/send.ts'
import { testChannel } from '../channels.ts'
import { fieldOf } from './configuration/fields.ts'
import { readState } from './configuration/state.ts'
import { draftChannel, readItems } from './configuration/write.ts'
import { pageTexts } from './texts.ts'

const app = router(analysisEnvelope)
/** The page stops waiting after 30 s. */
const MOST_MS = 25_000

const KINDS: Readonly<Record<string, ChannelKind>> = {
  ...{ wechat: 'wecom', feishu: 'feishu', telegram: 'telegram', pushover: 'pushover', ntfy: 'ntfy', gotify: 'gotify' },
  ...{ pushplus: 'pushplus', serverchan3: 'serverchan', custom: 'webhook', discord: 'discord', slack: 'slack' },
}

const ChannelTrial = z
  .object({
    channel: z.string().max(50),
    items: z.array(z.object({ key: z.string().max(200), value: z.string().max(16_384) })).max(200),
    mask_token: z.string().max(100).optional(),
    title: z.string().min(1).max(80),
    content: z.string().min(1).max(1000),
    timeout_seconds: laxInt({ min: 1, max: 120 }).default(20),
  })
  .openapi('PageChannelTrial')

const attempt = {
  success: z.boolean(),
  message: z.string(),
  error_code: z.string().nullable(),
  stage: z.string().nullable(),
  retryable: z.boolean(),
  latency_ms: z.int().nullable(),
}
const ChannelTried = z
  .object({
    ...attempt,
    attempts: z.array(
      z
        .object({ ...attempt, channel: z.string(), target: z.string().nullable(), http_status: z.int().nullable() })
        .openapi('PageChannelAttempt'),
    ),
  })
  .openapi('PageChannelTried')

endpoint(
  app,
  {
    method: 'post',
    path: '/api/v1/system/config/notification/test-channel',
    scope: 'analysis',
    limit: 'writes',
    bodyLimit: 'standard',
    tag: 'Settings',
    summary: 'Send a message with what stands in the form; nothing is stored',
    body: { schema: ChannelTrial, required: true },
    replies: { 200: { description: 'What became of it', schema: ChannelTried } },
  },
  async (c, { body }) => c.json(await triedChannel(c, body)),
)

async function triedChannel(
  c: Context<AppEnv>,
  body: z.infer<typeof ChannelTrial>,
): Promise<z.infer<typeof ChannelTried>> {
  const say = pageTexts(callerLanguage(c)).trial
  const refused = (error_code: string, message: string) => ({
    ...{ success: false, message, error_code, stage: 'config_validation', retryable: false, latency_ms: null },
    attempts: [],
  })
  const kind = KINDS[body.channel]
  if (kind === undefined) return refused('config_invalid', body.channel === 'email' ? say.noSmtp : say.noChannel)
  const state = await readState(c)
  const known = body.items.filter(({ key }) => fieldOf(key.toUpperCase())?.category === 'notification')
  const { draft, issues } = readItems(state, known, callerLanguage(c))
  const [issue] = issues
  if (issue !== undefined) return refused('config_invalid', `${issue.key}: ${issue.message}`)
  const { id, settings, isMixed } = draftChannel(state, draft, kind)
  if (isMixed) return refused('config_invalid', say.enterSecret)
  const target = { id, kind, mode: 'single' as const, isEnabled: true, settings, isOperators: false }
  const opened = openTarget(target, config(c.env).addressPolicy)
  if (opened === null) return refused('config_missing', say.incomplete)
  const part = { title: body.title, markdown: body.content, key: hexId(), n: 1, of: 1 }
  const began = Date.now()
  const verdict = await testChannel(
    c,
    { channelId: id, opened, part },
    { timeoutMs: Math.min(MOST_MS, body.timeout_seconds * 1000) },
  )
  const told = toldOf(verdict, { message: say.sent, latency_ms: Date.now() - began })
  return { ...told, attempts: [{ ...told, channel: body.channel, target: null, http_status: null }] }
}

function toldOf(verdict: Verdict, { message, latency_ms }: { message: string; latency_ms: number }) {
  if (verdict.ok) return { success: true, message, error_code: null, stage: null, retryable: false, latency_ms }
  const isLater = verdict.outcome === 'later'
  const error_code = isLater ? 'network_error' : verdict.outcome === 'unknown' ? 'timeout' : 'rejected'
  return { success: false, message: verdict.reason, error_code, stage: 'send', retryable: isLater, latency_ms }
}

export { app as channelTrial }
