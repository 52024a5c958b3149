// The operator's own notification channels. A channel is there when all that it cannot do without is set.

import { z } from 'zod'
import type { ChannelKind } from '../notify/channel.ts'
import type { Mode } from '../notify/notice.ts'

const address = z.url({ protocol: /^https?$/ }).optional()
const base = z
  .url({ protocol: /^https?$/ })
  .transform((url) => url.replace(/\/+$/, ''))
  .optional()
// Goes into a header, a path or a body as it stands.
const token = z
  .string()
  .regex(/^[\x21-\x7e]{1,500}$/)
  .optional()
const word = z
  .string()
  .regex(/^\P{Cc}{1,320}$/u)
  .optional()
const mailboxes = z
  .string()
  .default('')
  .transform((text) => text.split(',').map((part) => part.trim()))
  .transform((parts) => parts.filter((part) => part !== ''))
  .pipe(z.array(z.string().regex(/@/)).max(50))

export const NOTIFY_SCHEMAS = {
  NOTIFY_MODE: z.enum(['single', 'digest']).default('single'),
  NOTIFY_OWNERS: z
    .string()
    .default('')
    .transform((text) => text.split(',').map((part) => part.trim()))
    .transform((parts) => parts.filter((part) => part !== '')),
  WECOM_WEBHOOK_URL: address,
  DINGTALK_WEBHOOK_URL: address,
  DINGTALK_SECRET: token,
  FEISHU_WEBHOOK_URL: address,
  FEISHU_SECRET: token,
  TELEGRAM_BOT_TOKEN: token,
  TELEGRAM_CHAT_ID: word,
  TELEGRAM_MESSAGE_THREAD_ID: z.coerce.number().int().min(1).optional(),
  TELEGRAM_URL: base,
  DISCORD_WEBHOOK_URL: address,
  SLACK_WEBHOOK_URL: address,
  PUSHOVER_API_TOKEN: token,
  PUSHOVER_USER_KEY: token,
  PUSHOVER_URL: base,
  NTFY_URL: base,
  NTFY_TOPIC: word,
  NTFY_TOKEN: token,
  GOTIFY_URL: base,
  GOTIFY_TOKEN: token,
  SERVERCHAN_KEY: token,
  SERVERCHAN_URL: base,
  PUSHPLUS_TOKEN: token,
  PUSHPLUS_TOPIC: word,
  PUSHPLUS_URL: base,
  EMAIL_FROM: word,
  EMAIL_TO: mailboxes,
  RESEND_API_KEY: token,
  RESEND_URL: base,
  SENDGRID_API_KEY: token,
  SENDGRID_URL: base,
  MAILGUN_API_KEY: token,
  MAILGUN_DOMAIN: word,
  MAILGUN_URL: base,
  NOTIFY_WEBHOOK_URL: address,
  NOTIFY_WEBHOOK_TOKEN: token,
  NOTIFY_WEBHOOK_SECRET: token,
} as const

export const NOTIFY_SECRETS: readonly string[] = Object.keys(NOTIFY_SCHEMAS).filter((name) =>
  /_(WEBHOOK_URL|SECRET|TOKEN|KEY)$/.test(name),
)

const URL_ALLOWED = 'an http(s) URL'
const TOKEN_ALLOWED = 'a text without blanks, as the service gave it'
const WORD_ALLOWED = 'one line of text'

const OTHERWISE: Partial<Record<keyof typeof NOTIFY_SCHEMAS, string>> = {
  NOTIFY_MODE: '"single" or "digest"',
  NOTIFY_OWNERS: 'a comma-separated list of owners, or * for all of them',
  TELEGRAM_MESSAGE_THREAD_ID: 'a whole number from 1',
  EMAIL_TO: 'a comma-separated list of at most 50 addresses',
}

function allowedFor(name: keyof typeof NOTIFY_SCHEMAS): string {
  if (name.endsWith('_URL')) return URL_ALLOWED
  return OTHERWISE[name] ?? (NOTIFY_SECRETS.includes(name) ? TOKEN_ALLOWED : WORD_ALLOWED)
}

export const NOTIFY_ALLOWED = Object.fromEntries(
  Object.keys(NOTIFY_SCHEMAS).map((name) => [name, allowedFor(name as keyof typeof NOTIFY_SCHEMAS)]),
) as { [Name in keyof typeof NOTIFY_SCHEMAS]: string }

