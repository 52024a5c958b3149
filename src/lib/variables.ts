// Declarations of environment variables. Each has a schema, a description of the allowed values, and a flag for secrets. The
// code that reads a variable declares it in a table; src/config.ts combines the tables. An empty value counts as not set.

import { z } from 'zod'

export type Variable<Schema extends z.ZodType = z.ZodType> = {
  readonly schema: Schema
  /** Completes "allowed is …". */
  readonly allowed: string
  /** Its value is never shown. */
  readonly secret: boolean
}

export type Variables = Readonly<Record<string, Variable>>

/** The parsed values of a table. */
export type ValuesOf<Table extends Variables> = { readonly [Name in keyof Table]: z.output<Table[Name]['schema']> }

/** The environment as it was given. */
export type RawVariables = Readonly<Record<string, unknown>>

/** Thrown for an invalid configuration: one line for each invalid variable. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** Throws a `ConfigError` that names every invalid variable of the table, with its value and what is allowed. */
export function readVariables<Table extends Variables>(table: Table, raw: RawVariables): ValuesOf<Table> {
  const values: Record<string, unknown> = {}
  const faults: string[] = []
  for (const [name, { schema, allowed, secret }] of Object.entries(table)) {
    const found = raw[name]
    const result = schema.safeParse(found === '' ? undefined : found)
    if (result.success) values[name] = result.data
    else
      faults.push(
        `${name}: found ${secret ? 'a value that does not fit' : JSON.stringify(found)}, allowed is ${allowed}`,
      )
  }
  if (faults.length > 0) throw new ConfigError(faults.join('\n'))
  return values as ValuesOf<Table>
}

export const variable = <Schema extends z.ZodType>(schema: Schema, allowed: string): Variable<Schema> => {
  return { schema, allowed, secret: false }
}

export const secret = <Schema extends z.ZodType>(schema: Schema, allowed: string): Variable<Schema> => {
  return { schema, allowed, secret: true }
}

const numbers = (words: string, min: number, max: number): string => `${words} from ${min} to ${max}`
const integer = (min: number, max: number) => z.coerce.number().int().min(min).max(max)

export const wholeNumber = (min: number, max: number, fallback: number) =>
  variable(integer(min, max).default(fallback), numbers('a whole number', min, max))

export const optionalWholeNumber = (min: number, max: number) =>
  variable(integer(min, max).optional(), numbers('a whole number', min, max))

export const decimal = (min: number, max: number, fallback: number) =>
  variable(z.coerce.number().min(min).max(max).default(fallback), numbers('a number', min, max))

export const optionalDecimal = (min: number, max: number) =>
  variable(z.coerce.number().min(min).max(max).optional(), numbers('a number', min, max))

/** One of at least two words. */
export const choice = <const Words extends readonly [string, ...string[]]>(words: Words, fallback: Words[number]) =>
  variable(
    z.enum(words).default(fallback),
    words
      .map((word) => `"${word}"`)
      .join(', ')
      .replace(/, ([^,]*)$/, ' or $1'),
  )

const URL_ALLOWED = 'an http(s) URL'
const httpUrl = () => z.url({ protocol: /^https?$/ })
const withoutSlash = () => httpUrl().transform((url) => url.replace(/\/+$/, ''))

/** An address that is requested unchanged. */
export const optionalAddress = () => variable(httpUrl().optional(), URL_ALLOWED)
/** A base address to which paths are appended. */
export const optionalBaseUrl = () => variable(withoutSlash().optional(), URL_ALLOWED)
export const baseUrl = (fallback: string) => variable(withoutSlash().default(fallback), URL_ALLOWED)

/** Put unchanged into a header, a query or a body. */
export const providerKey = (most = 200) =>
  secret(
    z
      .string()
      .regex(/^[\x21-\x7e]+$/)
      .max(most)
      .optional(),
    'a key as its provider gave it, without blanks',
  )

/** A comma-separated list. */
export const commaList = (fallback: string) =>
  z
    .string()
    .default(fallback)
    .transform((text) => text.split(',').map((part) => part.trim()))
    .transform((parts) => parts.filter((part) => part !== ''))

/** All variables of some units. Two units may share a variable, but must not declare different ones under one name. */
export function variablesOf(units: Readonly<Record<string, { readonly variables: Variables }>>): Variables {
  const sum: Record<string, Variable> = {}
  for (const { variables } of Object.values(units)) {
    for (const [name, declared] of Object.entries(variables)) {
      if (sum[name] !== undefined && sum[name].schema !== declared.schema) throw new Error(`${name} is declared twice`)
      sum[name] = declared
    }
  }
  return sum
}

// A unit that the operator configures and whose code is loaded on first use: its variables are known without that code.

export type LazyUnit<Deps, Made> = {
  readonly variables: Variables
  readonly load: () => Promise<unknown>
  /** Null when the operator has not set the required variables. */
  readonly make: (raw: RawVariables, deps: Deps) => Promise<Made | null>
}

export type LazyUnitSpec<Table extends Variables, Module, Deps, Made> = {
  variables: Table
  load: () => Promise<Module>
  make: (module: Module, values: ValuesOf<Table>, deps: Deps) => Made | null
}

export function lazyUnit<Table extends Variables, Module, Deps, Made>({
  variables,
  load,
  make,
}: LazyUnitSpec<Table, Module, Deps, Made>): LazyUnit<Deps, Made> & { readonly variables: Table } {
  return { variables, load, make: async (raw, deps) => make(await load(), readVariables(variables, raw), deps) }
}

/** The named units, in the given order; unknown or unconfigured names are skipped. */
export async function madeOf<Deps, Made>(
  units: Readonly<Record<string, LazyUnit<Deps, Made>>>,
  names: readonly string[],
  made: { variables: RawVariables; deps: Deps },
): Promise<Made[]> {
  const all = await Promise.all(
    names.map((name) => (Object.hasOwn(units, name) ? (units[name]?.make(made.variables, made.deps) ?? null) : null)),
  )
  return all.filter((one) => one !== null)
}
