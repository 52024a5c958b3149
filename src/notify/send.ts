// One request to a channel's service, and the meaning of its answer. Only an answer shows whether a message was
// accepted: without one, it may have been.

import { type AddressPolicy, type Chooser, namedByOperator, typedByPerson } from '../lib/address-policy.ts'
import { GuardedFetchError, type GuardedFetchOptions, guardedFetch } from '../lib/guarded-fetch.ts'
import { parseRetryAfter } from '../lib/http-client.ts'
import { type Line, later, OK, type Outgoing, type Part, type Reply, rejected, type Verdict } from './channel.ts'
import type { Mode } from './delivery.ts'
import { cut } from './dialects.ts'
import { CHANNELS, type ChannelKind } from './registry.ts'

const REPLY_BYTES = 65_536
const TIMEOUT_MS = 15_000
const PROBE_TIMEOUT_MS = 8_000
const REASON_CHARACTERS = 300
/** Shorter texts are not masked: they occur in every message. */
const SHORTEST_SECRET = 4

/** Statuses of proxies that do not show whether the service behind them accepted the message. */
const AMBIGUOUS: ReadonlySet<number> = new Set([504, 520, 522, 524])

export type Opened = {
  line: Line
  policy: AddressPolicy
  /** Who chose the addresses in its settings. */
  chosenBy: Chooser
  /** The values that must not appear in an error. */
  secrets: readonly string[]
}

type Timing = { at: number; timeoutMs?: number }

export async function sendPart(opened: Opened, part: Part, { at, timeoutMs = TIMEOUT_MS }: Timing): Promise<Verdict> {
  const { line } = opened
  const outgoing = await line.request(part, line.render(part), at)
  const verdict = await exchange(opened, outgoing, timeoutMs)
  const plain = !verdict.ok && verdict.outcome === 'plain' ? line.plainRequest?.(part) : undefined
  return masked(plain === undefined ? verdict : await exchange(opened, plain, timeoutMs), opened.secrets)
}

/**
 * Whether the service can be reached, tested without a message. If it can, a message without an answer has an unknown
 * state; if it cannot, nothing was sent and the message can wait.
 */
export async function isReachable(opened: Opened, part: Part, at: number): Promise<boolean> {
  const { url } = await opened.line.request(part, opened.line.render(part), at)
  try {
    const response = await guardedFetch(new URL('/', url), { method: 'HEAD' }, doorOf(opened, PROBE_TIMEOUT_MS))
    await response.body?.cancel()
    return true
  } catch (error) {
    if (!(error instanceof GuardedFetchError)) throw error
    // Any other problem with the address is found when the message is sent.
    return error.reason !== 'network' && error.reason !== 'timeout'
  }
}

async function exchange(opened: Opened, { url, headers, body }: Outgoing, timeoutMs: number): Promise<Verdict> {
  let response: Response
  try {
    response = await guardedFetch(url, { method: 'POST', headers, body }, doorOf(opened, timeoutMs))
  } catch (error) {
    return verdictOfFailure(error)
  }
  const read = await bodyOf(response)
  const reply: Reply = { status: response.status, headers: response.headers, body: read.ok ? read.body : null }
  if (!response.ok) return verdictOfStatus(opened.line, reply)
  if (opened.line.judge === undefined) return OK
  return read.ok ? opened.line.judge(reply) : { ok: false, outcome: 'unknown', reason: 'the answer broke off' }
}

function doorOf({ policy, chosenBy }: Opened, timeoutMs: number): GuardedFetchOptions {
  const limits = { maxBytes: REPLY_BYTES, headersTimeoutMs: timeoutMs, totalTimeoutMs: timeoutMs }
  return { policy, chosenBy, limits, keepsBody: true }
}

function verdictOfFailure(error: unknown): Verdict {
  if (!(error instanceof GuardedFetchError)) throw error
  if (error.reason === 'refused' || error.reason === 'redirect') return rejected(error.message)
  return { ok: false, outcome: 'unknown', reason: error.message }
}

function verdictOfStatus(line: Line, reply: Reply): Verdict {
  const special = line.judgeFailure?.(reply) ?? null
  if (special !== null) return special
  const { status, headers, body } = reply
  const reason = `HTTP ${status}${detailOf(body)}`
  if (AMBIGUOUS.has(status)) return { ok: false, outcome: 'unknown', reason }
  if (status === 429) return later(reason, line.retryAfterMs?.(body) ?? parseRetryAfter(headers.get('retry-after')))
  if (status === 408 || status === 425 || status >= 500)
    return later(reason, parseRetryAfter(headers.get('retry-after')))
  return rejected(reason)
}

/** The service's own text about its refusal, if there is one. */
function detailOf(body: unknown): string {
  const words = typeof body === 'string' ? body : JSON.stringify(body ?? '')
  const text = words.replace(/\s+/g, ' ').trim()
  return text === '' || text === '""' || text.startsWith('<') ? '' : `: ${text}`
}

async function bodyOf(response: Response): Promise<{ ok: true; body: unknown } | { ok: false }> {
  let text: string
  try {
    text = await response.text()
  } catch (error) {
    if (!(error instanceof GuardedFetchError)) throw error
    return { ok: false }
  }
  try {
    return { ok: true, body: JSON.parse(text) }
  } catch {
    // Not every service answers in JSON; then its text is the answer.
    return { ok: true, body: text }
  }
}

function masked(verdict: Verdict, secrets: readonly string[]): Verdict {
  if (verdict.ok) return verdict
  return { ...verdict, reason: mask(verdict.reason, secrets) }
}

/** The text without the secrets, as a whole or as parts of an address. */
export function mask(text: string, secrets: readonly string[]): string {
  const hidden = secrets
    .flatMap((secret) => [secret, encodeURIComponent(secret), ...partsOfAddress(secret)])
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    .sort((a, b) => b.length - a.length)
  return cut(
    hidden.reduce((shown, secret) => shown.replaceAll(secret, '***'), text),
    REASON_CHARACTERS,
  )
}

function partsOfAddress(text: string): string[] {
  if (!URL.canParse(text)) return []
  const { pathname, searchParams } = new URL(text)
  const parts = [...pathname.split('/'), ...searchParams.values()]
  return [pathname, ...parts.filter((part) => part.length >= 8)]
}

/** A configured channel. */
export type Target = {
  id: string
  kind: ChannelKind
  mode: Mode
  isEnabled: boolean
  /** Null when the stored settings cannot be decrypted. */
  settings: Record<string, unknown> | null
  /** Whether it is the operator's own channel: then it may lead to a private network. */
  isOperators: boolean
}

/** Null when its settings cannot be read. */
export function openTarget({ kind, settings, isOperators }: Target, policy: AddressPolicy): Opened | null {
  const channel = CHANNELS[kind]
  const parsed = channel.settings.safeParse(settings)
  if (!parsed.success) return null
  const values = parsed.data as Record<string, unknown>
  const secrets = channel.secrets.flatMap((name) => (typeof values[name] === 'string' ? [values[name]] : []))
  return {
    line: channel.open(settings),
    policy,
    chosenBy: (isOperators ? namedByOperator : typedByPerson)(...addressesIn(values)),
    secrets,
  }
}

const addressesIn = (values: Record<string, unknown>): string[] =>
  Object.values(values).flatMap((value) => (typeof value === 'string' && /^https?:/i.test(value) ? [value] : []))