type Parsed = { [Name in keyof typeof NOTIFY_SCHEMAS]: z.output<(typeof NOTIFY_SCHEMAS)[Name]> }

export type OperatorChannel = { id: string; kind: ChannelKind; mode: Mode; settings: Record<string, unknown> }

export type NotifyConfig = {
  channels: OperatorChannel[]
  /** Whose reports go there; `*` is everybody. */
  owners: string[]
}

/** What a channel is made of: its settings by name, and which of them it cannot do without. */
type Made = { kind: ChannelKind; needs: readonly string[]; settings: Record<string, unknown> }

export function notifyConfig(values: Parsed): NotifyConfig {
  const mail = { from: values.EMAIL_FROM, to: values.EMAIL_TO.length === 0 ? undefined : values.EMAIL_TO }
  const all = [...chats(values), ...pushes(values), ...mails(values, mail)]
  const channels = all
    .filter(({ needs, settings }) => needs.every((name) => settings[name] !== undefined))
    .map(({ kind, settings }) => ({
      id: `operator-${kind}`,
      kind,
      mode: values.NOTIFY_MODE,
      settings: Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)),
    }))
  return { channels, owners: values.NOTIFY_OWNERS }
}

const hook = (kind: ChannelKind, url: string | undefined, secret?: string): Made => {
  return { kind, needs: ['webhook_url'], settings: { webhook_url: url, secret } }
}

function chats(values: Parsed): Made[] {
  return [
    hook('wecom', values.WECOM_WEBHOOK_URL),
    hook('dingtalk', values.DINGTALK_WEBHOOK_URL, values.DINGTALK_SECRET),
    hook('feishu', values.FEISHU_WEBHOOK_URL, values.FEISHU_SECRET),
    hook('discord', values.DISCORD_WEBHOOK_URL),
    hook('slack', values.SLACK_WEBHOOK_URL),
    {
      kind: 'telegram',
      needs: ['bot_token', 'chat_id'],
      settings: {
        bot_token: values.TELEGRAM_BOT_TOKEN,
        chat_id: values.TELEGRAM_CHAT_ID,
        message_thread_id: values.TELEGRAM_MESSAGE_THREAD_ID,
        api_url: values.TELEGRAM_URL,
      },
    },
  ]
}

function pushes(values: Parsed): Made[] {
  return [
    {
      kind: 'pushover',
      needs: ['token', 'user'],
      settings: { token: values.PUSHOVER_API_TOKEN, user: values.PUSHOVER_USER_KEY, api_url: values.PUSHOVER_URL },
    },
    {
      kind: 'ntfy',
      needs: ['topic'],
      settings: { url: values.NTFY_URL, topic: values.NTFY_TOPIC, token: values.NTFY_TOKEN },
    },
    { kind: 'gotify', needs: ['url', 'token'], settings: { url: values.GOTIFY_URL, token: values.GOTIFY_TOKEN } },
    { kind: 'serverchan', needs: ['key'], settings: { key: values.SERVERCHAN_KEY, api_url: values.SERVERCHAN_URL } },
    {
      kind: 'pushplus',
      needs: ['token'],
      settings: { token: values.PUSHPLUS_TOKEN, topic: values.PUSHPLUS_TOPIC, api_url: values.PUSHPLUS_URL },
    },
    {
      kind: 'webhook',
      needs: ['url'],
      settings: {
        url: values.NOTIFY_WEBHOOK_URL,
        token: values.NOTIFY_WEBHOOK_TOKEN,
        secret: values.NOTIFY_WEBHOOK_SECRET,
      },
    },
  ]
}

function mails(values: Parsed, mail: Record<string, unknown>): Made[] {
  const needs = ['api_key', 'from', 'to']
  return [
    { kind: 'resend', needs, settings: { ...mail, api_key: values.RESEND_API_KEY, api_url: values.RESEND_URL } },
    { kind: 'sendgrid', needs, settings: { ...mail, api_key: values.SENDGRID_API_KEY, api_url: values.SENDGRID_URL } },
    {
      kind: 'mailgun',
      needs: [...needs, 'domain'],
      settings: {
        ...mail,
        api_key: values.MAILGUN_API_KEY,
        domain: values.MAILGUN_DOMAIN,
        api_url: values.MAILGUN_URL,
      },
    },
  ]
}
