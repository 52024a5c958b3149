// From registered routes to the OpenAPI 3.1 document. The generator publishes a named schema in the form of its first use:
// one `ProviderType.nullable()` would make every other use of ProviderType nullable too. And it writes "this schema or null"
// as an `allOf` that nothing can satisfy. So every named schema is registered without modifiers first, and null is added
// beside the reference.

import { OpenAPIHono, z } from '@hono/zod-openapi'
import type { Router } from './router.ts'

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
  // Of a pipe the document contains what a client sends: the output side of a preprocessing, the input side of a
  // transformation.
  return schema.in instanceof z.ZodTransform ? schema.out : schema.in
}

/** The same document, with the generator's additions to a reference moved to where JSON Schema 2020-12 allows them. */
function withNullBeside(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withNullBeside)
  if (typeof value !== 'object' || value === null) return value
  const node = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withNullBeside(inner)]))
  const [reference, addition, ...others] = Array.isArray(node.allOf) ? node.allOf : []
  if (reference?.$ref === undefined || addition === undefined || others.length > 0) return node
  // A schema that extends another has properties of its own; for these allOf is right.
  if (addition.$ref !== undefined || addition.properties !== undefined) return node
  const { allOf: _, ...beside } = node
  const { type, enum: __, ...rest } = addition
  if (type === undefined) return { ...beside, ...rest, $ref: reference.$ref }
  return { ...beside, ...rest, anyOf: [{ $ref: reference.$ref }, { type: 'null' }] }
}
