import { env } from 'cloudflare:workers'
import { z } from '@hono/zod-openapi'
import fc from 'fast-check'
import { Hono } from 'hono'
import { expect, test } from 'vitest'
import type { AppEnv } from '../../../src/http/app-env.ts'
import { AppError, detailEnvelope, renderError, type ValidationItem } from '../../../src/http/errors.ts'
import { type Valid, validate, valueError } from '../../../src/http/validation.ts'
import { laxBool, laxInt, laxNumber } from '../../../src/lib/lax.ts'

const Provider = z.enum(['github', 'gitlab', 'bitbucket'])

/** One schema with every kind of rule that the contract's 422 list knows. */
const Body = z.strictObject({
  title: z.string().min(1).max(5).optional(),
  provider: Provider.nullish(),
  images: z.array(z.string()).min(1).max(2).nullish(),
  config: z.record(z.string(), z.string()).nullish(),
  // Piped, so that a wrong key is told apart from a property that the schema does not know.
  tokens: z.record(z.string().pipe(Provider), z.string()).optional(),
  task: z.object({ repo: z.string(), number: laxInt() }).nullish(),
  count: laxInt({ min: 1, max: 10 }).optional(),
  above: z.number().gt(0).lt(9).optional(),
  budget: laxNumber().nullish(),
  flag: laxBool().optional(),
  when: z.iso.datetime({ offset: true }).optional(),
  name: z
    .string()
    .regex(/^[a-z]+$/)
    .optional(),
  server: z.union([z.string(), z.object({ url: z.string() })]).optional(),
})

type Shapes = Parameters<typeof validate>[1]
type Outcome = { valid?: Valid; error?: unknown; response: Response }

/** Runs the validation of one request, as a route would, and tells what came of it. */
async function outcomeOf(request: Request, shapes: Shapes): Promise<Outcome> {
  const seen: { valid?: Valid; error?: unknown } = {}
  const app = new Hono<AppEnv>()
  app.onError((error, c) => {
    seen.error = error
    return renderError(error, c, detailEnvelope)
  })
  app.on(['GET', 'POST'], '/things/:id', async (c) => {
    seen.valid = await validate(c, shapes)
    return c.json(true)
  })
  const response = await app.request(request, undefined, env)
  return { ...seen, response }
}

const jsonPost = { method: 'POST', headers: { 'content-type': 'application/json' } }

const post = (body: BodyInit | null, headers: Record<string, string> = { 'content-type': 'application/json' }) =>
  new Request('http://bellwether.test/things/a', { method: 'POST', headers, body })

async function itemsOf(outcome: Promise<Outcome>): Promise<ValidationItem[]> {
  const { response, valid } = await outcome
  expect([response.status, valid]).toEqual([422, undefined])
  return (await response.json<{ detail: ValidationItem[] }>()).detail
}

const required = (schema: z.ZodType): Shapes => ({ body: { schema, required: true } })
const bodyItems = (value: unknown, schema: z.ZodType = Body) =>
  itemsOf(outcomeOf(post(JSON.stringify(value)), required(schema)))

const ATTRIBUTES = 'Input should be a valid dictionary or object to extract fields from'
const EXPECTED = "'github', 'gitlab' or 'bitbucket'"
const INT_TEXT = 'Input should be a valid integer, unable to parse string as an integer'
const INT_FRACTION = 'Input should be a valid integer, got a number with a fractional part'
const FLOAT_TEXT = 'Input should be a valid number, unable to parse string as a number'
const BOOL_TEXT = 'Input should be a valid boolean, unable to interpret input'

