// Every call is sent values of the wrong kind, made from what the document says of it. Whatever is refused with a 422 is
// refused in one and the same complete shape.

import { expect, test } from 'vitest'
import { app } from '../../src/app.ts'
import { client, request } from '../helpers/app.ts'
import type { JsonSchema } from '../helpers/json-schema.ts'

type Parameter = { name: string; in: string; schema: JsonSchema }
type Operation = {
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { schema: JsonSchema; example?: unknown }> }
}
type Document = {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, JsonSchema> }
}
type Item = { type: string; loc: (string | number)[]; msg: string; input: unknown; ctx?: unknown }

const { paths, components } = await (await request('/openapi.json')).json<Document>()
const calls = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, ...operation })),
)

// The sign-in has one answer for every body, tool servers speak JSON-RPC, and a GET with a body cannot be made here.
const OTHER_WORLDS = new Set(['/api/session', '/api/v1/auth/login', '/mcp', '/mcp/mcp'])

const WRONG = [{ a: 1 }, [{}], 5.5, null]
const LONG = 'x'.repeat(70_000)

/** Names of the members that a body may have, those of its alternatives included. */
function membersOf(schema: JsonSchema): string[] {
  if (typeof schema.$ref === 'string') return membersOf(components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {})
  const parts = [schema.anyOf, schema.oneOf, schema.allOf].flatMap((list) => (list ?? []) as JsonSchema[])
  return [...new Set([...Object.keys(schema.properties ?? {}), ...parts.flatMap(membersOf)])]
}

function* badBodies(schema: JsonSchema, example: unknown): Generator<unknown> {
  const names = membersOf(schema)
  yield {}
  yield Object.fromEntries(names.map((name) => [name, LONG]))
  yield Object.fromEntries(names.map((name) => [name, '\u0000']))
  for (const name of names) {
    for (const value of WRONG) yield { ...(example as object), [name]: value }
    const { [name]: _, ...without } = example as Record<string, unknown>
    yield without
  }
  yield { ...(example as object), nobody_knows_this: 1 }
}

const MASK = '**********'

/** The value at a place of what was sent. */
const valueAt = (sent: unknown, steps: (string | number)[]): unknown =>
  steps.reduce<unknown>((value, step) => (value as Record<string, unknown> | null | undefined)?.[step], sent)

function faultOf(item: Item, sent: unknown): string | null {
  const keys = Object.keys(item).filter((key) => key !== 'ctx')
  if (keys.sort().join() !== 'input,loc,msg,type') return `has ${keys}`
  const { type, loc, msg, input } = item
  if (!/^[a-z]+(_[a-z]+)*$/.test(type)) return `has the type ${type}`
  if (!['body', 'query', 'path'].includes(String(loc[0]))) return `is at ${loc}`
  if (typeof msg !== 'string' || msg.length < 5) return `says ${msg}`
  if (type === 'missing' && (typeof input !== 'object' || Array.isArray(input)))
    return `shows ${input} around what is missing`
  if (loc[0] !== 'body' || loc.at(-1) === '[key]' || JSON.stringify(input)?.includes(MASK)) return null
  // Of what is missing, the object around it is shown; of a rule over several members, the whole.
  const found = valueAt(sent, loc.slice(1)) ?? null
  const around = valueAt(sent, loc.slice(1, -1)) ?? null
  if (type === 'missing') return found === null ? null : 'is called missing, and is there'
  const isShown = [found, around].some((value) => JSON.stringify(value) === JSON.stringify(input))
  return isShown || type === 'value_error' ? null : `shows ${JSON.stringify(input).slice(0, 80)}`
}

test('every item of every 422 has a type, a place, a message and the value that was found', async () => {
  const owner = await client({ scopes: ['conversations', 'analysis', 'admin'] })
  const faults: string[] = []
  const types = new Set<string>()
  let refused = 0
  for (const { method, path, parameters = [], requestBody } of calls) {
    if (OTHER_WORLDS.has(path) || path.endsWith('/ws') || path.endsWith('/stream')) continue
    const url = path.replace(/\{\w+\}/g, 'nobody')
    const send = async (query: string, body?: unknown) => {
      const response = await owner.ask(`${url}${query}`, { method, ...(body === undefined ? {} : { body }) })
      if (response.status !== 422) return
      refused += 1
      const { detail } = await response.json<{ detail: Item[] }>()
      for (const item of detail) {
        types.add(item.type)
        const fault = faultOf(item, body)
        if (fault !== null)
          faults.push(`${method} ${path} ${JSON.stringify(body ?? query).slice(0, 120)}: ${item.loc} ${fault}`)
      }
    }
    const media = requestBody?.content['application/json']
    if (media !== undefined && method !== 'GET') {
      for (const body of badBodies(media.schema, media.example ?? {})) await send('', body)
    }
    for (const { name } of parameters.filter((parameter) => parameter.in === 'query')) {
      for (const value of ['x', '-5', '\u0000']) await send(`?${new URLSearchParams({ [name]: value })}`)
    }
  }
  expect(faults).toEqual([])
  expect(refused).toBeGreaterThan(300)
  expect([...types]).toEqual(expect.arrayContaining(['missing', 'string_type', 'int_parsing', 'enum', 'value_error']))
})

