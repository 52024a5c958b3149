import { expect, test } from 'vitest'
import { request } from '../helpers/app.ts'
import { ADDITIONS } from './additions.ts'
import {
  type Document,
  defaultOf,
  everySchema,
  nameOf,
  type Operation,
  resolve,
  type Schema,
  shapeOf,
} from './document-shapes.ts'
import { ENDPOINTS, PENDING_LIMIT } from './endpoints.ts'
import { ENUMERATIONS, SHAPES, type Shape } from './schemas.ts'
import type { Endpoint, Parameter } from './table.ts'

const document = await (await request('/openapi.json')).json<Document>()

const callOf = ({ method, path }: Pick<Endpoint, 'method' | 'path'>) => `${method} ${path}`
const operations = new Map<string, Operation>(
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, Operation] => [
      `${method.toUpperCase()} ${path}`,
      operation,
    ]),
  ),
)
const built = ENDPOINTS.filter(({ pending }) => pending === false)

/** What the document says of one endpoint, in the words of its row; what the row leaves open is left out. */
function documented(row: Endpoint, operation: Operation) {
  const added = (operation.parameters ?? []).filter(({ name }) => row.added.includes(name))
  const parameters = (operation.parameters ?? []).filter(({ name }) => !row.added.includes(name))
  const bodies = Object.entries(operation.requestBody?.content ?? {}).map(([contentType, { schema }]) => ({
    schema: row.body?.schema === 'any' ? 'any' : shapeOf(schema),
    required: operation.requestBody?.required ?? false,
    contentType,
  }))
  return {
    parameters: parameters.map((parameter) => inWordsOf(row, parameter)).sort(byName),
    added: added.map(({ name, required }) => ({ name, required })).sort(byName),
    bodies,
    statuses: Object.keys(operation.responses).map(Number),
    answers: Object.fromEntries(
      Object.entries(row.answers).map(([status, shape]) => [status, answerOf(operation, status, shape)]),
    ),
    open: operation.security?.length === 0,
    deprecated: operation.deprecated ?? false,
  }
}

function expected(row: Endpoint): ReturnType<typeof documented> {
  return {
    parameters: row.parameters.map((parameter) => ({ ...parameter })).sort(byName),
    added: row.added.map((name) => ({ name, required: false })).sort(byName),
    bodies: row.body === null ? [] : [row.body],
    statuses: row.statuses,
    answers: row.answers,
    open: row.open,
    deprecated: row.deprecated,
  }
}

const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name)

type DocumentedParameter = NonNullable<Operation['parameters']>[number]

function inWordsOf(row: Endpoint, { name, in: place, required, schema }: DocumentedParameter): Parameter {
  const listed = row.parameters.find((parameter) => parameter.name === name)
  const shape = shapeOf(schema)
  const { minimum, maximum } = schema
  return {
    name,
    in: place === 'path' ? 'path' : 'query',
    type: shape.replace(/\|null$/, ''),
    required,
    ...(defaultOf(schema) === undefined ? {} : { default: defaultOf(schema) }),
    ...(listed?.nullable === undefined ? {} : { nullable: shape.endsWith('|null') }),
    ...(minimum === undefined ? {} : { minimum }),
    ...(maximum === undefined ? {} : { maximum }),
  }
}

const FILES: Readonly<Record<string, string>> = { bytes: 'application/zip', stream: 'text/event-stream' }

function answerOf(operation: Operation, status: string, wanted: string): string {
  const content = operation.responses[status]?.content ?? {}
  const file = FILES[wanted]
  if (file !== undefined) return file in content ? wanted : `no ${file}`
  const schema = content['application/json']?.schema
  if (schema === undefined) return 'nothing'
  if (wanted === 'any') return 'any'
  if (wanted === 'object' && resolve(document, schema).type === 'object') return 'object'
  return shapeOf(schema)
}

test('every endpoint that is built is documented exactly as the interface descriptions have it', () => {
  const actual: Record<string, unknown> = {}
  const wanted: Record<string, unknown> = {}
  for (const row of built) {
    const operation = operations.get(callOf(row))
    actual[callOf(row)] = operation === undefined ? 'is not in the document' : documented(row, operation)
    wanted[callOf(row)] = expected(row)
  }
  expect(actual).toEqual(wanted)
})

