// What one server offers, as far as it can be offered to a model: a listing is whatever a stranger wrote.

import { z } from 'zod'
import type { Ask } from './connection.ts'

/** A tool as its server lists it, within bounds. */
export type ListedTool = {
  /** The server's own name for it. */
  readonly remoteName: string
  readonly description: string
  /** JSON Schema of an object. */
  readonly parameters: Readonly<Record<string, unknown>>
  /** The server says that calling it twice does what calling it once does. */
  readonly repeatable: boolean
  /** The server says that it destroys something. Absent where it does not, and in listings that were stored without it. */
  readonly isDestructive?: true
}

export type Listing = { readonly tools: readonly ListedTool[]; readonly complaints: readonly string[] }

/** How many are read of one server; how many are offered is another matter. */
export const MAX_LISTED_TOOLS = 2_000
const MAX_PAGES = 200
const MAX_DESCRIPTION_CHARS = 4_000
const MAX_NAME_CHARS = 200
const MAX_SCHEMA_CHARS = 20_000
const MAX_SCHEMA_DEPTH = 32

// One faulty tool costs that tool and not the listing, so the page is parsed without its tools.
const Page = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().nullish() })

const Tool = z.looseObject({
  name: z.string().min(1).max(MAX_NAME_CHARS),
  description: z.string().nullish(),
  inputSchema: z.looseObject({ type: z.literal('object') }),
  annotations: z
    .looseObject({ readOnlyHint: z.unknown(), idempotentHint: z.unknown(), destructiveHint: z.unknown() })
    .partial()
    .nullish()
    .catch(null),
})

export async function listTools(ask: Ask): Promise<Listing> {
  const listed: unknown[] = []
  const complaints: string[] = []
  const cursors = new Set<string>()
  for (let cursor: string | undefined, pages = 1; ; pages++) {
    const { tools, nextCursor } = await ask('tools/list', cursor === undefined ? {} : { cursor }, Page)
    listed.push(...tools.slice(0, MAX_LISTED_TOOLS + 1 - listed.length))
    if (nextCursor === null || nextCursor === undefined) break
    // A cursor that comes again would go on for ever.
    if (listed.length > MAX_LISTED_TOOLS || pages === MAX_PAGES || cursors.has(nextCursor)) {
      complaints.push('Its listing does not end; what came until then is used')
      break
    }
    cursors.add(nextCursor)
    cursor = nextCursor
  }
  const kept = listed.slice(0, MAX_LISTED_TOOLS).map(readTool)
  const tools = kept.filter((tool) => tool !== null)
  if (listed.length > MAX_LISTED_TOOLS) complaints.push(`It lists more than ${MAX_LISTED_TOOLS} tools`)
  if (tools.length < kept.length) complaints.push(`${kept.length - tools.length} of its tools are not well described`)
  return { tools, complaints }
}

function readTool(raw: unknown): ListedTool | null {
  if (isDeeperThan(raw, MAX_SCHEMA_DEPTH)) return null
  const { success, data } = Tool.safeParse(raw)
  if (!success || JSON.stringify(data.inputSchema).length > MAX_SCHEMA_CHARS) return null
  return {
    remoteName: data.name,
    description: shortened(data.description ?? ''),
    // Some vendors refuse an object that says nothing of its properties.
    parameters: { properties: {}, ...data.inputSchema },
    repeatable: data.annotations?.readOnlyHint === true || data.annotations?.idempotentHint === true,
    ...(data.annotations?.destructiveHint === true ? { isDestructive: true as const } : {}),
  }
}

function shortened(text: string): string {
  return text.length > MAX_DESCRIPTION_CHARS ? `${text.slice(0, MAX_DESCRIPTION_CHARS)} …` : text
}

/** Level by level, so that no depth overflows the stack. */
function isDeeperThan(value: unknown, levels: number): boolean {
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levels) return true
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []))
  }
  return false
}
