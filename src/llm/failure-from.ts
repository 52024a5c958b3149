// Any error of a request as the one kind that leaves this folder.

import { LineTooLong, ToldFailure } from './chat-stream.ts'
import type { ModelChoice } from './choose.ts'
import { type Evidence, failureOf, transportFailure } from './failures.ts'
import { ModelError } from './model.ts'

/** A refused request, as the dialects here and those of the SDK tell of it. */
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

/** What came cannot be made sense of. */
export class UnreadableAnswer extends Error {
  override readonly name = 'UnreadableAnswer'

  constructor(cause: unknown) {
    super('the answer cannot be read', { cause })
  }
}

type Where = { choice: ModelChoice; partialText: string }

export function failureFrom(error: unknown, { choice, partialText }: Where): ModelError {
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

/** By their names: the classes live in packages that are loaded on first use. */
function sdkCallError(error: unknown): SdkCallError | null {
  return error instanceof Error && error.name === 'AI_APICallError' ? (error as SdkCallError) : null
}

const isUnreadable = (error: unknown): boolean =>
  error instanceof SyntaxError || error instanceof LineTooLong || error instanceof UnreadableAnswer