test('a pending endpoint is not in the document, and the list of pending ones only shrinks', () => {
  const waiting = ENDPOINTS.filter(({ pending }) => pending !== false)
  expect(waiting.map(callOf).filter((call) => operations.has(call))).toEqual([])
  expect(waiting.length).toBe(PENDING_LIMIT)
})

test('nothing is served that neither the descriptions nor the list of additions name', () => {
  const calls = [...built.map(callOf), ...ADDITIONS]
  expect(new Set(calls).size).toBe(calls.length)
  expect([...operations.keys()].filter((call) => !calls.includes(call))).toEqual([])
  expect(ADDITIONS.filter((call) => !operations.has(call))).toEqual([])
})

test('the document is OpenAPI 3.1 of interface version 0.53.0, and every call but the open ones asks for a key', () => {
  expect(document.openapi).toMatch(/^3\.1\.\d+$/)
  expect(document.info.version).toBe('0.53.0')
  expect(document.components.securitySchemes).toMatchObject({
    APIKeyHeader: { type: 'apiKey', in: 'header', name: 'X-Session-API-Key' },
    BearerToken: { type: 'http', scheme: 'bearer' },
    SessionCookie: { type: 'apiKey', in: 'cookie', name: 'bellwether_session' },
  })
  expect(document.security).toEqual([{ APIKeyHeader: [] }, { BearerToken: [] }, { SessionCookie: [] }])
  const open = [...operations].filter(([, { security }]) => security !== undefined).map(([call]) => call)
  expect(open.filter((call) => call.startsWith('GET')).sort()).toEqual([
    'GET /alive',
    'GET /api/health',
    'GET /api/v1/health',
    'GET /health',
  ])
  expect(open.filter((call) => !call.startsWith('GET') && !/(session|auth\/logout)$/.test(call))).toEqual([])
})

