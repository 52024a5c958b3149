// Every example of the document is what its own schema describes.

import { expect, test } from 'vitest'
import { request } from '../helpers/app.ts'
import { faultsOf, type JsonSchema } from '../helpers/json-schema.ts'

type Body = {
  content?: Record<string, { schema?: JsonSchema; example?: unknown; examples?: Record<string, { value?: unknown }> }>
}
type Operation = { requestBody?: Body; responses: Record<string, Body> }
type Document = {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, JsonSchema> }
}

type Example = { where: string; value: unknown; schema: JsonSchema }

function examplesIn(where: string, { content = {} }: Body): Example[] {
  return Object.entries(content).flatMap(([type, { schema, example, examples = {} }]) => {
    if (schema === undefined || !/json/.test(type)) return []
    const named = Object.entries(examples).map(([name, { value }]) => ({ where: `${where} ${name}`, value, schema }))
    return example === undefined ? named : [{ where, value: example, schema }, ...named]
  })
}

/** OpenAPI 3.1, Schema Object: of an answer a property that is only written is not required. */
function asAnswered(schema: JsonSchema): JsonSchema {
  const { required, properties } = schema as { required?: string[]; properties?: Record<string, JsonSchema> }
  if (required === undefined) return schema
  return { ...schema, required: required.filter((name) => properties?.[name]?.writeOnly !== true) }
}

test('every example of a request and of an answer is what its schema describes', async () => {
  const document = (await (await request('/openapi.json')).json()) as Document
  const examples = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { requestBody = {}, responses }]) => [
      ...examplesIn(`${method} ${path}`, requestBody),
      ...Object.entries(responses).flatMap(([status, body]) => examplesIn(`${method} ${path} ${status}`, body)),
    ]),
  )
  expect(examples.length).toBeGreaterThan(100)
  const schemas = Object.entries(document.components.schemas).map(([name, schema]) => [name, asAnswered(schema)])
  const components = Object.fromEntries(schemas) as Record<string, JsonSchema>
  expect(examples.flatMap(({ where, value, schema }) => faultsOf(value, schema, { path: where, components }))).toEqual(
    [],
  )
})
