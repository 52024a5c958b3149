// The language of filters: conditions on stored figures, joined by `and`, `or` and `not`. Anything unknown is refused
// with a sentence that names its position; nothing is ignored, because an ignored condition would return the wrong
// stocks.

import { z } from 'zod'
import { laxInt } from '../lib/lax.ts'
import type { Market } from '../market/instruments.ts'
import { FIELDS, type Field, fieldNamed, isNumber } from './fields.ts'
import type { ScreeningTexts } from './words.ts'

export const MARKETS = ['cn', 'hk', 'us', 'jp', 'kr', 'tw'] as const satisfies readonly Market[]
export const KINDS = ['stock', 'etf'] as const

export const NUMBER_OPS = ['gt', 'gte', 'lt', 'lte', 'eq', 'between'] as const
export const TEXT_OPS = ['in', 'not_in'] as const
const FLAG_OPS = ['is'] as const
type Comparison = Exclude<(typeof NUMBER_OPS)[number], 'between'>

export type Condition =
  | { field: Field; op: Comparison; value: number }
  | { field: Field; op: 'between'; value: readonly [number, number] }
  /** Compared with another figure of the same unit. */
  | { field: Field; op: Comparison; other: Field }
  | { field: Field; op: (typeof TEXT_OPS)[number]; value: readonly string[] }
  | { field: Field; op: 'is'; value: boolean }

export type Filter = { and: readonly Filter[] } | { or: readonly Filter[] } | { not: Filter } | Condition

export type Sort = { field: Field; order: 'asc' | 'desc' }

export type Screen = {
  /** Empty for all that have figures. */
  markets: readonly Market[]
  kinds: readonly (typeof KINDS)[number][]
  where: Filter | null
  sort: readonly Sort[]
  /** At most this many, in the given order; null for all. */
  limit: number | null
  /** How many sessions of its market a figure may be older than the last finished one. */
  maxAgeSessions: number
}

const MOST_CONDITIONS = 30
const MOST_DEPTH = 6
const MOST_SORTS = 3
const MOST_VALUES = 100
const MOST_LIMIT = 1_000
const MOST_AGE_SESSIONS = 20
const USUAL_AGE_SESSIONS = 3
const LARGEST = 1e18
const LONGEST_TEXT = 60

/**
 * Sent and stored in this form. Strict, because a filter under an unknown key would not be applied. Whole numbers may
 * be texts, as in all requests; figures of `where` may not, because a text is a different value there.
 */
export const ScreenInput = z.strictObject({
  markets: z.array(z.enum(MARKETS)).max(MARKETS.length).describe('Empty for all that are kept').default([]),
  kinds: z.array(z.enum(KINDS)).min(1).max(KINDS.length).describe('Shares, funds or both').default(['stock']),
  where: z
    .record(z.string(), z.unknown())
    .nullable()
    .describe('A condition `{field, op, value}`, or `{and: […]}`, `{or: […]}`, `{not: …}`; null for none')
    .default(null),
  sort: z
    .array(
      z.strictObject({
        field: z.string().max(64).describe('A figure'),
        order: z.enum(['asc', 'desc']).describe('The smallest first, or the largest').default('desc'),
      }),
    )
    .max(MOST_SORTS)
    .describe('The first counts first; what is unknown comes last')
    .default([]),
  limit: laxInt({ min: 1, max: MOST_LIMIT }).nullable().describe('Only the first so many; null for all').default(null),
  max_age_sessions: laxInt({ min: 0, max: MOST_AGE_SESSIONS })
    .describe('How many sessions a figure may lie behind the last one that is over')
    .default(USUAL_AGE_SESSIONS),
})
export type ScreenInput = z.infer<typeof ScreenInput>

export type ReadScreen = { ok: true; screen: Screen } | { ok: false; problem: string }

class Refusal extends Error {}

/** The requested screen, or a sentence about its error. */
export function readScreen(input: ScreenInput, words: ScreeningTexts['filter']): ReadScreen {
  const reader: Reader = { words, conditions: 0 }
  try {
    const where = input.where === null ? null : readFilter(reader, input.where, { path: 'where', depth: 1 })
    const sort = input.sort.map(({ field, order }, i) => {
      return { field: knownField(reader, field, `sort[${i}].field`), order }
    })
    const { markets, kinds, limit, max_age_sessions: maxAgeSessions } = input
    return { ok: true, screen: { markets, kinds, where, sort, limit, maxAgeSessions } }
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, problem: error.message }
    throw error
  }
}

type Reader = { words: ScreeningTexts['filter']; conditions: number }
type FilterPosition = { path: string; depth: number }

const Joined = z.union([
  z.strictObject({ and: z.array(z.unknown()) }),
  z.strictObject({ or: z.array(z.unknown()) }),
  z.strictObject({ not: z.unknown() }),
])
const Simple = z.strictObject({ field: z.string().max(64), op: z.string().max(16), value: z.unknown() })

