// What every channel has in common. A channel is a kind of service; a line is one that somebody has set up: it knows how
// long a message may be, how often one may be sent, what the request looks like and what the answer means.

import type { z } from 'zod'

export const CHANNEL_KINDS = [
  'wecom',
  'dingtalk',
  'feishu',
  'telegram',
  'discord',
  'slack',
  'pushover',
  'ntfy',
  'gotify',
  'serverchan',
  'pushplus',
  'resend',
  'sendgrid',
  'mailgun',
  'webhook',
] as const
export type ChannelKind = (typeof CHANNEL_KINDS)[number]

/** `json_bytes` is the size of the text as it stands in a JSON body, escapes included. Characters are UTF-16 units. */
export type Limit = { unit: 'bytes' | 'json_bytes' | 'characters'; max: number }

/** At most so many messages in so much time. */
export type Pace = { count: number; windowMs: number }

/** One message of a report, numbered from 1. The key stays the same however often the part is tried. */
export type Part = { key: string; title: string; markdown: string; n: number; of: number }

/** A part's text as a service shows it. */
export type Render = (part: Pick<Part, 'title' | 'markdown' | 'n' | 'of'>) => string

export type Outgoing = { url: string; headers: Record<string, string>; body: string }

/** `body` is what the service sent, parsed where it is JSON. */
export type Reply = { status: number; headers: Headers; body: unknown }

/**
 * What became of a request. `later`: not taken, worth another try. `rejected`: not taken, and never will be. `unknown`: it
 * may have been taken. `plain`: taken without its markup only.
 */
export type Verdict =
  | { ok: true }
  | { ok: false; outcome: 'later'; reason: string; retryAfterMs: number | null }
  | { ok: false; outcome: 'rejected' | 'unknown' | 'plain'; reason: string }

export type Line = {
  limit: Limit
  pace: readonly Pace[]
  /** Whether the service sees that a request under the same key came before. */
  recognisesRepeats: boolean
  /** The part as the service is to show it; `limit` is about this text. */
  render: Render
  request: (part: Part, text: string, at: number) => Outgoing | Promise<Outgoing>
  /** The same without any markup, for a service that refused the markup of this text. */
  plainRequest?: (part: Part) => Outgoing
  /** Reads the body of a 2xx answer. Without it, every 2xx is a success. */
  judge?: (reply: Reply) => Verdict
  /** Reads how long a service that answered 429 wants to be left alone, where it says so in the body. */
  retryAfterMs?: (body: unknown) => number | null
  /** Reads an answer that is no success, where the service has more to say than its status. */
  judgeFailure?: (reply: Reply) => Verdict | null
}

export interface Channel {
  readonly kind: ChannelKind
  readonly settings: z.ZodObject
  /** The settings that are sealed and never shown. */
  readonly secrets: readonly string[]
  /** Throws for settings that the schema refuses. */
  open(settings: unknown): Line
}

type Spec<Settings extends z.ZodObject> = {
  kind: ChannelKind
  settings: Settings
  secrets: readonly (keyof z.output<Settings> & string)[]
  open: (settings: z.output<Settings>) => Line
}

export function defineChannel<Settings extends z.ZodObject>(spec: Spec<Settings>): Channel {
  const { kind, settings, secrets } = spec
  return { kind, settings, secrets, open: (raw) => spec.open(settings.parse(raw)) }
}

export const OK: Verdict = { ok: true }
export const rejected = (reason: string): Verdict => ({ ok: false, outcome: 'rejected', reason })
export const later = (reason: string, retryAfterMs: number | null = null): Verdict => {
  return { ok: false, outcome: 'later', reason, retryAfterMs }
}

export const MINUTE_MS = 60_000

export const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' }
export const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' }

export const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` })