/** value → the one item of the answer: type, loc below `body`, msg, input, ctx. */
const FAULTS: [value: unknown, type: string, loc: unknown[], msg: string, input: unknown, ctx?: unknown][] = [
  [{ extra: 1 }, 'extra_forbidden', ['extra'], 'Extra inputs are not permitted', 1],
  [{ title: 5 }, 'string_type', ['title'], 'Input should be a valid string', 5],
  [{ title: null }, 'string_type', ['title'], 'Input should be a valid string', null],
  [{ title: '' }, 'string_too_short', ['title'], 'String should have at least 1 character', '', { min_length: 1 }],
  [
    { title: 'long title' },
    'string_too_long',
    ['title'],
    'String should have at most 5 characters',
    'long title',
    { max_length: 5 },
  ],
  [{ count: 'five' }, 'int_parsing', ['count'], INT_TEXT, 'five'],
  [{ count: '1.5' }, 'int_parsing', ['count'], INT_TEXT, '1.5'],
  [{ count: '' }, 'int_parsing', ['count'], INT_TEXT, ''],
  [{ count: 1.5 }, 'int_from_float', ['count'], INT_FRACTION, 1.5],
  [{ count: [] }, 'int_type', ['count'], 'Input should be a valid integer', []],
  [{ count: 0 }, 'greater_than_equal', ['count'], 'Input should be greater than or equal to 1', 0, { ge: 1 }],
  [{ count: '1e30' }, 'int_parsing', ['count'], INT_TEXT, '1e30'],
  [{ count: 1e30 }, 'less_than_equal', ['count'], 'Input should be less than or equal to 10', 1e30, { le: 10 }],
  [{ above: 0 }, 'greater_than', ['above'], 'Input should be greater than 0', 0, { gt: 0 }],
  [{ above: 9 }, 'less_than', ['above'], 'Input should be less than 9', 9, { lt: 9 }],
  [{ budget: 'much' }, 'float_parsing', ['budget'], FLOAT_TEXT, 'much'],
  [{ budget: '0x10' }, 'float_parsing', ['budget'], FLOAT_TEXT, '0x10'],
  [{ budget: {} }, 'float_type', ['budget'], 'Input should be a valid number', {}],
  [{ flag: 'perhaps' }, 'bool_parsing', ['flag'], BOOL_TEXT, 'perhaps'],
  [{ flag: 2 }, 'bool_parsing', ['flag'], BOOL_TEXT, 2],
  [{ flag: null }, 'bool_type', ['flag'], 'Input should be a valid boolean', null],
  [{ provider: 'svn' }, 'enum', ['provider'], `Input should be ${EXPECTED}`, 'svn', { expected: EXPECTED }],
  [{ provider: 3 }, 'enum', ['provider'], `Input should be ${EXPECTED}`, 3, { expected: EXPECTED }],
  [{ images: 'a.png' }, 'list_type', ['images'], 'Input should be a valid list', 'a.png'],
  [{ images: ['a', 1] }, 'string_type', ['images', 1], 'Input should be a valid string', 1],
  [
    { images: [] },
    'too_short',
    ['images'],
    'List should have at least 1 item after validation, not 0',
    [],
    { field_type: 'List', min_length: 1, actual_length: 0 },
  ],
  [
    { images: ['', '', ''] },
    'too_long',
    ['images'],
    'List should have at most 2 items after validation, not 3',
    ['', '', ''],
    { field_type: 'List', max_length: 2, actual_length: 3 },
  ],
  [{ config: [] }, 'dict_type', ['config'], 'Input should be a valid dictionary', []],
  [{ config: { a: 1 } }, 'string_type', ['config', 'a'], 'Input should be a valid string', 1],
  [
    { tokens: { svn: 'x' } },
    'enum',
    ['tokens', 'svn', '[key]'],
    `Input should be ${EXPECTED}`,
    'svn',
    { expected: EXPECTED },
  ],
  [{ task: 'fix it' }, 'model_attributes_type', ['task'], ATTRIBUTES, 'fix it'],
  [{ task: { repo: 'a/b' } }, 'missing', ['task', 'number'], 'Field required', { repo: 'a/b' }],
  [{ server: { url: 1 } }, 'string_type', ['server', 'url'], 'Input should be a valid string', 1],
  [{ server: 7 }, 'string_type', ['server'], 'Input should be a valid string', 7],
  [{ when: 'soon' }, 'value_error', ['when'], 'Value error, Invalid ISO datetime', 'soon', { error: {} }],
  [
    { name: 'A' },
    'string_pattern_mismatch',
    ['name'],
    "String should match pattern '^[a-z]+$'",
    'A',
    { pattern: '^[a-z]+$' },
  ],
  [[1], 'model_attributes_type', [], ATTRIBUTES, [1]],
  ['text', 'model_attributes_type', [], ATTRIBUTES, 'text'],
]