/** What the document says of a named shape; types that the table calls `any` are not compared. */
function fieldsOf(shape: Shape, schema: Schema): Record<string, string> {
  const entries = Object.entries(schema.properties ?? {}).filter(([name]) => name in shape.fields || shape.request)
  return Object.fromEntries(
    entries.map(([name, field]) => {
      const listed = shape.fields[name] ?? ''
      const type = /^any\b(?!\[)/.test(listed) ? 'any' : shapeOf(field)
      const isRequired = schema.required?.includes(name) ?? false
      // An answer may promise a field that the description leaves open.
      const mark = isRequired && (shape.request || listed.endsWith('!')) ? '!' : ''
      const value = defaultOf(field)
      const fallback = value === undefined || type === 'any' ? '' : `=${JSON.stringify(value)}`
      return [name, `${type}${fallback}${mark}`]
    }),
  )
}

test('the named shapes have the fields, types, defaults and requirements of the descriptions', () => {
  for (const shape of SHAPES) {
    const schema = document.components.schemas[shape.name]
    if (shape.pending !== false) {
      expect([shape.name, schema]).toEqual([shape.name, undefined])
      continue
    }
    const whole = resolve(document, schema ?? {})
    expect({ [shape.name]: fieldsOf(shape, whole) }).toEqual({ [shape.name]: shape.fields })
    expect([shape.name, whole.additionalProperties === false]).toEqual([shape.name, shape.closed])
  }
  for (const [name, values] of Object.entries(ENUMERATIONS)) {
    expect([name, document.components.schemas[name]?.enum]).toEqual([name, values])
  }
})

test('a named shape is never null in itself: where null is allowed, the place says so', () => {
  const nullable = Object.entries(document.components.schemas).filter(
    ([, { type, enum: values }]) => (Array.isArray(type) && type.includes('null')) || values?.includes(null),
  )
  expect(nullable.map(([name]) => name)).toEqual([])
})

test('the answers to a bad request have the shape of their family', () => {
  const shapes = [...operations].flatMap(([call, { responses }]) => {
    const schema = responses[422]?.content?.['application/json']?.schema
    return responses[422] === undefined ? [] : [[call, schema && resolve(document, schema)] as const]
  })
  for (const [call, schema] of shapes) {
    const members = Object.keys(schema?.properties ?? {}).sort()
    expect([call, members]).toEqual([call, call.includes(' /api/v1/') ? ['detail', 'error', 'message'] : ['detail']])
  }
})

test('references resolve, names are unique, and paths name their parameters', () => {
  for (const [path, { $ref }] of everySchema(document)) {
    if (typeof $ref !== 'string') continue
    expect(document.components.schemas, path).toHaveProperty([nameOf($ref)])
  }
  const ids = [...operations.values()].flatMap(({ operationId }) => operationId ?? [])
  expect(new Set(ids).size).toBe(ids.length)
  for (const [call, { parameters = [], responses }] of operations) {
    const keys = parameters.map(({ name, in: place }) => `${place} ${name}`)
    expect([call, new Set(keys).size]).toEqual([call, keys.length])
    const inPath = [...call.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    expect([call, ...parameters.filter((p) => p.in === 'path').map(({ name }) => name)]).toEqual([call, ...inPath])
    expect([call, parameters.filter((p) => p.in === 'path' && !p.required)]).toEqual([call, []])
    for (const [status, { description }] of Object.entries(responses)) {
      expect(status).toMatch(/^[1-5]\d\d$/)
      expect([call, status, description !== '']).toEqual([call, status, true])
    }
  }
})

function isPattern(text: string): boolean {
  try {
    return new RegExp(text, 'u').source !== ''
  } catch {
    return false
  }
}

const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']

/** The keywords of JSON Schema 2020-12 whose values could be wrong without a reader noticing. */
function faultsOf(schema: Schema): string[] {
  const faults: string[] = []
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? [])
  if (types.some((type) => !TYPES.includes(type))) faults.push(`type ${types}`)
  if (schema.enum?.length === 0) faults.push('an empty enum')
  if (types.includes('array') && schema.items === undefined) faults.push('a list of nothing said')
  if ('nullable' in schema) faults.push('nullable, which 3.1 does not know')
  for (const key of ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'minLength', 'maxLength'] as const) {
    const limit: unknown = (schema as Record<string, unknown>)[key]
    if (limit !== undefined && typeof limit !== 'number') faults.push(`${key} ${limit}`)
  }
  // A flag of JavaScript's behind the end: nothing fits that.
  const { pattern } = schema as { pattern?: string }
  if (pattern !== undefined && (/\$\/[a-z]*$/.test(pattern) || !isPattern(pattern))) faults.push(`pattern ${pattern}`)
  const unknown = schema.required?.filter((name) => !(name in (schema.properties ?? {}))) ?? []
  if (unknown.length > 0) faults.push(`requires ${unknown}, which it does not have`)
  if (schema.allOf?.some(({ type }) => Array.isArray(type) && type.includes('null'))) {
    faults.push('allOf with null, which nothing satisfies')
  }
  return faults
}

test('every schema uses the keywords of JSON Schema 2020-12 rightly', () => {
  const schemas = [...everySchema(document)].filter(([path]) => /\/schema(\/|$)|^#\/components\/schemas\//.test(path))
  // Inside `properties` a member is a name, whatever it is called.
  const real = schemas.filter(([path]) => !/\/(properties|required|enum|default)$/.test(path))
  expect(real.flatMap(([path, schema]) => faultsOf(schema).map((fault) => `${path}: ${fault}`))).toEqual([])
  expect(real.length).toBeGreaterThan(100)
})

test('every call, every answer and every group of calls is explained in words', () => {
  const isSaid = (text: unknown) => typeof text === 'string' && /\p{L}{2}/u.test(text)
  const unsaid = [...operations].flatMap(([call, { responses, ...operation }]) => {
    const { summary, tags } = operation as { summary?: string; tags?: string[] }
    const answers = Object.entries(responses as Record<string, { description?: string }>)
    return [
      ...(isSaid(summary) && tags?.length === 1 ? [] : [call]),
      ...answers.flatMap(([status, { description }]) => (isSaid(description) ? [] : [`${call} ${status}`])),
    ]
  })
  expect(unsaid).toEqual([])
  const { tags = [] } = document as { tags?: { name: string; description?: string }[] }
  const used = [...operations.values()].flatMap((operation) => (operation as { tags?: string[] }).tags ?? [])
  expect(new Set(used)).toEqual(new Set(tags.map(({ name }) => name)))
  expect(tags.filter(({ description }) => !isSaid(description))).toEqual([])
})
