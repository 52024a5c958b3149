// What the service refused of what was sent: which field each fault is about, and why, in the reader's language.

import { ApiError, messageOf } from './api.ts'
import { say, sayWhereKnown } from './texts.ts'

/** `path` is what the API calls the field, with dots; empty where none is named. `whole` is told where the form has no such field. */
export type Fault = { path: string; text: string; whole: string }

type Fields = Readonly<Record<string, unknown>>

/** A 422 lists its faults; other refusals name their field in the detail, or before their sentence. */
export function faultsIn(error: unknown): Fault[] {
  const whole = messageOf(error)
  const detail = error instanceof ApiError ? error.body.detail : null
  const items = Array.isArray(detail) ? detail.filter(isFields) : []
  if (items.length > 0) return items.map(faultOf)
  const [, head = '', rest = ''] = /^([\w.[\]]+)[:：]\s*([\s\S]+)$/.exec(whole) ?? []
  const named = isFields(detail) && typeof detail.field === 'string' ? detail.field : head
  return [{ path: pathOf(named), text: head === named && rest !== '' ? begun(forms(rest)) : whole, whole }]
}

/** What a condition may be besides a number is chosen in the form, and not written as the API has it. */
const forms = (told: string): string => (told.includes('{field: …}') ? say('A number is needed.') : told)

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** `where.and[0].value` and `where.and.0.value` are the same place. */
const pathOf = (named: string): string => named.replaceAll(/\[(\d+)\]/g, '.$1')

const PLACES = new Set(['body', 'query', 'path', 'header'])

function faultOf(item: Fields): Fault {
  const loc = Array.isArray(item.loc) ? item.loc.map(String) : []
  const path = (PLACES.has(loc[0] ?? '') ? loc.slice(1) : loc).join('.')
  const text = worded(item)
  return { path, text, whole: path === '' ? text : `${path}: ${text}` }
}

/** The types are those of pydantic, whose English names neither a form nor its reader. */
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

/** The service's own sentence, without what every client of the API reads before it. */
function reasonOf(told: string): string {
  if (told.startsWith('String should match pattern')) return say('It is not written as it has to be.')
  return begun(sayWhereKnown(told.replace(/^Value error, /, '')))
}

const begun = (sentence: string): string => sentence.charAt(0).toUpperCase() + sentence.slice(1)

export type Placed = { faults: ReadonlyMap<string, string>; rest: string | null }

/** Each fault at the field of a form that it is about; what is about none of them is the rest. */
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

/** The field itself, the one that holds the place, or the first of those that lie in it. */
function fieldOf(path: string, names: readonly string[]): string | null {
  if (path === '') return null
  const around = names.filter((name) => path === name || path.startsWith(`${name}.`))
  const longest = around.reduce((best, name) => (name.length > best.length ? name : best), '')
  return longest || (names.find((name) => name.startsWith(`${path}.`)) ?? null)
}
