// Lists come in pages. Which page comes next is counted here and never read from an answer: an address that a server names
// would get the token along.

import { MAX_LISTED, type Page, type Repository } from './provider.ts'

export const PAGE_SIZE = 100

export const hasNext = (link: string | null): boolean => /;\s*rel="?next"?/i.test(link ?? '')

/** Items of all pages in order, up to `MAX_LISTED`. */
export async function allPages<T>(
  ask: (page: Page) => Promise<{ items: readonly T[]; hasNext: boolean }>,
): Promise<T[]> {
  const found: T[] = []
  for (let page = 1; found.length < MAX_LISTED && page <= MAX_LISTED / PAGE_SIZE; page++) {
    const { items, hasNext: goesOn } = await ask({ page, perPage: PAGE_SIZE })
    found.push(...items)
    if (!goesOn) break
  }
  return found.slice(0, MAX_LISTED)
}

/** A `Link` header for a page of a list that comes without one. */
export function linkTo(address: string, { page, perPage }: Page): string {
  return `<${address}?page=${page + 1}&per_page=${perPage}>; rel="next"`
}

/** One page of a whole list; each of its repositories tells whether another page follows. */
export function pageOf(all: readonly Repository[], address: string, page: Page): Repository[] {
  const start = (page.page - 1) * page.perPage
  const link = start + page.perPage < all.length ? linkTo(address, page) : ''
  return all.slice(start, start + page.perPage).map((repository) => ({ ...repository, link }))
}

/** Lists of several sources as one: the newest first, or by name. */
export function mergedBy(sort: string, lists: readonly (readonly Repository[])[]): Repository[] {
  const direction = sort === 'full_name' ? 1 : -1
  const compare = (a: Repository, b: Repository) =>
    a.sortKey === b.sortKey ? 0 : direction * (a.sortKey < b.sortKey ? -1 : 1)
  return lists.flat().sort(compare).slice(0, MAX_LISTED)
}

/** The moment in a form whose text order is time order, whatever the zone it came in. */
export function momentKey(text: string | null | undefined): string {
  const at = Date.parse(text ?? '')
  return Number.isNaN(at) ? '' : new Date(at).toISOString()
}
