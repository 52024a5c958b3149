// All lists have the same paging: `limit` rows a page, and the `next_page_id` of a page is the `page_id` of the next
// one, until it is null. A page id identifies the last row, so pages stay correct while rows are added before it.

import { z } from '@hono/zod-openapi'
import { fromBase64, toBase64Url } from '../lib/crypto.ts'
import { laxInt } from '../lib/lax.ts'
import { AppError } from './errors.ts'

/** The query of every list of our own. */
export const PAGE_QUERY = {
  limit: laxInt({ min: 1, max: 1000 }).default(100),
  page_id: z.string().optional(),
}

/** The position after the last row of a page. */
export type Position = { createdAt: string; id: string }

export function encodeCursor({ createdAt, id }: Position): string {
  return encoded(`${createdAt} ${id}`)
}

/** The position, or null when the text is not a cursor of this service. */
function decodeCursor(cursor: string): Position | null {
  const match = /^(\d{4}-\d\d-\d\dT[\d:.]+Z) ([\w-]{1,64})$/.exec(decoded(cursor) ?? '')
  return match?.[1] && match[2] ? { createdAt: match[1], id: match[2] } : null
}

/** The position of a page id, or null without one; throws a 400 for an id that is not ours. */
export function positionOf(pageId: string | null | undefined): Position | null {
  if (pageId === undefined || pageId === null || pageId === '') return null
  return decodeCursor(pageId) ?? refuse()
}

/** A page id for rows that are not ordered by time and id. */
export const pageIdOf = (key: readonly (string | number)[]): string => encoded(JSON.stringify(key))

/** The key in such a page id, or null without one; throws a 400 for an id that is not ours. */
export function pageKeyOf<T>(pageId: string | undefined, schema: z.ZodType<T>): T | null {
  if (pageId === undefined || pageId === '') return null
  const text = decoded(pageId)
  if (text?.startsWith('[') !== true) return refuse()
  try {
    return schema.parse(JSON.parse(text))
  } catch {
    // Neither the parser nor the schema accepts the text as one of `pageIdOf`.
    return refuse()
  }
}

/** One page, from rows that were read with one more than the limit, and the id of the next page. */
export function pageOf<T>(found: readonly T[], limit: number, idOf: (last: T) => string) {
  const page = found.slice(0, limit)
  const last = found.length > page.length ? page.at(-1) : undefined
  return { page, next_page_id: last === undefined ? null : idOf(last) }
}

const encoded = (text: string): string => toBase64Url(new TextEncoder().encode(text))

function decoded(cursor: string): string | null {
  const bytes = fromBase64(cursor)
  return bytes === null ? null : new TextDecoder().decode(bytes)
}

function refuse(): never {
  throw new AppError('bad_request', 'Invalid page_id')
}
