import { z } from '@hono/zod-openapi'
import { expect, test } from 'vitest'
import { generateDocument } from '../../../src/http/document-words.ts'
import { detailEnvelope } from '../../../src/http/errors.ts'
import { endpoint } from '../../../src/http/openapi.ts'
import { router } from '../../../src/http/router.ts'

const Colour = z.enum(['red', 'blue']).openapi('Colour')
const Inner = z.object({ colour: Colour.nullish() }).openapi('Inner')
const Outer = z
  .object({
    maybe: Inner.nullable(),
    sure: Inner,
    tint: Colour.default('red'),
    list: z.array(Inner.nullable()),
    lax: z.preprocess((value) => value ?? {}, Inner.nullable()),
  })
  .openapi('Outer')
const Extended = Inner.extend({ more: z.string() }).openapi('Extended')

type ApiDocument = { components: { schemas: Record<string, unknown> }; paths: Record<string, unknown> }

function madeOf(...schemas: z.ZodType[]): ApiDocument {
  const app = router(detailEnvelope)
  schemas.forEach((schema, i) => {
    const replies = { 200: { description: 'an answer', schema } }
    const path = `/things${i}`
    const admission = { scope: 'open', limit: 'uncounted', bodyLimit: 'standard' } as const
    endpoint(app, { method: 'get', path, ...admission, tag: 'Health', summary: 's', replies }, (c) => c.json(1))
  })
  return generateDocument(app, { openapi: '3.1.0', info: { title: 't', version: '1' } }) as ApiDocument
}

test('a named shape is published bare whatever its first use; null and defaults stand beside the reference to it', () => {
  const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
  const orNull = (name: string) => ({ anyOf: [ref(name), { type: 'null' }] })
  const { components, paths } = madeOf(Outer.nullable(), Colour.nullable(), Extended)
  const { DetailError: _, ...own } = components.schemas
  expect(own).toEqual({
    Colour: { type: 'string', enum: ['red', 'blue'] },
    Inner: { type: 'object', properties: { colour: orNull('Colour') } },
    Outer: {
      type: 'object',
      properties: {
        maybe: orNull('Inner'),
        sure: ref('Inner'),
        tint: { ...ref('Colour'), default: 'red' },
        list: { type: 'array', items: orNull('Inner') },
        lax: orNull('Inner'),
      },
      required: ['maybe', 'sure', 'list'],
    },
    Extended: {
      allOf: [ref('Inner'), { type: 'object', properties: { more: { type: 'string' } }, required: ['more'] }],
    },
  })
  expect(Object.keys(paths)).toEqual(['/things0', '/things1', '/things2'])
  expect(JSON.stringify(paths['/things0'])).toContain(JSON.stringify(orNull('Outer')))
})
