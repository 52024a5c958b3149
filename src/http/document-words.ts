import { OpenAPIHono, z } from '@hono/zod-openapi'
import type { Router } from './router.ts'
// Adds the texts to the OpenAPI document: the description of each field, and an example of every request and answer. A
// name usually has one meaning in the whole interface, so it is explained once; otherwise its schema's name precedes it
// (`Delivery.status`). A description in the schema itself has priority. A test checks that every field has a
// description and every description a field.

/** By field name, or by schema and field name: a description, and a value for examples. */
export type Words = Readonly<Record<string, readonly [description: string, example?: unknown]>>

type Node = Record<string, unknown>

type Document = {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Node> }
}
type Media = { schema?: Node; example?: unknown }
type Operation = {
  operationId: string
  parameters?: (Node & { name: string; schema: Node })[]
  requestBody?: { content: Record<string, Media> }
  responses: Record<string, { content?: Record<string, Media> }>
}

const REF = '#/components/schemas/'
const MAX_DEPTH = 12

/** The same document, with descriptions and examples added. */
export function withWords(document: object, words: Words): object {
  const { paths, components } = document as Document
  const book = new Book(words, components.schemas)
  for (const [name, schema] of Object.entries(components.schemas)) book.describe(schema, name)
  for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods)))
    describeCall(operation, book)
  return document
}

function describeCall({ operationId, parameters = [], requestBody, responses }: Operation, book: Book): void {
  for (const parameter of parameters) {
    const [description, example] = book.wordsOf(operationId, parameter.name) ?? []
    parameter.description ??= parameter.schema.description ?? description
    if (example !== undefined && book.fits(parameter.schema, example)) parameter.example ??= example
  }
  const replies = Object.values(responses).flatMap(({ content = {} }) => Object.values(content))
  for (const media of [...Object.values(requestBody?.content ?? {}), ...replies]) {
    if (media.schema === undefined) continue
    book.describe(media.schema, operationId)
    media.example ??= book.sample(media.schema, operationId, 0, replies.includes(media))
  }
}

class Book {
  readonly #words: Words
  readonly #schemas: Record<string, Node>

  constructor(words: Words, schemas: Record<string, Node>) {
    this.#words = words
    this.#schemas = schemas
  }

  wordsOf(scope: string, name: string): Words[string] | undefined {
    return this.#words[`${scope}.${name}`] ?? this.#words[name]
  }

  /** Adds the words to every property within a schema. */
  describe(node: unknown, scope: string): void {
    if (Array.isArray(node)) for (const inner of node) this.describe(inner, scope)
    if (typeof node !== 'object' || node === null || Array.isArray(node)) return
    for (const [key, inner] of Object.entries(node)) {
      if (key === 'example' || key === 'default' || key === 'enum') continue
      if (key === 'properties') this.#describeProperties(inner as Record<string, Node>, scope)
      this.describe(key === 'properties' ? Object.values(inner as object) : inner, scope)
    }
  }

  #describeProperties(properties: Record<string, Node>, scope: string): void {
    for (const [name, schema] of Object.entries(properties)) {
      const description = this.wordsOf(scope, name)?.[0]
      if (description !== undefined) schema.description ??= description
    }
  }

  /** A value that the schema allows. */
  sample(schema: Node, scope: string, depth: number, isReply: boolean): unknown {
    if (schema.example !== undefined) return schema.example
    if (typeof schema.$ref === 'string') {
      const name = schema.$ref.slice(REF.length)
      return this.sample(this.#schemas[name] ?? {}, name, depth, isReply)
    }
    const parts = alternatives(schema)
    if (parts !== null) return this.sample(parts.find(({ type }) => type !== 'null') ?? {}, scope, depth, isReply)
    if (Array.isArray(schema.allOf)) {
      return Object.assign({}, ...schema.allOf.map((part: Node) => this.sample(part, scope, depth, isReply)))
    }
    if (schema.const !== undefined) return schema.const
    if (Array.isArray(schema.enum)) return schema.default ?? schema.enum[0]
    return this.#sampleOfType(schema, scope, depth, isReply)
  }

  #sampleOfType(schema: Node, scope: string, depth: number, isReply: boolean): unknown {
    const type = typesOf(schema).find((one) => one !== 'null')
    if (type === 'object') return depth < MAX_DEPTH ? this.#sampleObject(schema, scope, depth, isReply) : {}
    if (type === 'array')
      return depth < MAX_DEPTH ? [this.sample((schema.items ?? {}) as Node, scope, depth + 1, isReply)] : []
    if (schema.default !== undefined) return schema.default
    if (type === 'integer' || type === 'number') return schema.minimum ?? 1
    if (type === 'boolean') return false
    return type === 'string' ? sampleText(schema) : {}
  }

  #sampleObject({ properties = {} }: Node, scope: string, depth: number, isReply: boolean): object {
    const shown = Object.entries(properties as Record<string, Node>).filter(
      ([, { writeOnly }]) => !(isReply && writeOnly),
    )
    const fields = shown.map(([name, schema]) => {
      const example = this.wordsOf(scope, name)?.[1]
      const isFit = example !== undefined && schema.const === undefined && this.fits(schema, example)
      return [name, isFit ? example : this.sample(schema, scope, depth + 1, isReply)]
    })
    return Object.fromEntries(fields)
  }

  /** Whether an example has the schema's type: a field name may be a text in one place and a list in another. */
  fits(schema: Node, example: unknown): boolean {
    if (typeof schema.$ref === 'string') {
      const target = this.#schemas[schema.$ref.slice(REF.length)] ?? {}
      return target.type !== 'object' && target.anyOf === undefined && this.fits(target, example)
    }
    const parts = alternatives(schema)
    if (parts !== null) return parts.some((part) => this.fits(part, example))
    if (schema.const !== undefined) return schema.const === example
    if (Array.isArray(schema.enum) && !schema.enum.includes(example)) return false
    if (schema.format === 'date' && !/^\d{4}-\d\d-\d\d$/.test(String(example))) return false
    const types = typesOf(schema)
    if (types.length === 0) return true
    if (Array.isArray(example) && schema.items !== undefined) {
      return types.includes('array') && example.every((item) => this.fits(schema.items as Node, item))
    }
    return types.some((type) => type === typeOf(example) || (type === 'number' && typeOf(example) === 'integer'))
  }
}

