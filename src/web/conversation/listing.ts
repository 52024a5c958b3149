// The list of conversations as far as it was asked for, page by page, while it changes.

import type { ConversationInfo, ConversationPage } from '../wire.ts'

/** `next`: where it goes on; null at its end. */
export type Part = { items: ConversationInfo[]; next: string | null }

/** The newest page again: what was asked for beyond it stays, also where new ones have pushed it further down. */
export function withNewest({ items, next }: Part, { results, next_page_id }: ConversationPage): Part {
  const fresh = new Set(results.map(({ conversation_id: id }) => id))
  const last = items.findLastIndex(({ conversation_id: id }) => fresh.has(id))
  // Of those before it, whatever is not on the page is gone.
  const older = next_page_id === null || last === -1 ? [] : items.slice(last + 1)
  return { items: [...results, ...older], next: older.length === 0 ? next_page_id : next }
}

export function withOlder({ items }: Part, { results, next_page_id }: ConversationPage): Part {
  const known = new Set(items.map(({ conversation_id: id }) => id))
  return { items: [...items, ...results.filter(({ conversation_id: id }) => !known.has(id))], next: next_page_id }
}
