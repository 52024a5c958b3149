// The 422 shows the value that was found, and the object around a field that is missing. Where requests carry keys and
// secrets, it must not: a refused request would put them into a browser's console and a proxy's log.

import { AppError, type Envelope, errorEnvelope, installationFault, type ValidationItem } from '../../http/errors.ts'

const MASK = '**********'

/** Members that hold a secret: masked whole, however they are shaped. */
const SECRETS = new Set(['value', 'llm_api_key', 'search_api_key', 'sandbox_api_key', 'token', 'api_key', 'env'])
/** Members that hold secrets somewhere: their shape is shown, and none of their texts. */
const HOLDERS = new Set(['mcp_config', 'provider_tokens'])

/** An envelope of the service, with the secrets of the request masked in what a 422 shows of it. */
export const masking = (envelope: Envelope): Envelope => ({
  render: (error) => {
    const { items, ...options } = error.options
    if (items === undefined) return envelope.render(error)
    return envelope.render(new AppError(error.code, error.message, { ...options, items: items.map(maskedItem) }))
  },
  shape: envelope.shape,
})

export const maskedErrorEnvelope = masking(errorEnvelope)

function maskedItem(item: ValidationItem): ValidationItem {
  const { loc, input } = item
  // The name of a member is no secret, and the reader needs it.
  if (loc.at(-1) === '[key]') return item
  // Of what is missing the object around it is shown, whatever the missing member would hold.
  const steps = (item.type === 'missing' ? loc.slice(0, -1) : loc).map(String)
  if (steps.some((step) => SECRETS.has(step))) return { ...item, input: masked(input) }
  const isRecord = typeof input === 'object' && input !== null && !Array.isArray(input)
  const isInside = steps.some((step) => HOLDERS.has(step)) || (loc.length === 1 && !isRecord)
  return { ...item, input: shown(input, isInside) }
}

/** The value without its secrets; inside a holder without any text. */
function shown(value: unknown, isInside: boolean): unknown {
  if (Array.isArray(value)) return value.map((inner) => shown(inner, isInside))
  if (typeof value !== 'object' || value === null) return isInside ? masked(value) : value
  const entries = Object.entries(value).map(([key, inner]) => [
    key,
    SECRETS.has(key) ? masked(inner) : shown(inner, isInside || HOLDERS.has(key)),
  ])
  return Object.fromEntries(entries)
}

const masked = (value: unknown): unknown =>
  value === null || value === undefined || typeof value === 'boolean' ? (value ?? null) : MASK

/** The result of the work, or the 500 that the interface declares for it when the store fails. */
export async function orDeclared<T>(work: Promise<T>, message: string): Promise<T> {
  try {
    return await work
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    const fault = installationFault(cause)
    throw new AppError('declared_failure', fault === null ? message : `${message}. ${fault}`, { cause })
  }
}

/** Why stored values cannot be opened, and what helps. */
export const sealedElsewhere = (what: string, names: readonly string[], remedy: string): string =>
  `Stored ${what} cannot be opened: ${names.join(', ')}. They were changed in the database, or SECRETS_KEY is not the one they were sealed under. ${remedy}, or start with that key`

export const STORE_ANEW = 'Unset them and store them anew'
