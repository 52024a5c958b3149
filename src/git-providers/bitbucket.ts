// Bitbucket Cloud, REST version 2. Its lists say in the body whether a page follows; its repositories are in
// workspaces.

import { z } from 'zod'
import { type Api, orNull } from './api-client.ts'
import { openOnBitbucket } from './open-request.ts'
import {
  allPages,
  type Branch,
  type GitProvider,
  type Listing,
  linkTo,
  mergedBy,
  momentKey,
  orderedBranches,
  PAGE_SIZE,
  pageOf,
  type Repository,
  type Search,
  type Sort,
  type User,
} from './provider.ts'
import { encodedPath, MAX_TEXT_BYTES, readSearch } from './repository-names.ts'

const BitbucketUser = z.object({
  uuid: z.string(),
  account_id: z.string().nullish(),
  username: z.string().nullish(),
  nickname: z.string().nullish(),
  display_name: z.string().nullish(),
  links: z.object({ avatar: z.object({ href: z.string() }).nullish() }).nullish(),
})

const BitbucketRepository = z.object({
  uuid: z.string(),
  full_name: z.string(),
  is_private: z.boolean(),
  updated_on: z.string().nullish(),
  created_on: z.string().nullish(),
  mainbranch: z.object({ name: z.string() }).nullish(),
  owner: z.object({ type: z.string() }).nullish(),
})
type BitbucketRepository = z.infer<typeof BitbucketRepository>

const pageSchema = <T extends z.ZodType>(item: T) => z.object({ values: z.array(item), next: z.string().optional() })

const Workspaces = pageSchema(z.object({ slug: z.string() }))
const Repositories = pageSchema(BitbucketRepository)
const Branches = pageSchema(
  z.object({ name: z.string(), target: z.object({ hash: z.string(), date: z.string().nullish() }) }),
)
const Entries = pageSchema(z.object({ path: z.string(), type: z.string() }))
const FileFacts = z.object({ type: z.string(), size: z.number().default(0) })
const BranchHead = z.object({ target: z.object({ hash: z.string() }) })

const ORDERS = {
  pushed: '-updated_on',
  updated: '-updated_on',
  created: '-created_on',
  full_name: 'full_name',
} as const satisfies Record<Sort, string>

export function bitbucket(api: Api, host: string): GitProvider {
  return {
    family: 'bitbucket',
    user: () => user(api),
    installations: () => workspaces(api),
    repositories: (listing) => repositories(api, listing),
    search: (search) => searched(api, search, host),
    // It has no list of a user's pending tasks.
    suggestedTasks: null,
    isReadable: async (repository) =>
      (await orNull(api.get(`/repositories/${encodedPath(repository)}`, BitbucketRepository))) !== null,
    branches: (repository) => branches(api, repository),
    files: (repository, folder) => files(api, repository, folder),
    openRequest: (request) => openOnBitbucket(api, request),
    fileText: (repository, path) => fileText(api, repository, path),
  }
}

async function user(api: Api): Promise<User> {
  const { uuid, account_id, username, nickname, display_name, links } = await api.get('/user', BitbucketUser)
  return {
    id: account_id ?? uuid,
    login: username ?? nickname ?? display_name ?? uuid,
    avatarUrl: links?.avatar?.href ?? '',
    company: null,
    name: display_name ?? null,
    email: null,
  }
}

async function workspaces(api: Api): Promise<string[]> {
  const { values } = await api.get(`/workspaces?pagelen=${PAGE_SIZE}`, Workspaces)
  return values.map(({ slug }) => slug)
}

async function repositories(api: Api, listing: Listing): Promise<Repository[]> {
  const { sort, installation, page } = listing
  if (installation !== null && page !== null) {
    const path = `/repositories/${encodeURIComponent(installation)}`
    const paging = `pagelen=${Math.min(page.perPage, PAGE_SIZE)}&page=${page.page}`
    const { values, next } = await api.get(`${path}?sort=${ORDERS[sort]}&${paging}`, Repositories)
    const link = next === undefined ? '' : linkTo(api.base + path, page)
    return values.map((value) => repositoryOf(value, sort, link))
  }
  const slugs = installation === null ? await workspaces(api) : [installation]
  const all = mergedBy(sort, await Promise.all(slugs.map((slug) => workspaceRepositories(api, slug, sort))))
  return page === null ? all : pageOf(all, `${api.base}/repositories`, page)
}