const SERVERS = {
  sse_servers: [5, {}, { url: 5 }, { url: 'ftp://x', api_key: 5 }],
  shttp_servers: [{}],
  stdio_servers: [{}, { name: 'x', command: 'y', env: { A: 5 } }, { name: 'a b', command: 'y', args: 7 }],
}
const AROUND = (place: string) => `missing ${place}`

test('faults inside tool servers and secrets are named one by one, and no value of them is repeated', async () => {
  const { ask } = await client()
  const itemsOf = async (method: string, path: string, body: unknown) => {
    const response = await ask(path, { method, body })
    const { detail } = await response.json<{ detail: Item[] }>()
    return detail.map(({ type, loc, input }) => [`${type} ${loc.slice(1).join('.')}`, input])
  }
  const within = [
    ['model_attributes_type mcp_config.sse_servers.0', MASK],
    [AROUND('mcp_config.sse_servers.1.url'), {}],
    ['string_type mcp_config.sse_servers.2.url', MASK],
    ['value_error mcp_config.sse_servers.3.url', MASK],
    ['string_type mcp_config.sse_servers.3.api_key', MASK],
    [AROUND('mcp_config.stdio_servers.0.name'), {}],
    [AROUND('mcp_config.stdio_servers.0.command'), {}],
    ['string_type mcp_config.stdio_servers.1.env.A', MASK],
    ['string_pattern_mismatch mcp_config.stdio_servers.2.name', MASK],
    ['list_type mcp_config.stdio_servers.2.args', MASK],
    [AROUND('mcp_config.shttp_servers.0.url'), {}],
  ]
  for (const path of ['/api/settings', '/api/conversations']) {
    expect([path, await itemsOf('POST', path, { mcp_config: SERVERS })]).toEqual([path, within])
  }
  const around = { name: 'A' }
  expect(await itemsOf('POST', '/api/secrets', around)).toEqual([[AROUND('value'), around]])
  expect(await itemsOf('POST', '/api/secrets', { value: 'hush' })).toEqual([[AROUND('name'), { value: MASK }]])
  expect(await itemsOf('POST', '/api/secrets', { name: 'A', value: 7 })).toEqual([['string_type value', MASK]])
  const channel = { kind: 'telegram', settings: { bot_token: '123:hush' } }
  expect(await itemsOf('PUT', '/api/v1/analysis/channels/x', channel)).toEqual([
    [AROUND('settings.chat_id'), { bot_token: MASK }],
  ])
})

type Definition = {
  type: string
  shape?: Record<string, Schema>
  element?: Schema
  innerType?: Schema
  valueType?: Schema
  options?: Schema[]
  items?: Schema[]
  in?: Schema
  out?: Schema
}
type Schema = { _zod: { def: Definition } }

/** The places of a schema that take a number or a boolean and no text of it. */
function strictIn(schema: Schema, place: string): string[] {
  const { def } = schema._zod
  if (def.type === 'number' || def.type === 'boolean') return [`${place} (${def.type})`]
  // What is made of the value before it is checked reads texts as well.
  if (def.type === 'pipe' && def.in?._zod.def.type === 'transform') return []
  const options = def.options ?? []
  const isAlsoText = options.some((one) => one._zod.def.type === 'string')
  return [
    ...Object.entries(def.shape ?? {}).flatMap(([name, inner]) => strictIn(inner, `${place}.${name}`)),
    ...[def.element, def.innerType, def.valueType, def.in, def.out, ...(def.items ?? [])].flatMap((inner) =>
      inner === undefined ? [] : strictIn(inner, place),
    ),
    ...(isAlsoText ? [] : options.flatMap((inner) => strictIn(inner, place))),
  ]
}

/** An event is stored as it was sent. */
const AS_SENT = new Set(['/api/conversations/{conversation_id}/events'])

test('numbers and booleans of every body are taken as texts too', () => {
  const strict = app.openAPIRegistry.definitions.flatMap((definition) => {
    if (definition.type !== 'route') return []
    const { method, path, request: parts } = definition.route
    if (OTHER_WORLDS.has(path) || AS_SENT.has(path)) return []
    const media = parts?.body?.content['application/json']
    const schema = media !== undefined && 'schema' in media ? media.schema : undefined
    return schema === undefined ? [] : strictIn(schema as unknown as Schema, `${method.toUpperCase()} ${path}`)
  })
  expect(strict).toEqual([])
})