function readFilter(reader: Reader, given: unknown, { path, depth }: FilterPosition): Filter {
  const { words } = reader
  if (depth > MOST_DEPTH) throw new Refusal(words.deep(path, MOST_DEPTH))
  const joined = Joined.safeParse(given)
  if (joined.success) {
    const { data } = joined
    if ('not' in data) return { not: readFilter(reader, data.not, { path: `${path}.not`, depth: depth + 1 }) }
    const word = 'and' in data ? 'and' : 'or'
    const parts = 'and' in data ? data.and : data.or
    if (parts.length === 0) throw new Refusal(words.empty(`${path}.${word}`))
    const read = parts.map((one, i) => readFilter(reader, one, { path: `${path}.${word}[${i}]`, depth: depth + 1 }))
    return word === 'and' ? { and: read } : { or: read }
  }
  const simple = Simple.safeParse(given)
  if (!simple.success) throw new Refusal(words.form(path))
  reader.conditions += 1
  if (reader.conditions > MOST_CONDITIONS) throw new Refusal(words.many(MOST_CONDITIONS))
  return readCondition(reader, simple.data, path)
}

function knownField({ words }: Reader, name: string, path: string): Field {
  const field = fieldNamed(name)
  if (field === null) throw new Refusal(words.field(path, name, FIELDS.map((one) => one.name).join(', ')))
  return field
}

function readCondition(reader: Reader, { field: name, op, value }: z.infer<typeof Simple>, path: string): Condition {
  const { words } = reader
  const field = knownField(reader, name, `${path}.field`)
  const ops: readonly string[] = isNumber(field) ? NUMBER_OPS : field.unit === 'flag' ? FLAG_OPS : TEXT_OPS
  if (!ops.includes(op)) throw new Refusal(words.op(`${path}.op`, name, ops.join(', ')))
  const at = `${path}.value`
  if (op === 'is') {
    if (typeof value !== 'boolean') throw new Refusal(words.flag(at, name))
    return { field, op, value }
  }
  if (op === 'in' || op === 'not_in') return { field, op, value: textsIn(reader, value, { at, name }) }
  if (op === 'between') return { field, op, value: span(reader, value, { at, name }) }
  const comparison = op as Comparison
  const other = OtherField.safeParse(value)
  if (other.success) {
    const against = knownField(reader, other.data.field, `${at}.field`)
    if (against.unit !== field.unit) throw new Refusal(words.unit(at, name, against.name))
    return { field, op: comparison, other: against }
  }
  return { field, op: comparison, value: numberIn(reader, value, { at, name }) }
}

const OtherField = z.strictObject({ field: z.string().max(64) })

type Named = { at: string; name: string }

function numberIn({ words }: Reader, value: unknown, { at, name }: Named): number {
  // JSON has no infinity, but 1e999 is parsed as one.
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new Refusal(words.number(at, name))
  if (Math.abs(value) > LARGEST) throw new Refusal(words.large(at, name))
  return value
}

function span(reader: Reader, value: unknown, { at, name }: Named): readonly [number, number] {
  if (!Array.isArray(value) || value.length !== 2) throw new Refusal(reader.words.between(at, name))
  const [from, to] = value.map((one, i) => numberIn(reader, one, { at: `${at}[${i}]`, name }))
  if (from === undefined || to === undefined || from > to) throw new Refusal(reader.words.between(at, name))
  return [from, to]
}

const Texts = z.array(z.string().trim().min(1).max(LONGEST_TEXT)).min(1).max(MOST_VALUES)

function textsIn({ words }: Reader, value: unknown, { at, name }: Named): readonly string[] {
  const read = Texts.safeParse(value)
  if (!read.success) throw new Refusal(words.texts(at, name, MOST_VALUES))
  const allowed: readonly string[] | undefined = name === 'market' ? MARKETS : name === 'kind' ? KINDS : undefined
  const wrong = read.data.find((one) => allowed !== undefined && !allowed.includes(one))
  if (wrong !== undefined) throw new Refusal(words.choice(at, name, (allowed ?? []).join(', ')))
  return read.data
}

/** Every figure that a screen uses, each once. */
export function fieldsOf(screen: Pick<Screen, 'where'>): Field[] {
  const found = new Map<string, Field>()
  const walk = (filter: Filter): void => {
    if ('and' in filter) for (const one of filter.and) walk(one)
    else if ('or' in filter) for (const one of filter.or) walk(one)
    else if ('not' in filter) walk(filter.not)
    else {
      found.set(filter.field.name, filter.field)
      if ('other' in filter) found.set(filter.other.name, filter.other)
    }
  }
  if (screen.where !== null) walk(screen.where)
  return [...found.values()]
}