test('every kind of fault is one item with the type, place, text, input and ctx that clients of the reference know', async () => {
  for (const [value, type, loc, msg, input, ctx] of FAULTS) {
    const item = { type, loc: ['body', ...loc], msg, input, ...(ctx === undefined ? {} : { ctx }) }
    expect(await bodyItems(value), JSON.stringify(value)).toEqual([item])
  }
})

test('all problems of path, query and body are listed together, in that order', async () => {
  const shapes = {
    params: z.object({ id: z.string().max(3) }),
    query: z.object({ file: z.string(), limit: laxInt().default(20) }),
    ...required(z.object({ title: z.string(), n: laxInt() })),
  }
  const request = new Request('http://bellwether.test/things/abcd?limit=x', { ...jsonPost, body: '{"n":"y"}' })
  const items = await itemsOf(outcomeOf(request, shapes))
  expect(items.map(({ type, loc }) => [type, ...loc])).toEqual([
    ['string_too_long', 'path', 'id'],
    ['missing', 'query', 'file'],
    ['int_parsing', 'query', 'limit'],
    ['missing', 'body', 'title'],
    ['int_parsing', 'body', 'n'],
  ])
})

test('a missing field shows the object around it, and a missing body shows null', async () => {
  const schema = z.object({ title: z.string(), provider: Provider, n: laxInt(), b: laxBool() })
  const items = await bodyItems({ a: 1 }, schema)
  expect(items).toEqual(
    ['title', 'provider', 'n', 'b'].map((field) => ({
      type: 'missing',
      loc: ['body', field],
      msg: 'Field required',
      input: { a: 1 },
    })),
  )
  for (const nothing of [null, '', 'null']) {
    expect(await itemsOf(outcomeOf(post(nothing), required(schema)))).toEqual([
      { type: 'missing', loc: ['body'], msg: 'Field required', input: null },
    ])
    const { valid } = await outcomeOf(post(nothing), { body: { schema, required: false } })
    expect(valid?.body).toBe(null)
  }
})

test('a rule of our own that points at an absent field is a value error, not a missing field', async () => {
  const schema = z
    .object({ a: z.string().optional(), b: z.string().optional() })
    .refine(({ a, b }) => a !== undefined || b !== undefined, { path: ['a'], error: 'give a or b' })
  expect(await bodyItems({}, schema)).toEqual([
    { type: 'value_error', loc: ['body', 'a'], msg: 'Value error, give a or b', input: null, ctx: { error: {} } },
  ])
  const error = valueError(['body', 'code'], 'no such stock', 'ZZZ')
  expect(error.options.items).toEqual([
    { type: 'value_error', loc: ['body', 'code'], msg: 'Value error, no such stock', input: 'ZZZ', ctx: { error: {} } },
  ])
})

