// Reads the OpenAPI document in the words of the tables.

import { must } from '../../src/lib/assert.ts'

export type Schema = {
  $ref?: string
  type?: string | string[]
  format?: string
  items?: Schema
  properties?: Record<string, Schema>
  additionalProperties?: Schema | boolean
  required?: string[]
  enum?: unknown[]
  default?: unknown
  minimum?: number
  maximum?: number
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
}

type Content = Record<string, { schema: Schema }>

export type Operation = {
  parameters?: { name: string; in: string; required: boolean; schema: Schema }[]
  requestBody?: { required?: boolean; content: Content }
  responses: Record<string, { description: string; content?: Content }>
  security?: Record<string, string[]>[]
  deprecated?: boolean
  operationId?: string
}

export type Document = {
  openapi: string
  info: { title: string; version: string }
  security: Record<string, string[]>[]
  components: { schemas: Record<string, Schema>; securitySchemes: Record<string, unknown> }
  paths: Record<string, Record<string, Operation>>
}

const REF = '#/components/schemas/'

export const nameOf = (ref: string): string => ref.slice(REF.length)

/** The schema behind references, which may stand alone or in an `allOf` with what is said besides. */
export function resolve(document: Document, schema: Schema): Schema {
  if (schema.$ref !== undefined) {
    return resolve(document, must(document.components.schemas[nameOf(schema.$ref)], schema.$ref))
  }
  if (schema.allOf === undefined) return schema
  const parts = schema.allOf.map((part) => resolve(document, part))
  return Object.assign({}, ...parts, {
    properties: Object.assign({}, ...parts.map(({ properties }) => properties)),
    required: parts.flatMap(({ required }) => required ?? []),
  })
}

/** A schema in the words of the tables: `string`, `ConversationInfo|null`, `map[]`, `any`. */
export function shapeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return nameOf(schema.$ref)
  const parts = schema.anyOf ?? schema.oneOf
  if (parts !== undefined) return joined(parts.map(shapeOf))
  const [only, ...others] = schema.allOf?.filter(({ $ref, properties }) => $ref ?? properties) ?? []
  if (only !== undefined && others.length === 0) return shapeOf(only)
  if (schema.allOf !== undefined) return 'object'
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? [])
  return types.length === 0 ? 'any' : joined(types.map((type) => ofType(type, schema)))
}

function ofType(type: string, schema: Schema): string {
  if (type === 'array') return `${shapeOf(schema.items ?? {})}[]`
  if (type === 'string' && /^(date-time|password|binary)$/.test(schema.format ?? '')) return schema.format ?? ''
  if (type !== 'object') return type
  const values = [...Object.values(schema.properties ?? {}), ...extraOf(schema)]
  return values.length > 0 && values.every((value) => shapeOf(value) === 'string') ? 'map' : 'object'
}

const extraOf = ({ additionalProperties }: Schema): Schema[] =>
  typeof additionalProperties === 'object' ? [additionalProperties] : []

/** Null last, the rest in alphabetical order: alternatives have none of their own. */
const joined = (parts: string[]): string =>
  [...new Set(parts)].sort((a, b) => Number(a === 'null') - Number(b === 'null') || a.localeCompare(b)).join('|')

/** What a schema says besides its shape. A reference may carry a default beside it or in its `allOf`. */
export function defaultOf(schema: Schema): unknown {
  return schema.default ?? schema.allOf?.map(({ default: value }) => value).find((value) => value !== undefined)
}

/** Every schema of the document, wherever it stands, with a path that tells where. */
export function* everySchema(value: unknown, path = '#'): Generator<[path: string, schema: Schema]> {
  if (typeof value !== 'object' || value === null) return
  yield [path, value as Schema]
  for (const [key, inner] of Object.entries(value)) yield* everySchema(inner, `${path}/${key}`)
}
