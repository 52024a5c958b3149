// Classifies failed model requests by the vendors' answers: the status, the names of errors and, where these are not
// enough, the message.

import { LineTooLong, ToldFailure } from './chat-stream.ts'
import type { ModelChoice } from './choose.ts'
import { ModelError, type ModelFailure } from './model.ts'
import { retryAfterOf } from './retry.ts'

/** Everything that is known about one failed request. */
type Evidence = {
  /** The server's name in the sentence for the user. */
  readonly label: string
  readonly model: string
  readonly status: number | null
  readonly headers?: Headers | Record<string, string> | undefined
  /** The body of the answer, or the error inside a stream. */
  readonly body: string
  /** Must never be part of a message. */
  readonly apiKey: string | null
  readonly partialText?: string
}

type ProviderError = { words: string; names: string; status: number | null }

const WORDS = {
  credits:
    /insufficient[_ ](quota|balance|funds|credits?)|credit balance|out of credits|billing|payment required|exceeded[^.]*budget/i,
  context:
    /context[_ ](length|window|size)|maximum context|too many (input )?tokens|prompt is too long|input is too long|token count[^.]*exceeds|exceeds? the (maximum|limit)[^.]*tokens?|reduce the length|request_too_large|string_above_max_length/i,
  policy:
    /content[_ ](policy|filter|management)|moderation|flagged|responsible ?ai|safety (system|setting|reason)|prohibited[_ ]content|usage polic/i,
  key: /invalid[_ ]?api[_ ]?key|incorrect api key|api key not valid|authentication|unauthorized|invalid x-api-key|no auth credentials/i,
  overload: /overloaded|capacity|temporarily unavailable|try again later/i,
  rate: /rate[_ -]?limit|too many requests|resource_?exhausted|quota/i,
} as const

const BY_NAME: readonly (readonly [RegExp, ModelFailure])[] = [
  [/insufficient_quota|billing|payment/i, 'out_of_credits'],
  [/context_length|request_too_large|string_above_max_length/i, 'context_too_long'],
  [/content_(policy|filter)|moderation/i, 'content_policy'],
  [/authentication|invalid_api_key|permission|unauthenticated/i, 'authentication'],
  [/rate_limit|resource_exhausted|too_many_requests/i, 'rate_limit'],
  [/overloaded|unavailable/i, 'unavailable'],
  [/timeout|deadline_exceeded/i, 'timeout'],
  [/server_error|internal|api_error/i, 'internal'],
  [/invalid_request|invalid_argument|not_found|bad_request/i, 'bad_request'],
]

function failureOf(evidence: Evidence): ModelError {
  const told = toldIn(evidence)
  const kind = kindOf(told)
  const retryAfterMs = retryAfterOf(evidence.headers, evidence.body)
  const words = masked(told.words, evidence.apiKey)
  const { partialText = '' } = evidence
  const cause = new Error(words.slice(0, MAX_WORDS).trim())
  return new ModelError(kind, sentence(kind, evidence, shown(words)), { retryAfterMs, partialText, cause })
}

const MAX_WORDS = 2_000

/** All known reasons: the sentence, and the vendor's own message. */
export function wordsOf(error: ModelError): string {
  return error.cause instanceof Error ? `${error.message}\n${error.cause.message}` : error.message
}

function kindOf(told: ProviderError): ModelFailure {
  const { words, names, status } = told
  // A vendor's explicit message has priority over its status.
  if (status === 402 || (WORDS.credits.test(words) && !/retry(Info|Delay)|try again in/i.test(words))) {
    return 'out_of_credits'
  }
  if (status === 401) return 'authentication'
  if (status === 429) return 'rate_limit'
  if (status === 403) return WORDS.policy.test(words) ? 'content_policy' : 'authentication'
  if (status === 413) return 'context_too_long'
  if (status === null || status === 200) return namedKind(told)
  if (status === 408 || status === 504) return 'timeout'
  if (status === 500) return WORDS.overload.test(words) ? 'unavailable' : 'internal'
  if (status > 500) return 'unavailable'
  if (WORDS.context.test(words)) return 'context_too_long'
  if (WORDS.policy.test(words)) return 'content_policy'
  // Some vendors answer 400 for an unknown key.
  if (WORDS.key.test(words) || /authentication|invalid_api_key/i.test(names)) return 'authentication'
  return 'bad_request'
}