async function workspaceRepositories(api: Api, workspace: string, sort: Sort): Promise<Repository[]> {
  const found = await allPages(async ({ page, perPage }) => {
    const query = `sort=${ORDERS[sort]}&pagelen=${perPage}&page=${page}`
    const { values, next } = await api.get(`/repositories/${encodeURIComponent(workspace)}?${query}`, Repositories)
    return { items: values, hasNext: next !== undefined }
  })
  return found.map((repository) => repositoryOf(repository, sort, null))
}

function repositoryOf(found: BitbucketRepository, sort: Sort, link: string | null): Repository {
  const { owner, full_name: fullName } = found
  return {
    id: found.uuid,
    fullName,
    provider: 'bitbucket',
    isPublic: !found.is_private,
    stars: null,
    link,
    pushedAt: found.updated_on ?? null,
    ownerType: owner?.type === undefined ? null : owner.type === 'user' ? 'user' : 'organization',
    mainBranch: found.mainbranch?.name ?? null,
    sortKey:
      sort === 'full_name'
        ? fullName.toLowerCase()
        : momentKey(sort === 'created' ? found.created_on : found.updated_on),
  }
}

async function searched(api: Api, search: Search, host: string): Promise<Repository[]> {
  const wanted = readSearch(search.query, host)
  if (wanted.kind === 'elsewhere') return []
  if (wanted.kind === 'exact') {
    const found = await orNull(api.get(`/repositories/${encodedPath(wanted.repository)}`, BitbucketRepository))
    return found === null || found.is_private ? [] : [repositoryOf(found, 'updated', null)]
  }
  if (wanted.kind === 'owned') return named(api, wanted.owner, { ...search, query: wanted.name })
  const text = wanted.text.toLowerCase()
  const lists = await Promise.all(
    (await workspaces(api)).map((slug) =>
      named(api, slug, slug.toLowerCase().includes(text) ? { ...search, query: '' } : search),
    ),
  )
  return mergedBy('updated', lists).slice(0, search.perPage)
}

/** The repositories of a workspace whose name contains the words; without words all of them. */
async function named(api: Api, workspace: string, { query, perPage }: Search): Promise<Repository[]> {
  const parameters = new URLSearchParams({ sort: '-updated_on', pagelen: String(perPage) })
  // The words are inside a quoted text of the query language.
  if (query !== '') parameters.set('q', `name~"${query.replace(/["\\]/g, '\\$&')}"`)
  const found = await orNull(api.get(`/repositories/${encodeURIComponent(workspace)}?${parameters}`, Repositories))
  return (found?.values ?? []).map((repository) => repositoryOf(repository, 'updated', null))
}

async function branches(api: Api, repository: string): Promise<Branch[]> {
  const found = await orNull(
    allPages(async ({ page, perPage }) => {
      const path = `/repositories/${encodedPath(repository)}/refs/branches?pagelen=${perPage}&page=${page}`
      const { values, next } = await api.get(path, Branches)
      return { items: values, hasNext: next !== undefined }
    }),
  )
  return orderedBranches(
    (found ?? []).map(({ name, target }) => ({
      name,
      sha: target.hash,
      isProtected: false,
      pushedAt: target.date ?? null,
    })),
  )
}

async function files(api: Api, repository: string, folder: string): Promise<string[]> {
  const source = await orNull(sourcePath(api, repository))
  if (source === null) return []
  const found = await orNull(
    allPages(async ({ page, perPage }) => {
      const path = `${source}/${encodedPath(folder)}/?pagelen=${perPage}&page=${page}`
      const { values, next } = await api.get(path, Entries)
      return { items: values, hasNext: next !== undefined }
    }),
  )
  return (found ?? []).filter(({ type }) => type === 'commit_file').map(({ path }) => path)
}

/** A folder also has an answer at its path; only the type distinguishes them. */
async function fileText(api: Api, repository: string, path: string): Promise<string | null> {
  const source = await orNull(sourcePath(api, repository))
  if (source === null) return null
  const address = `${source}/${encodedPath(path)}`
  const file = await orNull(api.get(`${address}?format=meta`, FileFacts))
  if (file?.type !== 'commit_file' || file.size > MAX_TEXT_BYTES) return null
  return orNull(api.text(address))
}

/** The address of the default branch's files; null for a repository without a commit. */
async function sourcePath(api: Api, repository: string): Promise<string | null> {
  const path = `/repositories/${encodedPath(repository)}`
  const branch = (await api.get(path, BitbucketRepository)).mainbranch?.name
  if (branch === undefined) return null
  // A branch name with a slash cannot be in the path, but its commit can.
  if (!branch.includes('/')) return `${path}/src/${encodeURIComponent(branch)}`
  const { target } = await api.get(`${path}/refs/branches/${encodedPath(branch)}`, BranchHead)
  return `${path}/src/${target.hash}`
}
