// Values that a schema of the document allows, and values that it does not.

import type { JsonSchema } from '../../helpers/json-schema.ts'
import type { Random } from '../broken-requests.ts'

export type Components = Readonly<Record<string, JsonSchema>>

export const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
export const below = (random: Random, limit: number): number => Math.floor(random() * limit)

const WORDS = [
  'a',
  'echo hello',
  '600519',
  'AAPL',
  'hk00700',
  'notes',
  '2026-08-13',
  'main',
  'ls -la',
  '中文 名',
  'x y',
]
const STRANGE = [
  ...['', ' ', '\u0000', '\ud800', '\u202e', '../../etc/passwd', "' OR 1=1 --", '<script>alert(1)</script>', '{{7*7}}'],
  ...[
    '%',
    '%00',
    '__proto__',
    'constructor',
    'NaN',
    '1e400',
    '-0',
    '9007199254740993',
    'null',
    '🦊'.repeat(40),
    '\r\nx: y',
  ],
  ...[
    'x'.repeat(300),
    'x'.repeat(70_000),
    '2026-02-30',
    '9999-12-31T23:59:59Z',
    'http://169.254.169.254/',
    'file:///etc',
  ],
]
const NUMBERS = [0, 1, -1, 2, 10, 0.5, 1e9, -1e9, 2 ** 31, 2 ** 53, 1e308, 1e-300]

const DEEPEST = 6
const FORMATS: Readonly<Record<string, readonly string[]>> = {
  date: ['2026-08-13', '2024-02-29', '1999-12-31'],
  'date-time': ['2026-08-13T02:30:00Z', '2024-02-29T23:59:59.123456Z'],
  uri: ['https://example.com/a?b=c', 'http://127.0.0.1:9/'],
  uuid: ['6a8d6c1e-6f0e-4c55-9a52-6e7d6f6f1a11'],
}

export class Values {
  readonly #random: Random
  readonly #components: Components
  /** Values from responses, by the name of their field. */
  readonly known = new Map<string, (string | number)[]>()

  constructor(random: Random, components: Components) {
    this.#random = random
    this.#components = components
  }

  /** Stores the ids of existing resources from a response. */
  learn(value: unknown, depth = 0): void {
    if (depth > DEEPEST || typeof value !== 'object' || value === null) return
    for (const [name, inner] of Object.entries(value)) {
      const isId = /(^|_)(id|key|name|code|path|session|symbol)$/.test(name)
      if (isId && (typeof inner === 'string' || typeof inner === 'number') && String(inner).length < 200)
        this.#remember(name, inner)
      else this.learn(inner, depth + 1)
    }
  }

  /** A stored value for the name, or a value in the form of an id. */
  idFor(name: string): string {
    const random = this.#random
    const own = this.known.get(name) ?? (name.endsWith('_id') ? this.known.get('id') : undefined) ?? []
    if (own.length > 0 && random() < 0.8) return String(pick(random, own))
    return random() < 0.5 ? pick(random, WORDS) : String(below(random, 30))
  }