/** For an error without a status of its own: inside a stream, or as the body of a 200. */
function namedKind({ words, names }: ProviderError): ModelFailure {
  const code = /(?:^|\s)([45]\d\d)(?:\s|$)/.exec(names)?.[1]
  if (code !== undefined) return kindOf({ words, names: '', status: Number(code) })
  for (const [pattern, kind] of BY_NAME) {
    if (!pattern.test(names)) continue
    // Vendors report a prompt that is too long as an invalid request.
    if (kind === 'bad_request' && WORDS.context.test(words)) return 'context_too_long'
    return kind
  }
  if (WORDS.context.test(words)) return 'context_too_long'
  if (WORDS.rate.test(words)) return 'rate_limit'
  if (WORDS.key.test(words)) return 'authentication'
  return WORDS.overload.test(words) ? 'unavailable' : 'internal'
}

/** The vendor's message and its names of the error, from any of the known formats. */
function toldIn({ body, status }: Evidence): ProviderError {
  const parsed = parsedOf(body)
  if (parsed === null) return { words: body.slice(0, 4000), names: '', status }
  const error = recordOf(parsed.error) ?? parsed
  const names = [error.type, error.code, error.status, parsed.type, error.param].filter(
    (name) => typeof name === 'string' || typeof name === 'number',
  )
  const metadata = recordOf(error.metadata)
  const message = [error.message, parsed.message, parsed.detail, metadata?.raw, parsed.error].find(
    (text) => typeof text === 'string',
  )
  return { words: `${message ?? ''}\n${body.slice(0, 4000)}`, names: names.join(' '), status }
}

function parsedOf(body: string): Record<string, unknown> | null {
  try {
    const parsed: unknown = JSON.parse(body)
    // Google answers with a list that contains one error.
    return recordOf(Array.isArray(parsed) ? parsed[0] : parsed)
  } catch {
    return null
  }
}

const recordOf = (value: unknown): Record<string, unknown> | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null

const MAX_SHOWN = 240

/** Without anything that could be a key. */
function masked(words: string, apiKey: string | null): string {
  const named = apiKey === null || apiKey === '' ? words : words.replaceAll(apiKey, '***')
  return named.replace(/\b(sk|pk|key|gsk|xai|AIza)[-_A-Za-z0-9*]{8,}/g, '***')
}

/** The first sentence of the vendor's message. */
function shown(words: string): string {
  const first = words.split('\n')[0]?.trim() ?? ''
  if (first.length > MAX_SHOWN) return `${first.slice(0, MAX_SHOWN)}…`
  return first === '' || /[.!?。]$/.test(first) ? first : `${first}.`
}

function sentence(kind: ModelFailure, { label, model, status }: Evidence, detail: string): string {
  const said = detail === '' || detail.startsWith('{') || detail.startsWith('<') ? '' : ` It said: ${detail}`
  switch (kind) {
    case 'authentication':
      return `${label} refused the API key. Check the key in the settings, and that it may use ${model}.`
    case 'out_of_credits':
      return `The account at ${label} is out of credits. Top it up, or choose another model.`
    case 'rate_limit':
      return `${label} limits how often it may be asked. Wait a little, then send a message to go on.`
    case 'context_too_long':
      return `The conversation is longer than ${model} can read.`
    case 'content_policy':
      return `${label} refused to answer because of its content policy. Put it in other words, or choose another model.`
    case 'unavailable':
      return `${label} is not available at the moment. Send a message to try again, or choose another model.`
    case 'internal':
      return `${label} failed with an internal error. Send a message to try again.${said}`
    case 'timeout':
      return `${label} took too long to answer. Send a message to try again, or choose another model.`
    case 'broken_stream':
      return `The connection to ${label} broke in the middle of the answer. Send a message to go on.`
    case 'unusable_reply':
      return `${label} sent an answer that cannot be used. Send a message to try again, or choose another model.`
    case 'address_refused':
      return `The address of the model server is refused. Check the base URL in the settings.`
    case 'budget_spent':
    case 'budget_held':
      return 'The budget for language models lets no further call pass.'
    case 'bad_request':
      if (status === 404) {
        return `${label} does not know the model ${model}, or not at this address. Check the model and the base URL in the settings.${said}`
      }
      return `${label} refused the request.${said} Check the model in the settings.`
  }
}

