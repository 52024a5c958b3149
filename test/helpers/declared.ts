// Validates every response of a test against the published OpenAPI document: an undeclared status,
// or a body that does not match the declared schema, fails the test that received it.

import { app } from '../../src/app.ts'
import { documentFor } from '../../src/http/openapi.ts'
import { WORDS } from '../../src/routes/words/all.ts'
import { faultsOf, type JsonSchema } from './json-schema.ts'

type Operation = { responses: Record<string, { content?: Record<string, { schema: JsonSchema }> }> }
type Document = {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, JsonSchema> }
}

type DeclaredCall = { call: string; method: string; pattern: RegExp; operation: Operation }

let read: { known: DeclaredCall[]; components: Document['components']['schemas'] } | undefined

function readDocument(): NonNullable<typeof read> {
  const { paths, components } = documentFor(app, WORDS) as Document
  const known = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      call: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      pattern: new RegExp(
        `^${path.replace(/\{(\w+)\}/g, (_, name) => (name === 'repository_name' ? '.+' : '[^/]+'))}$`,
      ),
      operation,
    })),
  )
  // A literal path segment has precedence over a parameter, as in routing.
  known.sort((a, b) => a.call.split('{').length - b.call.split('{').length)
  return { known, components: components.schemas }
}

/** The declared operation of a request, or null if the document has none. */
function declarationOf(request: Request): DeclaredCall | null {
  read ??= readDocument()
  const { pathname } = new URL(request.url)
  return read.known.find(({ method, pattern }) => method === request.method && pattern.test(pathname)) ?? null
}

/** The differences between a response and its declaration. Does not consume the response body. */
export async function undeclared(request: Request, response: Response): Promise<string[]> {
  const found = declarationOf(request)
  if (found === null) return []
  const { call, operation } = found
  const place = `${call} ${response.status}`
  const reply = operation.responses[response.status]
  const type = response.headers.get('content-type')?.split(';')[0] ?? null
  if (reply === undefined) return [`${place} is not declared: ${await peek(response)}`]
  if (reply.content === undefined) return type === null ? [] : [`${place} is declared without a body: ${type}`]
  const media = type === null ? undefined : reply.content[type]
  if (media === undefined) return [`${place} is declared as ${Object.keys(reply.content)}, not as ${type}`]
  if (type !== 'application/json') return []
  return faultsOf(await response.clone().json(), media.schema, { path: place, components: read?.components ?? {} })
}

const peek = async (response: Response): Promise<string> => (await response.clone().text()).slice(0, 300)