test('lax values are read as the reference reads them, in bodies and in queries', async () => {
  const schema = z.object({ i: laxInt().optional(), f: laxNumber().optional(), b: laxBool().optional() })
  const huge = Number.MAX_SAFE_INTEGER
  const read: [field: 'i' | 'f' | 'b', given: unknown[], value: unknown][] = [
    ['i', [5, 5.0, '5', '+5', ' 5 ', '05', '5.0', '5.'], 5],
    ['i', [-1, '-1', '-1.00'], -1],
    ['i', [1e30, '9'.repeat(400), '9007199254740993'], huge],
    ['i', [-1e30, '-9007199254740993'], -huge],
    ['f', [2.5, '2.5', '+2.5', '25e-1', ' 2.5 '], 2.5],
    ['f', ['.5', '0.5', '5E-1'], 0.5],
    ['b', [true, 1, '1', 'true', 'True', 't', 'YES', 'y', 'on'], true],
    ['b', [false, 0, '0', 'false', 'F', 'no', 'N', 'OFF'], false],
  ]
  for (const [field, given, value] of read) {
    for (const input of given) {
      const { valid } = await outcomeOf(post(JSON.stringify({ [field]: input })), required(schema))
      expect([input, valid?.body]).toEqual([input, { [field]: value }])
      if (typeof input === 'number' && /e/.test(String(input))) continue
      const url = `http://bellwether.test/things/a?${field}=${encodeURIComponent(String(input))}`
      expect([input, (await outcomeOf(new Request(url), { query: schema })).valid?.query]).toEqual([
        input,
        { [field]: value },
      ])
    }
  }
})

test('a number is never read as a text, and unknown properties of an open schema are dropped', async () => {
  const schema = z.object({ title: z.string() })
  expect((await bodyItems({ title: 12 }, schema)).map(({ type }) => type)).toEqual(['string_type'])
  const text = '{"title":"a","more":1,"__proto__":{"polluted":1},"constructor":{"prototype":{}}}'
  const { valid } = await outcomeOf(post(text), required(schema))
  expect(valid?.body).toEqual({ title: 'a' })
  expect(({} as Record<string, unknown>).polluted).toBe(undefined)
})

test('the last of a repeated query key counts, except where the key is a list', async () => {
  const query = z.object({ limit: laxInt(), include_types: z.array(z.string()) })
  const url = 'http://bellwether.test/things/a?limit=1&limit=2&include_types=run&include_types=message&__proto__=1'
  const { valid } = await outcomeOf(new Request(url), { query })
  expect(valid?.query).toEqual({ limit: 2, include_types: ['run', 'message'] })
})

test('malformed JSON is one item that names the character at which it breaks and why', async () => {
  const breaks: [text: string, offset: number, reason: string][] = [
    ['abc', 0, 'Expecting value'],
    [' ', 1, 'Expecting value'],
    ['{', 1, 'Expecting property name enclosed in double quotes'],
    ["{'a': 1}", 1, 'Expecting property name enclosed in double quotes'],
    ['{"a" 1}', 5, "Expecting ':' delimiter"],
    ['{"a": }', 6, 'Expecting value'],
    ['{"a": 1', 7, "Expecting ',' delimiter"],
    ['[1, 2', 5, "Expecting ',' delimiter"],
    ['[1, 2}', 5, "Expecting ',' delimiter"],
    ['{"a": 1} x', 9, 'Extra data'],
    ['"abc', 0, 'Unterminated string starting at'],
    ['{"a": "x\n"}', 8, 'Invalid control character at'],
    ['["\\q"]', 2, 'Invalid \\escape'],
    ['[01]', 2, "Expecting ',' delimiter"],
    ['["😀", oops]', 6, 'Expecting value'],
    ['NaN', 0, 'Expecting value'],
  ]
  for (const [text, offset, error] of breaks) {
    expect(await itemsOf(outcomeOf(post(text), required(Body))), text).toEqual([
      { type: 'json_invalid', loc: ['body', offset], msg: 'JSON decode error', input: {}, ctx: { error } },
    ])
  }
})

