// The loaded pages of the list of conversations, while it changes.

import type { ConversationInfo, ConversationPage } from '../wire.ts'

/** `next`: the id of the next page; null at the end. */
export type Part = { items: ConversationInfo[]; next: string | null }

/** Replaces the newest page; later pages are kept, even if new conversations have moved them down. */
export function withNewest({ items, next }: Part, { results, next_page_id }: ConversationPage): Part {
  const fresh = new Set(results.map(({ conversation_id: id }) => id))
  const last = items.findLastIndex(({ conversation_id: id }) => fresh.has(id))
  // Of the items before its end, those that are not on the new page were removed.
  const older = next_page_id === null || last === -1 ? [] : items.slice(last + 1)
  return { items: [...results, ...older], next: older.length === 0 ? next_page_id : next }
}

export function withOlder({ items }: Part, { results, next_page_id }: ConversationPage): Part {
  const known = new Set(items.map(({ conversation_id: id }) => id))
  return { items: [...items, ...results.filter(({ conversation_id: id }) => !known.has(id))], next: next_page_id }
}