/** A failure of the connection: no answer came, or it was interrupted. */
function transportFailure(error: unknown, where: { label: string; partialText: string }): ModelError {
  const { label, partialText } = where
  if (error instanceof ModelError) {
    return partialText === '' ? error : new ModelError(error.kind, error.message, { partialText, cause: error.cause })
  }
  if (isDoorError(error)) return doorFailure(error, where)
  if (partialText !== '') {
    const message = `The connection to ${label} broke in the middle of the answer. Send a message to go on.`
    return new ModelError('broken_stream', message, { partialText, cause: error })
  }
  const message = `${label} cannot be reached. Check the base URL in the settings, or try again later.`
  return new ModelError('unavailable', message, { cause: error })
}

type DoorTrouble = Error & { reason: 'refused' | 'redirect' | 'too-large' | 'timeout' | 'network' }

/** Compared by name, because the class belongs to a module that is loaded separately. */
const isDoorError = (error: unknown): error is DoorTrouble =>
  error instanceof Error && error.name === 'GuardedFetchError'

function doorFailure(error: DoorTrouble, { label, partialText }: { label: string; partialText: string }): ModelError {
  const more = { partialText, cause: error }
  switch (error.reason) {
    case 'refused':
    case 'redirect':
      return new ModelError(
        'address_refused',
        `${error.message}. Check the base URL of the model in the settings.`,
        more,
      )
    case 'too-large':
      return new ModelError('unusable_reply', `${label} sent an answer that is too large, and it was cut off.`, more)
    case 'timeout':
      return new ModelError('timeout', `${label} took too long to answer. Try again, or choose another model.`, more)
    case 'network': {
      const kind = partialText === '' ? 'unavailable' : 'broken_stream'
      return new ModelError(kind, `${label} cannot be reached. Check the base URL in the settings, or try later.`, more)
    }
  }
}

// Converts any error of a request to the only kind that leaves this folder.

/** A refused request, from our own dialects or the SDK's. */
export class RefusedRequest extends Error {
  override readonly name = 'RefusedRequest'
  readonly status: number
  readonly headers: Headers
  readonly body: string

  constructor(status: number, headers: Headers, body: string) {
    super(`status ${status}`)
    this.status = status
    this.headers = headers
    this.body = body
  }
}

/** The answer cannot be understood. */
export class UnreadableAnswer extends Error {
  override readonly name = 'UnreadableAnswer'

  constructor(cause: unknown) {
    super('the answer cannot be read', { cause })
  }
}

type FailedAttempt = { choice: ModelChoice; partialText: string }

export function failureFrom(error: unknown, { choice, partialText }: FailedAttempt): ModelError {
  const { label, model, apiKey } = choice
  const failed = (more: Pick<Evidence, 'status' | 'body' | 'headers'>) =>
    failureOf({ label, model, apiKey, partialText, ...more })
  if (error instanceof ModelError) return transportFailure(error, { label, partialText })
  if (error instanceof RefusedRequest) return failed(error)
  if (error instanceof ToldFailure) return failed({ status: null, body: error.body })
  if (isUnreadable(error)) {
    const message = `${label} sent an answer that cannot be read. Send a message to try again, or choose another model.`
    return new ModelError('unusable_reply', message, { partialText, cause: error })
  }
  const call = sdkCallError(error)
  if (call !== null) {
    if (call.statusCode !== undefined) {
      return failed({ status: call.statusCode, body: call.responseBody ?? '', headers: call.responseHeaders })
    }
    return failureFrom(call.cause ?? new TypeError('no answer'), { choice, partialText })
  }
  return transportFailure(error, { label, partialText })
}

type SdkCallError = Error & {
  statusCode?: number
  responseBody?: string
  responseHeaders?: Record<string, string>
}

/** Compared by name: the classes are in packages that are loaded on first use. */
function sdkCallError(error: unknown): SdkCallError | null {
  return error instanceof Error && error.name === 'AI_APICallError' ? (error as SdkCallError) : null
}

const isUnreadable = (error: unknown): boolean =>
  error instanceof SyntaxError || error instanceof LineTooLong || error instanceof UnreadableAnswer
