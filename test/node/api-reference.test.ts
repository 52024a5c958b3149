// The page of the API, as far as it is not drawn: groups, filter, types, and what its form sends.

import { expect, test } from 'vitest'
import {
  type Endpoint,
  filtered,
  groupsOf,
  limitsText,
  membersOf,
  type Operation,
  typeText,
} from '../../src/web/reference/document.ts'
import { curlLine, firstFilling, targetOf } from '../../src/web/reference/request.ts'

const operation = (operationId: string, tag: string, rest: Partial<Operation> = {}): Operation => ({
  operationId,
  tags: [tag],
  summary: `Summary of ${operationId}`,
  responses: {},
  ...rest,
})

const DOCUMENT = {
  info: { title: 'A', version: '1' },
  tags: [{ name: 'Second', description: 'the second' }, { name: 'Empty' }, { name: 'First' }],
  paths: {
    '/a/{id}': { get: operation('getA', 'First'), delete: operation('deleteA', 'First') },
    '/b': { post: operation('postB', 'Second') },
    '/c': { get: operation('getC', 'Unlisted') },
  },
  components: {
    schemas: {
      Tree: {
        type: 'object',
        required: ['name'],
        properties: {
          name: { type: 'string' },
          children: { type: 'array', items: { $ref: '#/components/schemas/Tree' } },
        },
      },
    },
  },
}

const named = (text: string) =>
  filtered(groupsOf(DOCUMENT), text).map(({ name, endpoints }) => [
    name,
    endpoints.map((one) => one.operation.operationId),
  ])

test('every operation stands in the group of its tag, in the order of the document', () => {
  expect(named('')).toEqual([
    ['Second', ['postB']],
    ['First', ['getA', 'deleteA']],
    ['Unlisted', ['getC']],
  ])
})

test('the filter keeps what has all of its words', () => {
  expect(named('first GET')).toEqual([['First', ['getA']]])
  expect(named('/b post')).toEqual([['Second', ['postB']]])
  expect(named('nothing')).toEqual([])
})

test('types and limits are told in one line, and a schema that contains itself ends', () => {
  const tree = { $ref: '#/components/schemas/Tree' }
  expect(membersOf(DOCUMENT, tree).map(({ name, required, schema }) => [name, required, typeText(schema)])).toEqual([
    ['name', true, 'string'],
    ['children', false, 'array of Tree'],
  ])
  expect(typeText({ type: ['string', 'null'] })).toBe('string | null')
  expect(typeText({ enum: ['a', null] })).toBe('"a" | null')
  expect(typeText({ anyOf: [tree, { type: 'null' }] })).toBe('Tree | null')
  expect(limitsText({ minimum: 1, maximum: 9, default: 3 })).toBe('1 to 9, default 3')
  expect(limitsText({ maxLength: 5, pattern: '^a' })).toBe('at most 5 characters, matches ^a')
})

test('the form sends paths, queries and headers as they were filled in, and curl the same', () => {
  const endpoint: Endpoint = {
    method: 'POST',
    path: '/a/{id}/{missing}',
    operation: operation('x', 'First', {
      parameters: [
        { name: 'id', in: 'path', required: true, example: 'a b/c' },
        { name: 'q', in: 'query' },
        { name: 'limit', in: 'query', required: true, schema: { default: 5 } },
        { name: 'X-Odd', in: 'header' },
      ],
      requestBody: { content: { 'application/json': { example: { text: "it's" } } } },
    }),
  }
  const filled = firstFilling(endpoint)
  expect(filled.values).toEqual({ 'path:id': 'a b/c', 'query:limit': '5' })
  expect(targetOf(endpoint, filled)).toBe('/a/a%20b%2Fc/?limit=5')
  const changed = { ...filled, key: 'k', values: { ...filled.values, 'query:q': 'ä&b', 'header:X-Odd': '1' } }
  expect(targetOf(endpoint, changed)).toBe('/a/a%20b%2Fc/?q=%C3%A4%26b&limit=5')
  expect(curlLine(endpoint, { ...changed, body: `{"text":"it's"}` }, 'http://h')).toBe(
    `curl -X POST -H 'X-Odd: 1' -H 'Content-Type: application/json' -H 'X-Session-API-Key: k' ` +
      `--data '{"text":"it'\\''s"}' 'http://h/a/a%20b%2Fc/?q=%C3%A4%26b&limit=5'`,
  )
})
