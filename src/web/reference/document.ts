// The API document as used by this page: OpenAPI 3.1 with referenced schemas, as produced by the service.

import { say } from '../texts.ts'

export type Schema = {
  $ref?: string
  type?: string | string[]
  description?: string
  enum?: unknown[]
  const?: unknown
  default?: unknown
  example?: unknown
  format?: string
  pattern?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  allOf?: Schema[]
  anyOf?: Schema[]
  oneOf?: Schema[]
}

export type Content = Record<string, { schema?: Schema; example?: unknown }>

export type Parameter = {
  name: string
  in: 'path' | 'query' | 'header' | 'cookie'
  required?: boolean
  description?: string
  schema?: Schema
  example?: unknown
}

export type Operation = {
  operationId: string
  tags: string[]
  summary: string
  description?: string
  deprecated?: boolean
  /** An empty list: no key is needed. */
  security?: unknown[]
  parameters?: Parameter[]
  requestBody?: { required?: boolean; description?: string; content: Content }
  responses: Record<string, { description: string; content?: Content }>
}

export type ApiDocument = {
  info: { title: string; version: string; description?: string }
  tags: { name: string; description?: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas?: Record<string, Schema> }
}

export type Endpoint = { method: string; path: string; operation: Operation }

export type Group = { name: string; description: string; endpoints: Endpoint[] }

/** The endpoints by their first tag, in the order of the document's tags; unlisted tags come last. */
export function groupsOf({ tags, paths }: ApiDocument): Group[] {
  const groups = new Map<string, Group>(
    tags.map(({ name, description = '' }) => [name, { name, description, endpoints: [] }]),
  )
  for (const [path, item] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(item)) {
      const name = operation.tags[0] ?? 'Other'
      const group = groups.get(name) ?? { name, description: '', endpoints: [] }
      group.endpoints.push({ method: method.toUpperCase(), path, operation })
      groups.set(name, group)
    }
  }
  return [...groups.values()].filter(({ endpoints }) => endpoints.length > 0)
}

/** The groups with the endpoints that contain every word of `filter` in their method, path, summary or group. */
export function filtered(groups: Group[], filter: string): Group[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return groups
  const matches = (group: Group, { method, path, operation }: Endpoint) => {
    const text = `${method} ${path} ${operation.summary} ${operation.operationId} ${group.name}`.toLowerCase()
    return words.every((word) => text.includes(word))
  }
  return groups
    .map((group) => ({ ...group, endpoints: group.endpoints.filter((endpoint) => matches(group, endpoint)) }))
    .filter(({ endpoints }) => endpoints.length > 0)
}

/** The target of a reference, with its name; another schema is returned itself, without a name. */
export function resolved(document: ApiDocument, schema: Schema): { name: string | null; schema: Schema } {
  if (schema.$ref === undefined) return { name: null, schema }
  const name = schema.$ref.replace('#/components/schemas/', '')
  return { name, schema: document.components.schemas?.[name] ?? {} }
}

/** A type in one line: `string | null`, `array of Task`, `"zh" | "en"`. */
export function typeText(schema: Schema): string {
  if (schema.$ref !== undefined) return schema.$ref.replace('#/components/schemas/', '')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined) return [...new Set(choices.map(typeText))].join(' | ')
  if (schema.allOf !== undefined) return schema.allOf.map(typeText).join(' & ')
  const types = [schema.type ?? 'any'].flat()
  return types.map((type) => (type === 'array' ? `array of ${typeText(schema.items ?? {})}` : type)).join(' | ')
}

/** The constraints of a value besides its type: `1 to 100`, `at most 50 items`. */
export function limitsText(schema: Schema): string {
  const { format, pattern } = schema
  return [
    format,
    between(schema.minimum, schema.maximum, '{n}'),
    between(schema.minLength, schema.maxLength, '{n} characters'),
    between(schema.minItems, schema.maxItems, '{n} items'),
    pattern === undefined ? undefined : say('matches {pattern}', { pattern }),
    schema.default === undefined ? undefined : say('default {value}', { value: JSON.stringify(schema.default) }),
  ]
    .filter((text) => text !== undefined && text !== '')
    .join(', ')
}

function between(least: number | undefined, most: number | undefined, unit: '{n}' | '{n} characters' | '{n} items') {
  const of = (n: number | string) => (unit === '{n}' ? String(n) : say(unit, { n }))
  if (least === undefined) return most === undefined ? '' : say('at most {size}', { size: of(most) })
  return most === undefined
    ? say('at least {size}', { size: of(least) })
    : of(say('{least} to {most}', { least, most }))
}

/** The named parts or alternatives of a schema, for a view that expands step by step. */
export function membersOf(
  document: ApiDocument,
  schema: Schema,
): { name: string; schema: Schema; required: boolean }[] {
  const { schema: own } = resolved(document, schema)
  const required = new Set(own.required)
  const named = Object.entries(own.properties ?? {}).map(([name, member]) => ({
    name,
    schema: member,
    required: required.has(name),
  }))
  const { additionalProperties: others } = own
  const free = typeof others === 'object' ? [{ name: `(${say('any name')})`, schema: others, required: false }] : []
  const forms = (own.allOf ?? own.anyOf ?? own.oneOf ?? []).flatMap((form) => membersOf(document, form))
  const items = own.items === undefined ? [] : membersOf(document, own.items)
  return [...named, ...free, ...forms, ...items]
}