  valid(schema: JsonSchema, name = '', depth = 0): unknown {
    const random = this.#random
    const { $ref, anyOf, oneOf, allOf, enum: values, type } = schema
    if (typeof $ref === 'string') return this.valid(this.#components[$ref.split('/').pop() ?? ''] ?? {}, name, depth)
    if (Object.hasOwn(schema, 'const')) return schema.const
    if (Array.isArray(values)) return pick(random, values)
    const parts = (anyOf ?? oneOf) as JsonSchema[] | undefined
    if (parts !== undefined) return this.valid(pick(random, parts), name, depth)
    if (allOf !== undefined) return this.#merged(allOf as JsonSchema[], name, depth)
    const kind = Array.isArray(type) ? pick(random, type as string[]) : type
    if (kind === 'object' || schema.properties !== undefined) return this.#object(schema, depth)
    if (kind === 'array') return this.#list(schema, name, depth)
    if (kind === 'integer' || kind === 'number') return this.#number(schema, kind === 'integer')
    if (kind === 'boolean') return random() < 0.5
    if (kind === 'null') return null
    if (kind === 'string') return this.#text(schema, name)
    return pick(random, [{}, [], 'a', 1, true, null])
  }

  /** The value with one error at a random position. */
  broken(value: unknown, depth = 0): unknown {
    const random = this.#random
    if (depth < DEEPEST && random() < 0.75) {
      if (Array.isArray(value) && value.length > 0) {
        const at = below(random, value.length)
        return value.map((inner, i) => (i === at ? this.broken(inner, depth + 1) : inner))
      }
      if (typeof value === 'object' && value !== null && Object.keys(value).length > 0) {
        const name = pick(random, Object.keys(value))
        if (random() < 0.2) return Object.fromEntries(Object.entries(value).filter(([one]) => one !== name))
        return { ...value, [name]: this.broken((value as Record<string, unknown>)[name], depth + 1) }
      }
    }
    return pick<() => unknown>(random, [
      () => pick(random, STRANGE),
      () => pick(random, NUMBERS),
      () => null,
      () => true,
      () => [value, value],
      () => JSON.parse('{"__proto__": {"a": 1}, "constructor": {"prototype": 1}}'),
      () => JSON.parse(`${'['.repeat(40)}${']'.repeat(40)}`),
      () => String(value),
    ])()
  }

  #remember(name: string, value: string | number): void {
    const kept = this.known.get(name) ?? []
    if (kept.includes(value)) return
    this.known.set(name, [...kept.slice(-40), value])
  }

  #merged(parts: readonly JsonSchema[], name: string, depth: number): unknown {
    const made = parts.map((part) => this.valid(part, name, depth))
    const isRecords = made.every((one) => typeof one === 'object' && one !== null && !Array.isArray(one))
    return isRecords ? Object.assign({}, ...(made as object[])) : made.at(-1)
  }

  #object({ properties = {}, required = [], additionalProperties }: JsonSchema, depth: number): unknown {
    const random = this.#random
    const wanted = required as string[]
    const made: Record<string, unknown> = {}
    for (const [name, schema] of Object.entries(properties as Record<string, JsonSchema>)) {
      const isWanted = wanted.includes(name) || (depth < DEEPEST && random() < 0.35)
      if (isWanted) made[name] = this.valid(schema, name, depth + 1)
    }
    if (typeof additionalProperties === 'object' && additionalProperties !== null && depth < DEEPEST)
      for (let left = below(random, 3); left > 0; left--)
        made[pick(random, WORDS)] = this.valid(additionalProperties as JsonSchema, '', depth + 1)
    return made
  }

  #list({ items = {}, minItems = 0, maxItems = 4 }: JsonSchema, name: string, depth: number): unknown[] {
    const least = Number(minItems)
    const most = depth > DEEPEST ? least : Math.max(least, Math.min(Number(maxItems), least + 3))
    const length = least + below(this.#random, most - least + 1)
    return Array.from({ length }, () => this.valid(items as JsonSchema, name, depth + 1))
  }

  #number({ minimum, maximum, exclusiveMinimum, default: preset }: JsonSchema, isWhole: boolean): number {
    const random = this.#random
    if (typeof preset === 'number' && random() < 0.3) return preset
    const least = Number(minimum ?? exclusiveMinimum ?? -5)
    const most = Math.min(Number(maximum ?? least + 50), least + 1_000)
    const value = least + random() * (most - least)
    return isWhole ? Math.max(Math.ceil(least), Math.floor(value)) : value
  }

  #text({ format, minLength = 0, maxLength = 200, example, pattern }: JsonSchema, name: string): string {
    const random = this.#random
    const formed = FORMATS[String(format)]
    if (formed !== undefined) return pick(random, formed)
    if (typeof example === 'string' && (pattern !== undefined || random() < 0.4)) return example
    if (this.known.has(name) && random() < 0.5) return this.idFor(name)
    const text = pick(random, WORDS)
    return text.padEnd(Number(minLength), 'x').slice(0, Math.max(1, Number(maxLength)))
  }
}