test('bodies that would cost more than they can mean are refused before they are built', async () => {
  const reasonOf = async (body: BodyInit) => (await itemsOf(outcomeOf(post(body), required(Body))))[0]?.ctx?.error
  expect(await reasonOf('['.repeat(100_000))).toBe('Nested deeper than 200 levels')
  expect(await reasonOf(`${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`)).toBe('Nested deeper than 200 levels')
  expect(await reasonOf(`{"images":[${'1,'.repeat(1_000_000)}1]}`)).toBe('More than 20000 values')
  expect(await reasonOf(new Uint8Array([0x22, 0xff, 0xc0, 0x22]))).toBe('Invalid UTF-8')
  const commas = JSON.stringify({ title: 'x', extra: ',[{"'.repeat(30_000) })
  expect((await itemsOf(outcomeOf(post(commas), required(Body))))[0]?.type).toBe('extra_forbidden')
  // What is inside a string does not count, wherever its quotes and backslashes stand; what comes after it does.
  for (const text of ['"', '\\', '\\"', '\\\\', '"\\', '\\"\\', '', `${'[,'.repeat(30_000)}\\`]) {
    const inside = JSON.stringify({ title: 'x', extra: text })
    expect([text, (await itemsOf(outcomeOf(post(inside), required(Body))))[0]?.type]).toEqual([text, 'extra_forbidden'])
    expect(await reasonOf(`[${JSON.stringify(text)}${',1'.repeat(20_000)}]`)).toBe('More than 20000 values')
  }
  expect(await reasonOf(`{"open":"${'[,'.repeat(30_000)}`)).toMatch(/^Unterminated string/)
})

test('a body of another content type is refused with its text, and one without a type is read as JSON', async () => {
  const stream = (text: string) => new Response(text).body
  for (const type of ['application/json', 'application/json; charset=utf-8', 'application/merge-patch+json']) {
    const { valid } = await outcomeOf(post('{"title":"a"}', { 'content-type': type }), required(Body))
    expect([type, valid?.body]).toEqual([type, { title: 'a' }])
  }
  expect((await outcomeOf(post(stream('{"title":"a"}'), {}), required(Body))).valid?.body).toEqual({ title: 'a' })
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', '']) {
    expect(await itemsOf(outcomeOf(post('{"title":"a"}', { 'content-type': type }), required(Body))), type).toEqual([
      { type: 'model_attributes_type', loc: ['body'], msg: ATTRIBUTES, input: '{"title":"a"}' },
    ])
  }
})

test('a body over the limit is cut off with a 413 although its length was never announced', async () => {
  const big = 'x'.repeat(9 * 1024 * 1024)
  const { error } = await outcomeOf(post(new Response(big).body), required(Body))
  expect(error).toBeInstanceOf(AppError)
  expect((error as AppError).status).toBe(413)
})

const anything = fc.oneof(
  fc.jsonValue({ maxDepth: 6 }),
  fc.dictionary(fc.constantFrom(...Object.keys(Body.shape), '__proto__', 'constructor'), fc.jsonValue({ maxDepth: 3 })),
)

test('whatever JSON comes, the outcome is a value or an AppError whose items all name a place', async () => {
  await fc.assert(
    fc.asyncProperty(anything, fc.webQueryParameters(), fc.boolean(), async (value, search, mangle) => {
      const text = mangle ? JSON.stringify(value).slice(0, -1) : JSON.stringify(value)
      const request = new Request(`http://bellwether.test/things/a?${search}`, { ...jsonPost, body: text })
      const query = z.object({ limit: laxInt({ min: 0 }).default(20), flag: laxBool().optional() })
      const { valid, error, response } = await outcomeOf(request, { query, ...required(Body) })
      if (valid !== undefined) {
        expect([response.status, Body.safeParse(valid.body).success]).toEqual([200, true])
        return
      }
      expect(error).toBeInstanceOf(AppError)
      expect(response.status).toBe(422)
      const { detail } = await response.json<{ detail: ValidationItem[] }>()
      for (const { type, loc, msg } of detail) {
        expect(type).toMatch(/^[a-z_]+$/)
        expect(['query', 'body']).toContain(loc[0])
        expect(msg.length).toBeGreaterThan(0)
      }
      expect(detail.length).toBeGreaterThan(0)
    }),
    { numRuns: 400 },
  )
})
