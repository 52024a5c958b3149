import { fromBase64, toBase64Url } from '../lib/crypto.ts'

/** Where a page of rows ended: an opaque cursor that stays right when rows are added before it. */
export type Position = { createdAt: string; id: string }

export function encodeCursor({ createdAt, id }: Position): string {
  return toBase64Url(new TextEncoder().encode(`${createdAt} ${id}`))
}

/** The position, or null when the text is not one of our cursors. */
export function decodeCursor(cursor: string): Position | null {
  const bytes = fromBase64(cursor)
  const match = bytes && /^(\d{4}-\d\d-\d\dT[\d:.]+Z) ([\w-]{1,64})$/.exec(new TextDecoder().decode(bytes))
  return match?.[1] && match[2] ? { createdAt: match[1], id: match[2] } : null
}
