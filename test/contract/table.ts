// The words in which the endpoint tables are written: one row per endpoint, as short as the interface description has it.

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export type Parameter = {
  name: string
  in: 'path' | 'query'
  /** A JSON type, or the name of a schema. */
  type: string
  required: boolean
  default?: unknown
  minimum?: number
  maximum?: number
  /** Whether null is documented; left out where the description only says "optional". */
  nullable?: boolean
}

export type Body = {
  /** The schema's name, or `any` where the description does not show the body. */
  schema: string
  required: boolean
  contentType: string
}

export type Endpoint = {
  method: Method
  path: string
  parameters: Parameter[]
  body: Body | null
  /** The shape of each answer that has one, by status. */
  answers: Record<number, string>
  /** Every status that the document must declare, and no other. */
  statuses: number[]
  /** Optional query parameters that we add; they change nothing for whoever does not send them. */
  added: string[]
  open: boolean
  deprecated: boolean
  /** The capability that a row waits for, or false once it is built. */
  pending: string | false
}

type Options = {
  query?: Parameter[]
  body?: Body
  /** The success, where it is not 200. */
  status?: number
  /** Answers with a shape besides the success. */
  also?: Record<number, string>
  /** Statuses of the description's row. */
  errors?: number[]
  /** Statuses that a decision of ours adds to the row. */
  decided?: number[]
  added?: string[]
  open?: boolean
  deprecated?: boolean
}

/**
 * One endpoint. Shapes: a schema's name, `string`, `boolean`, `map` (string to string), `object` (free-form), `any`
 * (unconstrained), `bytes` (a file), `stream` (server-sent events); `[]` behind one makes it a list; `|` joins several.
 */
export function endpoint(call: `${Method} /${string}`, answer: string, options: Options = {}): Endpoint {
  const [method, path] = call.split(' ') as [Method, string]
  const { query = [], body = null, status = 200, also = {}, errors = [], decided = [], open = false } = options
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => inPathParameter(name))
  const parameters = [...inPath, ...query]
  const answers = { ...(answer === 'none' ? {} : { [status]: answer }), ...also }
  const takesInput = parameters.length > 0 || body !== null || options.added !== undefined
  const always = [
    ...(open ? [403] : BEFORE_ENDPOINT),
    ...(takesInput ? [422] : []),
    ...(body === null ? [] : [408, 413, 415]),
  ]
  const statuses = new Set([status, ...Object.keys(also).map(Number), ...errors, ...decided, ...always])
  return {
    method,
    path,
    parameters,
    body,
    answers,
    statuses: [...statuses].sort((a, b) => a - b),
    added: options.added ?? [],
    open,
    deprecated: options.deprecated ?? false,
    pending: false,
  }
}

/** What every call that needs a key may answer: no key, no right, too many requests, no database. */
const BEFORE_ENDPOINT = [401, 403, 429, 503]

/** Rows that nobody has built yet. */
export const pending = (capability: string, rows: Endpoint[]): Endpoint[] =>
  rows.map((row) => ({ ...row, pending: capability }))

const inPathParameter = (name: string): Parameter => ({ name, in: 'path', type: 'string', required: true })

type ParameterDetails = Partial<Pick<Parameter, 'default' | 'minimum' | 'maximum' | 'nullable'>>

export const required = (name: string, type = 'string'): Parameter => ({ name, in: 'query', type, required: true })

export const optional = (name: string, type = 'string', rest: ParameterDetails = {}): Parameter => ({
  name,
  in: 'query',
  type,
  required: false,
  ...rest,
})

/** `T|null` of the description. */
export const nullable = (name: string, type = 'string'): Parameter => optional(name, type, { nullable: true })

export const json = (schema: string, isRequired = true): Body => ({
  schema,
  required: isRequired,
  contentType: 'application/json',
})

export const form = (schema: string): Body => ({ schema, required: true, contentType: 'multipart/form-data' })
