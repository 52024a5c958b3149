// From registered routes to the OpenAPI 3.1 document. The generator publishes a named shape in the form of its first use,
// so that one `ProviderType.nullable()` would make every other use of ProviderType nullable too, and it words "this shape
// or null" as an `allOf` that nothing can satisfy. Here every shape is met bare first, and null stands beside it.

import { OpenAPIHono, z } from '@hono/zod-openapi'
import type { Router } from './router.ts'

type Head = Parameters<Router['getOpenAPI31Document']>[0]

/** A path that no route can have. It carries the bare shapes through the generator and is taken out again. */
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

/** The objects, enumerations and unions: what can bear a name. What a schema is made of comes before it. */
function bareShapes(definitions: unknown): { schema: z.ZodType }[] {
  const found: { schema: z.ZodType }[] = []
  const seen = new Set<object>()
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return
    seen.add(value)
    if (value instanceof z.ZodType) {
      visit(partsOf(value))
      // Beside a reference the generator shows only what stands in the metadata.
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
  // Of a pipe the document shows what a client sends: the end of a preprocessing, the beginning of a transformation.
  return schema.in instanceof z.ZodTransform ? schema.out : schema.in
}

/** The same document, with what the generator adds to a reference put where JSON Schema 2020-12 wants it. */
function withNullBeside(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withNullBeside)
  if (typeof value !== 'object' || value === null) return value
  const node = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withNullBeside(inner)]))
  const [reference, addition, ...others] = Array.isArray(node.allOf) ? node.allOf : []
  if (reference?.$ref === undefined || addition === undefined || others.length > 0) return node
  // A shape that extends another has members of its own; that is what allOf is for.
  if (addition.$ref !== undefined || addition.properties !== undefined) return node
  const { allOf: _, ...beside } = node
  const { type, enum: __, ...rest } = addition
  if (type === undefined) return { ...beside, ...rest, $ref: reference.$ref }
  return { ...beside, ...rest, anyOf: [{ $ref: reference.$ref }, { type: 'null' }] }
}
