// The refusal of entries that mean no stock, or more than one: what was typed, why, and which stocks may be meant.

import { AppError } from '../../http/errors.ts'
import type { Language } from '../../market/names/labels.ts'
import type { Rejected } from '../../market/resolve.ts'
import { candidateOf } from './readings.ts'

const MAX_NAMED = 20

/**
 * 400 `validation_error`. `detail` has the sentence (`message`), `reason` and `candidates` of the first entry, and all of them
 * for each entry in `invalid`. The same request with `confirm: true` takes the first candidate of each.
 */
export function unclearNames(rejected: readonly Rejected[], language: Language): AppError {
  const named = rejected.slice(0, MAX_NAMED).map(({ message }) => message)
  const rest = rejected.length > MAX_NAMED ? [`and ${rejected.length - MAX_NAMED} more`] : []
  const message = [...named, ...rest].join('; ')
  const invalid = rejected.map((one) => ({
    input: one.input,
    reason: one.reason,
    message: one.message,
    candidates: one.candidates.map((listing) => candidateOf(listing, language)),
  }))
  const detail = { message, reason: invalid[0]?.reason, candidates: invalid[0]?.candidates ?? [], invalid }
  return new AppError('bad_request', message, { extra: { detail } })
}
