// Converts the OpenAPI document to TypeScript: a type for each named schema, a row with parameters and responses for each call. The same document
// makes the same text.

export type Schema = {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  additionalProperties?: boolean | Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  format?: string
}
type Media = Record<string, { schema: Schema }>
type Parameter = { name: string; in: string; required?: boolean; schema: Schema }
type Operation = {
  summary: string
  parameters?: Parameter[]
  requestBody?: { required?: boolean; content: Media }
  responses: Record<string, { content?: Media }>
}
export type Document = {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

const HEAD = `// Made from /openapi.json by \`npm run build:client-types\`; not written by hand.
`

export function typesOf({ paths, components }: Document): string {
  const shapes = Object.entries(components.schemas)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, schema]) => `export type ${nameOf(name)} = ${typeOf(schema, '')}\n`)
  const calls = Object.entries(paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ call: `${method.toUpperCase()} ${path}`, operation })),
    )
    .sort((a, b) => (a.call < b.call ? -1 : 1))
    .map(({ call, operation }) => rowOf(call, operation))
  return `${HEAD}\n${shapes.join('\n')}\n/** Every call: what its query and its body are, and what it answers. */\nexport type Calls = {\n${calls.join('')}}\n`
}

const nameOf = (name: string): string => name.replaceAll(/\W/g, '')

function rowOf(call: string, operation: Operation): string {
  const query = (operation.parameters ?? []).filter((one) => one.in === 'query' && one.name !== 'session_api_key')
  const fields = query.map(
    ({ name, required, schema }) => `${keyOf(name)}${required ? '' : '?'}: ${typeOf(schema, '    ')}`,
  )
  const body = operation.requestBody
  const parts = [
    ...(fields.length === 0
      ? []
      : [`query${query.some(({ required }) => required) ? '' : '?'}: { ${fields.join('; ')} }`]),
    ...(body === undefined ? [] : [`body${body.required ? '' : '?'}: ${bodyOf(body.content)}`]),
    `reply: ${replyOf(operation)}`,
  ]
  return `  /** ${operation.summary} */\n  '${call}': { ${parts.join('; ')} }\n`
}

function bodyOf(content: Media): string {
  const json = content['application/json']
  if (json !== undefined) return typeOf(json.schema, '    ')
  return 'multipart/form-data' in content ? 'FormData' : 'string'
}

/** The type of the success responses: JSON or text; bytes for any other content. */
function replyOf({ responses }: Operation): string {
  const successes = Object.entries(responses).filter(([status]) => /^2/.test(status))
  const types = successes.map(([, { content }]) => {
    const [type, media] = Object.entries(content ?? {})[0] ?? []
    if (type === undefined || media === undefined) return 'null'
    if (type === 'application/json') return typeOf(media.schema, '    ')
    return /^text\/|\+xml$/.test(type) ? 'string' : 'Uint8Array'
  })
  return [...new Set(types)].join(' | ') || 'null'
}

function typeOf(schema: Schema, indent: string): string {
  if (schema.$ref !== undefined) return nameOf(schema.$ref.split('/').at(-1) ?? '')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return unionOf(schema.enum.map((value) => literalOf(value)))
  const several = schema.anyOf ?? schema.oneOf
  if (several !== undefined) return unionOf(several.map((one) => typeOf(one, indent)))
  if (schema.allOf !== undefined) return schema.allOf.map((one) => grouped(typeOf(one, indent))).join(' & ')
  const types = [schema.type ?? []].flat()
  return types.length === 0 ? 'unknown' : unionOf(types.map((type) => plainOf(type, schema, indent)))
}

function plainOf(type: string, schema: Schema, indent: string): string {
  if (type === 'integer') return 'number'
  if (type === 'array') return `${grouped(typeOf(schema.items ?? {}, indent))}[]`
  if (type === 'object') return objectOf(schema, indent)
  return type
}

function objectOf({ properties = {}, required = [], additionalProperties }: Schema, indent: string): string {
  const inner = `${indent}  `
  const fields = Object.entries(properties).map(([name, schema]) => {
    return `${inner}${keyOf(name)}${required.includes(name) ? '' : '?'}: ${typeOf(schema, inner)}\n`
  })
  const isOpen = typeof additionalProperties === 'object'
  if (fields.length === 0) return `Record<string, ${isOpen ? typeOf(additionalProperties, indent) : 'unknown'}>`
  // Additional properties have the type of any value, because an index type would also apply to the named fields.
  const others = isOpen ? `${inner}[name: string]: unknown\n` : ''
  return `{\n${fields.join('')}${others}${indent}}`
}

const unionOf = (types: string[]): string => [...new Set(types)].join(' | ')
const grouped = (type: string): string => (/^[\w.]+$/.test(type) || type.startsWith('{') ? type : `(${type})`)
const keyOf = (name: string): string => (/^[A-Za-z_]\w*$/.test(name) ? name : `'${name}'`)
const literalOf = (value: unknown): string =>
  typeof value === 'string' ? `'${value.replaceAll(/['\\]/g, '\\$&')}'` : JSON.stringify(value)
