// The validation errors of a request: the field of each error, and the reason in the user's language.

import { ApiError, messageOf } from './api.ts'
import { say, sayWhereKnown } from './texts.ts'

/**
 * `path` is the name of the field in the API, with dots; empty if none is given. `whole` is the text for a form without
 * that field.
 */
export type Fault = { path: string; text: string; whole: string }

type Fields = Readonly<Record<string, unknown>>

/** A 422 lists its errors; other refusals have the field in the detail, or at the start of their sentence. */
export function faultsIn(error: unknown): Fault[] {
  const whole = messageOf(error)
  const detail = error instanceof ApiError ? error.body.detail : null
  const items = Array.isArray(detail) ? detail.filter(isFields) : []
  if (items.length > 0) return items.map(faultOf)
  const [, head = '', rest = ''] = /^([\w.[\]]+)[:：]\s*([\s\S]+)$/.exec(whole) ?? []
  const named = isFields(detail) && typeof detail.field === 'string' ? detail.field : head
  return [{ path: pathOf(named), text: head === named && rest !== '' ? begun(forms(rest)) : whole, whole }]
}

/** Alternatives to a number are selected in the form, so the API's notation for them is not shown. */
const forms = (told: string): string => (told.includes('{field: …}') ? say('A number is needed.') : told)

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** `where.and[0].value` and `where.and.0.value` are the same position. */
const pathOf = (named: string): string => named.replaceAll(/\[(\d+)\]/g, '.$1')

const PLACES = new Set(['body', 'query', 'path', 'header'])

function faultOf(item: Fields): Fault {
  const loc = Array.isArray(item.loc) ? item.loc.map(String) : []
  const path = (PLACES.has(loc[0] ?? '') ? loc.slice(1) : loc).join('.')
  const text = worded(item)
  return { path, text, whole: path === '' ? text : `${path}: ${text}` }
}

/** The types are those of pydantic; its English texts do not fit a form. */
function worded({ type, msg, ctx }: Fields): string {
  const limits = isFields(ctx) ? ctx : {}
  const n = String(limits.ge ?? limits.le ?? limits.gt ?? limits.lt ?? limits.min_length ?? limits.max_length ?? '')
  switch (type) {
    case 'missing':
      return say('This is needed.')
    case 'string_too_short':
    case 'too_short':
      if (n === '1') return say('This is needed.')
      return say(type === 'too_short' ? 'At least {n} are needed.' : 'At least {n} characters are needed.', { n })
    case 'string_too_long':
      return say('At most {n} characters fit.', { n })
    case 'too_long':
      return say('At most {n} fit.', { n })
    case 'int_parsing':
    case 'int_from_float':
    case 'int_type':
      return say('A whole number is needed.')
    case 'float_parsing':
    case 'float_type':
    case 'finite_number':
      return say('A number is needed.')
    case 'greater_than_equal':
      return say('It must be at least {n}.', { n })
    case 'less_than_equal':
      return say('It must be at most {n}.', { n })
    case 'greater_than':
      return say('It must be more than {n}.', { n })
    case 'less_than':
      return say('It must be less than {n}.', { n })
    default:
      return reasonOf(String(msg ?? ''))
  }
}

/** The service's own sentence, without the prefix that all API clients get. */
function reasonOf(told: string): string {
  if (told.startsWith('String should match pattern')) return say('It is not written as it has to be.')
  return begun(sayWhereKnown(told.replace(/^Value error, /, '')))
}

const begun = (sentence: string): string => sentence.charAt(0).toUpperCase() + sentence.slice(1)

export type Placed = { faults: ReadonlyMap<string, string>; rest: string | null }

/** Assigns each error to its field of the form; the rest has no field. */
export function placed(error: unknown, names: readonly string[], within = ''): Placed {
  const faults = new Map<string, string>()
  const rest: string[] = []
  for (const { path, text, whole } of faultsIn(error)) {
    const inner = within !== '' && path.startsWith(`${within}.`) ? path.slice(within.length + 1) : path
    const name = fieldOf(inner, names)
    if (name === null) rest.push(whole)
    else faults.set(name, [faults.get(name), text].filter((one) => one !== undefined).join(' '))
  }
  return { faults, rest: rest.length === 0 ? null : rest.join(' ') }
}

/** The field itself, the one that contains the position, or the first one inside it. */
function fieldOf(path: string, names: readonly string[]): string | null {
  if (path === '') return null
  const around = names.filter((name) => path === name || path.startsWith(`${name}.`))
  const longest = around.reduce((best, name) => (name.length > best.length ? name : best), '')
  return longest || (names.find((name) => name.startsWith(`${path}.`)) ?? null)
}