const alternatives = ({ anyOf, oneOf }: Node): Node[] | null => (anyOf ?? oneOf ?? null) as Node[] | null

const typesOf = ({ type }: Node): unknown[] => (Array.isArray(type) ? type : type === undefined ? [] : [type])

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value
}

function sampleText({ format }: Node): string {
  if (format === 'date-time') return '2026-08-14T10:11:12.123456Z'
  if (format === 'uri') return 'https://hooks.example.com/1'
  return format === 'password' ? '**********' : 'text'
}

// From registered routes to the OpenAPI 3.1 document. The generator publishes a named schema in the form of its first
// use: one `ProviderType.nullable()` would make every other use of ProviderType nullable, too. And it writes "this
// schema or null" as an `allOf` that nothing can satisfy. So every named schema is first registered without modifiers,
// and null is added beside the reference.

type Head = Parameters<Router['getOpenAPI31Document']>[0]

/** A path that no route can have. It registers the named schemas with the generator and is removed again. */
const SHAPES_PATH = '/#shapes'

const NAMEABLE: ReadonlySet<string> = new Set(['object', 'enum', 'union'])

/** The document of everything that was added to an app. */
export function generateDocument({ openAPIRegistry: { definitions } }: Router, head: Head): object {
  const generator = new OpenAPIHono()
  const registry = generator.openAPIRegistry
  registry.registerPath({
    method: 'get',
    path: SHAPES_PATH,
    responses: { 200: { description: '', content: Object.fromEntries(bareShapes(definitions).entries()) } },
  })
  for (const definition of definitions) {
    if (definition.type === 'route') registry.registerPath(definition.route)
    else if (definition.type === 'component') {
      registry.registerComponent(definition.componentType, definition.name, definition.component)
    }
  }
  const document = generator.getOpenAPI31Document(head)
  delete document.paths?.[SHAPES_PATH]
  return withNullBeside(document) as object
}

/** The objects, enumerations and unions: the schemas that can have a name. A schema comes after the schemas that it contains. */
function bareShapes(definitions: unknown): { schema: z.ZodType }[] {
  const found: { schema: z.ZodType }[] = []
  const seen = new Set<object>()
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return
    seen.add(value)
    if (value instanceof z.ZodType) {
      visit(partsOf(value))
      // Beside a reference, the generator writes only the metadata.
      if (value instanceof z.ZodDefault) z.globalRegistry.add(value, { default: value.def.defaultValue })
      if (NAMEABLE.has(value.def.type)) found.push({ schema: value })
    } else for (const inner of Object.values(value)) visit(inner)
  }
  visit(definitions)
  return found
}

function partsOf(schema: z.ZodType): unknown {
  if (schema instanceof z.ZodObject) return schema.shape
  if (!(schema instanceof z.ZodPipe)) return schema.def
  // For a pipe the document contains what a client sends: the output side of a preprocessing, the input side of a
  // transformation.
  return schema.in instanceof z.ZodTransform ? schema.out : schema.in
}

/**
 * The same document. The generator's additions to a reference are moved to where JSON Schema 2020-12 allows them, and
 * its patterns are corrected.
 */
function withNullBeside(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withNullBeside)
  if (typeof value !== 'object' || value === null) return value
  const node = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withNullBeside(inner)]))
  // The generator keeps the `/u` flag in the pattern's text, so that nothing can match. JSON Schema implies the flag
  // anyway.
  if (typeof node.pattern === 'string') node.pattern = node.pattern.replace(/\$\/u$/, '$')
  const [reference, addition, ...others] = Array.isArray(node.allOf) ? node.allOf : []
  if (reference?.$ref === undefined || addition === undefined || others.length > 0) return node
  // A schema that extends another has properties of its own; for these an allOf is right.
  if (addition.$ref !== undefined || addition.properties !== undefined) return node
  const { allOf: _, ...beside } = node
  const { type, enum: __, ...rest } = addition
  if (type === undefined) return { ...beside, ...rest, $ref: reference.$ref }
  return { ...beside, ...rest, anyOf: [{ $ref: reference.$ref }, { type: 'null' }] }
}
