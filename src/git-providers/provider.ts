// The interface of a git hosting service.

export const FAMILIES = ['github', 'gitlab', 'bitbucket'] as const
export type Family = (typeof FAMILIES)[number]

export const isFamily = (provider: string): provider is Family => FAMILIES.some((family) => family === provider)

export type User = {
  id: string
  login: string
  avatarUrl: string
  company: string | null
  name: string | null
  email: string | null
}

export type Repository = {
  id: string
  fullName: string
  provider: Family
  isPublic: boolean
  stars: number | null
  /** The `Link` header of the page that contained it; null outside of pages. */
  link: string | null
  pushedAt: string | null
  ownerType: 'user' | 'organization' | null
  mainBranch: string | null
  /** The key for merging lists of several providers: the time or the name by which they are sorted. */
  sortKey: string
}

export type Branch = { name: string; sha: string; isProtected: boolean; pushedAt: string | null }

export type TaskType = 'MERGE_CONFLICTS' | 'FAILING_CHECKS' | 'UNRESOLVED_COMMENTS' | 'OPEN_ISSUE'
export type SuggestedTask = { provider: Family; type: TaskType; repository: string; number: number; title: string }

export type Sort = 'pushed' | 'updated' | 'created' | 'full_name'
export type Page = { page: number; perPage: number }
/** `page: null` asks for everything, up to `MAX_LISTED`. */
export type Listing = { sort: Sort; installation: string | null; page: Page | null }

export type Search = { query: string; perPage: number; sort: string; order: 'asc' | 'desc' }

/** How many repositories or branches are listed at most. */
export const MAX_LISTED = 1000

export type NewRequest = {
  /** `owner/name`; for GitLab the id or the path of the project. */
  repository: string
  sourceBranch: string
  targetBranch: string
  title: string
  description: string
  /** Bitbucket has no labels. */
  labels: readonly string[]
  /** Only GitHub has a field for drafts; other providers ignore it. */
  draft: boolean
}

export type OpenedRequest =
  | { ok: true; url: string; number: number; labelled: boolean }
  /** The provider refuses a valid request; `reason` is its own short message. */
  | { ok: false; reason: string }

export interface GitProvider {
  readonly family: Family
  user(): Promise<User>
  /** App installations or workspaces; null where the provider has neither. */
  installations(): Promise<string[] | null>
  repositories(listing: Listing): Promise<Repository[]>
  search(search: Search): Promise<Repository[]>
  /** Null when the provider has no such lists. */
  readonly suggestedTasks: (() => Promise<SuggestedTask[]>) | null
  /** Whether the repository exists for this token. */
  isReadable(repository: string): Promise<boolean>
  /** Empty also for a repository that is not there. */
  branches(repository: string): Promise<Branch[]>
  /** Paths of the files in a folder of the default branch; empty when it is not there. */
  files(repository: string, folder: string): Promise<string[]>
  /** A text file of the default branch, or null when it is not there, not text or too large. */
  fileText(repository: string, path: string): Promise<string | null>
  /** Opens a pull or merge request. */
  openRequest(request: NewRequest): Promise<OpenedRequest>
}

const FIRST: ReadonlySet<string> = new Set(['main', 'master'])

/** The branches named main or master, then the others: last pushed first, those of unknown date at the end. */
export function orderedBranches(branches: readonly Branch[]): Branch[] {
  const moment = ({ pushedAt }: Branch) => {
    const at = Date.parse(pushedAt ?? '')
    return Number.isNaN(at) ? Number.NEGATIVE_INFINITY : at
  }
  const rank = ({ name }: Branch) => (FIRST.has(name) ? 0 : 1)
  const later = (a: Branch, b: Branch) => (moment(a) === moment(b) ? 0 : moment(b) > moment(a) ? 1 : -1)
  return [...branches].sort((a, b) => rank(a) - rank(b) || later(a, b))
}

// Lists come in pages. The next page's number is counted here and never read from an answer, because the token would be
// sent to an address that a server names.

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

/** A `Link` header for a page of a list without one. */
export function linkTo(address: string, { page, perPage }: Page): string {
  return `<${address}?page=${page + 1}&per_page=${perPage}>; rel="next"`
}

/** One page of a complete list; each of its repositories says whether another page follows. */
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

/** The time in a form whose text order is time order, whatever zone it had. */
export function momentKey(text: string | null | undefined): string {
  const at = Date.parse(text ?? '')
  return Number.isNaN(at) ? '' : new Date(at).toISOString()
}
