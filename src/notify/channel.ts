// The interface of all channels. A channel is a kind of service; a line is a configured channel: it knows the size
// limit of a message, the rate limit, the request to send, and the meaning of the answer.

import type { z } from 'zod'
import type { Variables } from '../lib/variables.ts'
import { environmentSettings, environmentVariables, numberAt, type Source, textAt } from './fields.ts'

/** `json_bytes` is the size of the text inside a JSON body, including escapes. Characters are UTF-16 units. */
export type Limit = { unit: 'bytes' | 'json_bytes' | 'characters'; max: number }

/** The rate limit: at most `count` messages in each window. */
export type Pace = { count: number; windowMs: number }

/** One message of a report, numbered from 1. The key is the same in every attempt. */
export type Part = { key: string; title: string; markdown: string; n: number; of: number }

/** A part's text in the service's format. */
export type Render = (part: Pick<Part, 'title' | 'markdown' | 'n' | 'of'>) => string

export type Outgoing = { url: string; headers: Record<string, string>; body: string }

/** `body` is what the service sent, parsed where it is JSON. */
export type Reply = { status: number; headers: Headers; body: unknown }

/**
 * The result of a request. `later`: not accepted, try again. `rejected`: not accepted, and a retry is useless.
 * `unknown`: it may have been accepted. `plain`: refused because of its markup; try once without it.
 */
export type Verdict =
  | { ok: true }
  | { ok: false; outcome: 'later'; reason: string; retryAfterMs: number | null }
  | { ok: false; outcome: 'rejected' | 'unknown' | 'plain'; reason: string }

export type Line = {
  limit: Limit
  pace: readonly Pace[]
  /** Whether the service recognises a repeated request by its key. */
  recognisesRepeats: boolean
  /** The part in the service's markup; `limit` applies to this text. */
  render: Render
  request: (part: Part, text: string, at: number) => Outgoing | Promise<Outgoing>
  /** The part without markup, for a service that refused the markup of this text. */
  plainRequest?: (part: Part) => Outgoing
  /** Reads the body of a 2xx answer. Without it, every 2xx is a success. */
  judge?: (reply: Reply) => Verdict
  /** Reads the waiting time from the body of a 429 answer, if the service puts it there. */
  retryAfterMs?: (body: unknown) => number | null
  /** Reads an error answer whose body says more than the status. */
  judgeFailure?: (reply: Reply) => Verdict | null
}

export interface Channel {
  readonly settings: z.ZodObject
  /** The settings that are encrypted and never shown. */
  readonly secrets: readonly string[]
  /** Those of the operator's own channel. */
  readonly variables: Variables
  /** The settings of the operator's own channel; null when a required variable is not set. */
  fromEnvironment(values: Readonly<Record<string, unknown>>): Record<string, unknown> | null
  /** Throws for invalid settings. */
  open(settings: unknown): Line
}

/** The declaration of a channel. */
type Spec<Settings extends z.ZodObject> = {
  settings: Settings
  secrets: readonly (keyof z.output<Settings> & string)[]
  /** The variable for each setting of the operator's channel; null for a setting that only an owner's channel has. */
  environment: { readonly [Setting in keyof z.output<Settings>]-?: Source | null }
  open: (settings: z.output<Settings>) => Line
}

export function defineChannel<Settings extends z.ZodObject>(spec: Spec<Settings>): Channel {
  const { settings, secrets, environment } = spec
  const needed = Object.entries(settings.shape).flatMap(([name, field]) => {
    return (field as z.ZodType).safeParse(undefined).success ? [] : [name]
  })
  return {
    settings,
    secrets,
    variables: environmentVariables(environment, secrets),
    fromEnvironment(values) {
      const set = environmentSettings(environment, values)
      return needed.every((name) => name in set) ? set : null
    },
    open: (raw) => spec.open(settings.parse(raw)),
  }
}

export const OK: Verdict = { ok: true }
export const rejected = (reason: string): Verdict => ({ ok: false, outcome: 'rejected', reason })
export const later = (reason: string, retryAfterMs: number | null = null): Verdict => {
  return { ok: false, outcome: 'later', reason, retryAfterMs }
}

export const MINUTE_MS = 60_000

/** For services that answer with `errcode` and `errmsg`, 0 for an accepted message. */
export function judgeErrcode(body: unknown, tooOften: number): Verdict {
  const code = numberAt(body, 'errcode')
  if (code === 0) return OK
  const reason = `errcode ${code}: ${textAt(body, 'errmsg')}`
  return code === tooOften ? later(reason, MINUTE_MS) : rejected(reason)
}

export const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' }
export const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' }

export const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` })

/** The longest window of the rate limits. */
export const longestWindowMs = (pace: readonly Pace[]): number => Math.max(0, ...pace.map(({ windowMs }) => windowMs))

/** How long the next message must wait, so that no window has more messages than the service allows. */
export function paceWaitMs(pace: readonly Pace[], starts: readonly number[], now: number): number {
  const waits = pace.map(({ count, windowMs }) => {
    const oldest = starts.at(-count)
    return oldest === undefined ? 0 : oldest + windowMs - now
  })
  return Math.max(0, ...waits)
}
