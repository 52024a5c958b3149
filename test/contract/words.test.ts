// What the document says to people: that nothing lacks its words, that no word is left over, and that what it shows as an
// example is one.

import { expect, test } from 'vitest'
import { app } from '../../src/app.ts'
import { generateDocument } from '../../src/http/document-words.ts'
import { TAGS } from '../../src/http/openapi.ts'
import { WORDS } from '../../src/routes/words/all.ts'
import { request } from '../helpers/app.ts'
import { faultsOf, type JsonSchema } from '../helpers/json-schema.ts'

type Media = { schema: JsonSchema; example?: unknown }
type Operation = {
  operationId: string
  summary: string
  tags: string[]
  parameters?: { name: string; description?: string; example?: unknown; schema: JsonSchema }[]
  requestBody?: { content: Record<string, Media> }
  responses: Record<string, { description: string; content?: Record<string, Media> }>
}
type Document = {
  servers: { url: string }[]
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, JsonSchema> }
}

const document = await (await request('/openapi.json')).json<Document>()
const components = document.components.schemas
const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods))

/** Every property within a value of the document, with the shape or the operation that it stands in. */
function* propertiesIn(value: unknown, scope: string): Generator<[scope: string, name: string, schema: JsonSchema]> {
  if (typeof value !== 'object' || value === null) return
  for (const [key, inner] of Object.entries(value)) {
    if (key === 'example' || key === 'default' || key === 'enum') continue
    if (key !== 'properties') yield* propertiesIn(inner, scope)
    else
      for (const [name, schema] of Object.entries(inner as Record<string, JsonSchema>)) {
        yield [scope, name, schema]
        yield* propertiesIn(schema, scope)
      }
  }
}

const properties = [
  ...Object.entries(components).flatMap(([name, schema]) => [...propertiesIn(schema, name)]),
  ...operations.flatMap(({ operationId, requestBody, responses }) => [
    ...propertiesIn([requestBody, responses], operationId),
  ]),
]
const parameters = operations.flatMap(({ operationId, parameters: own = [] }) =>
  own.map((parameter) => ({ ...parameter, operationId })),
)

test('every operation has an id of its own, a summary, tags and answers that are explained, and every body an example', () => {
  expect(document.servers).toEqual([{ url: '/', description: expect.any(String) }])
  expect(document.tags.map(({ name }) => name)).toEqual(Object.keys(TAGS))
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length)
  const tags = new Set(operations.flatMap((operation) => operation.tags))
  expect([...tags].sort()).toEqual(Object.keys(TAGS).sort())
  for (const { operationId, summary, requestBody, responses } of operations) {
    expect([operationId, /^\S.{2,140}$/.test(summary)]).toEqual([operationId, true])
    for (const [status, { content, description }] of Object.entries(responses)) {
      expect([operationId, status, /^\S.{2,}/.test(description)]).toEqual([operationId, status, true])
      // An error always has a body; so has a success, but for a socket that opens, a notification that was taken, and a sign-out.
      const isBare = content === undefined
      expect([operationId, status, isBare]).toEqual([operationId, status, isBare && /^(101|202|204)$/.test(status)])
    }
    const media = [requestBody, ...Object.values(responses)].flatMap((one) => Object.entries(one?.content ?? {}))
    for (const [type, { example }] of media) {
      expect([operationId, type, example === undefined]).toEqual([operationId, type, false])
    }
  }
})

const isExplained = (text: unknown): boolean => typeof text === 'string' && /\w{2}/.test(text)

test('every property and every parameter is explained, and every explanation is of one that is there', () => {
  const mute = properties.filter(([, , { description }]) => !isExplained(description))
  expect(mute.map(([scope, name]) => `${scope}.${name}`)).toEqual([])
  expect(parameters.filter(({ description }) => !isExplained(description)).map(({ name }) => name)).toEqual([])
  const places = [
    ...properties.map(([scope, name]) => [scope, name]),
    ...parameters.map((p) => [p.operationId, p.name]),
  ]
  const named = new Set(places.flatMap(([scope, name]) => [`${scope}.${name}`, String(name)]))
  expect(Object.keys(WORDS).filter((name) => !named.has(name))).toEqual([])
})

test('what the document shows as an example is allowed by the schema beside it', () => {
  const faults = operations.flatMap(({ operationId, parameters: own = [], requestBody, responses }) => {
    const media = [requestBody, ...Object.values(responses)].flatMap((one) => Object.values(one?.content ?? {}))
    const shown = [...own.filter(({ example }) => example !== undefined), ...media]
    return shown.flatMap(({ schema, example }) =>
      faultsOf(example, withoutWriteOnly(schema), { path: operationId, components: readable }),
    )
  })
  expect(faults).toEqual([])
})

/** An answer does not show what can only be written, though its schema names it. */
const readable = withoutWriteOnly(components)

function withoutWriteOnly<T>(value: T): T {
  return JSON.parse(JSON.stringify(value), (_, inner) => {
    if (typeof inner !== 'object' || inner?.properties === undefined || !Array.isArray(inner.required)) return inner
    const required = inner.required.filter((name: string) => inner.properties[name]?.writeOnly !== true)
    return { ...inner, required }
  })
}

test('the generator knows nothing that is not served', () => {
  const bare = generateDocument(app, { openapi: '3.1.0', info: { title: '', version: '' } }) as Document
  expect(Object.keys(bare.paths).sort()).toEqual(Object.keys(document.paths).sort())
})
