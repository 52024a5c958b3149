// A 422 contains the invalid value, and the object with a missing field. For requests with keys and secrets it must
// not: otherwise they would be visible in the browser's console and in the proxy's log.

import { AppError, type Envelope, errorEnvelope, installationFault, type ValidationItem } from '../../http/errors.ts'

const MASK = '**********'

/** Members that contain a secret: masked completely, whatever their type. */
const SECRETS = new Set(['value', 'llm_api_key', 'search_api_key', 'sandbox_api_key', 'token', 'api_key', 'env'])
/** Members with secrets inside: their structure is shown, but none of their texts. */
const HOLDERS = new Set(['mcp_config', 'provider_tokens'])

/** An error format of the service, with the request's secrets masked in a 422. */
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
  // The name of a member is not secret, and is needed to understand the error.
  if (loc.at(-1) === '[key]') return item
  // For a missing member the input is the object around it, so the path of that object counts.
  const steps = (item.type === 'missing' ? loc.slice(0, -1) : loc).map(String)
  if (steps.some((step) => SECRETS.has(step))) return { ...item, input: masked(input) }
  const isRecord = typeof input === 'object' && input !== null && !Array.isArray(input)
  const isInside = steps.some((step) => HOLDERS.has(step)) || (loc.length === 1 && !isRecord)
  return { ...item, input: shown(input, isInside) }
}

/** The value without its secrets; inside a member with secrets, without any text. */
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

/** The result of the work, or the documented 500 if the storage fails. */
export async function orDeclared<T>(work: Promise<T>, message: string): Promise<T> {
  try {
    return await work
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    const fault = installationFault(cause)
    throw new AppError('declared_failure', fault === null ? message : `${message}. ${fault}`, { cause })
  }
}

/** Why stored values cannot be decrypted, and how to fix it. */
export const sealedElsewhere = (what: string, names: readonly string[], remedy: string): string =>
  `Stored ${what} cannot be opened: ${names.join(', ')}. They were changed in the database, or SECRETS_KEY is not the one they were sealed under. ${remedy}, or start with that key`

export const STORE_ANEW = 'Unset them and store them anew'
