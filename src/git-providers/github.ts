// GitHub and GitHub Enterprise Server: REST for lists, GraphQL for what REST cannot answer in one request.

import { z } from 'zod'
import { UpstreamError } from '../lib/http-client.ts'
import { log } from '../lib/log.ts'
import { type Api, orNull } from './api-client.ts'
import { openOnGitHub } from './open-request.ts'
import {
  allPages,
  type Branch,
  type GitProvider,
  hasNext,
  type Listing,
  momentKey,
  orderedBranches,
  PAGE_SIZE,
  type Page,
  type Repository,
  type Search,
  type Sort,
  type SuggestedTask,
  type TaskType,
  type User,
} from './provider.ts'
import { encodedPath, readSearch, textOf } from './repository-names.ts'

const GitHubUser = z.object({
  id: z.number(),
  login: z.string(),
  avatar_url: z.string(),
  company: z.string().nullish(),
  name: z.string().nullish(),
  email: z.string().nullish(),
})

const GitHubRepository = z.object({
  id: z.number(),
  full_name: z.string(),
  private: z.boolean(),
  stargazers_count: z.number().nullish(),
  owner: z.object({ type: z.string() }).nullish(),
  pushed_at: z.string().nullish(),
  updated_at: z.string().nullish(),
  created_at: z.string().nullish(),
})
type GitHubRepository = z.infer<typeof GitHubRepository>

const Repositories = z.array(GitHubRepository)
const InstallationRepositories = z.object({ repositories: Repositories })
const Installations = z.object({ installations: z.array(z.object({ id: z.number() })) })
const RepositorySearch = z.object({ items: Repositories })
const Branches = z.array(
  z.object({ name: z.string(), commit: z.object({ sha: z.string() }), protected: z.boolean().default(false) }),
)
const Folder = z.array(z.object({ path: z.string(), type: z.string() }))
/** The answer may also be a folder's listing instead of a file, or a file instead of a folder. */
const File = z.object({ type: z.string(), encoding: z.string().nullish(), content: z.string().nullish() })
const FolderOrFile = z.union([Folder, File.transform(() => [])])
const FileOrFolder = z.union([File, Folder.transform(() => null)])

export const GITHUB_HEADERS = { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' }

/** What the REST search can sort by. */
const SEARCH_SORTS: ReadonlySet<string> = new Set(['stars', 'forks', 'help-wanted-issues', 'updated'])

export function github(api: Api, host: string): GitProvider {
  return {
    family: 'github',
    user: () => user(api),
    installations: () => installations(api),
    repositories: (listing) => repositories(api, listing),
    search: (search) => searched(api, search, host),
    suggestedTasks: () => githubTasks(api),
    isReadable: async (repository) =>
      (await orNull(api.get(`/repos/${encodedPath(repository)}`, GitHubRepository))) !== null,
    branches: (repository) => branches(api, repository),
    files: async (repository, folder) => {
      const entries = await orNull(
        api.get(`/repos/${encodedPath(repository)}/contents/${encodedPath(folder)}`, FolderOrFile),
      )
      return (entries ?? []).filter(({ type }) => type === 'file').map(({ path }) => path)
    },
    openRequest: (request) => openOnGitHub(api, request),
    fileText: async (repository, path) => {
      const file = await orNull(
        api.get(`/repos/${encodedPath(repository)}/contents/${encodedPath(path)}`, FileOrFolder),
      )
      return file?.type === 'file' && file.encoding === 'base64' ? textOf(file.content ?? '') : null
    },
  }
}

async function user(api: Api): Promise<User> {
  const { id, login, avatar_url, company, name, email } = await api.get('/user', GitHubUser)
  return {
    id: String(id),
    login,
    avatarUrl: avatar_url,
    company: company ?? null,
    name: name ?? null,
    email: email ?? null,
  }
}

async function installations(api: Api): Promise<string[]> {
  const found = await allPages(async ({ page, perPage }) => {
    const { value, link } = await api.page(`/user/installations?per_page=${perPage}&page=${page}`, Installations)
    return { items: value.installations, hasNext: hasNext(link) }
  })
  return found.map(({ id }) => String(id))
}

async function repositories(api: Api, listing: Listing): Promise<Repository[]> {
  if (listing.page !== null) {
    const { items, link } = await repositoryPage(api, listing, listing.page)
    return items.map((item) => repositoryOf(item, listing.sort, link ?? ''))
  }
  const all = await allPages(async (page) => {
    const { items, link } = await repositoryPage(api, listing, page)
    return { items, hasNext: hasNext(link) }
  })
  return all.map((item) => repositoryOf(item, listing.sort, null))
}

async function repositoryPage(api: Api, { sort, installation }: Listing, { page, perPage }: Page) {
  const paging = `per_page=${Math.min(perPage, PAGE_SIZE)}&page=${page}`
  if (installation !== null) {
    const path = `/user/installations/${encodeURIComponent(installation)}/repositories?${paging}`
    const { value, link } = await api.page(path, InstallationRepositories)
    return { items: value.repositories, link }
  }
  const direction = sort === 'full_name' ? 'asc' : 'desc'
  const { value, link } = await api.page(`/user/repos?sort=${sort}&direction=${direction}&${paging}`, Repositories)
  return { items: value, link }
}

function repositoryOf(found: GitHubRepository, sort: Sort, link: string | null): Repository {
  const { owner } = found
  return {
    id: String(found.id),
    fullName: found.full_name,
    provider: 'github',
    isPublic: !found.private,
    stars: found.stargazers_count ?? null,
    link,
    pushedAt: null,
    ownerType: owner?.type === undefined ? null : owner.type === 'Organization' ? 'organization' : 'user',
    mainBranch: null,
    sortKey: sort === 'full_name' ? found.full_name.toLowerCase() : momentKey(found[`${sort}_at`]),
  }
}

async function searched(api: Api, search: Search, host: string): Promise<Repository[]> {
  const wanted = readSearch(search.query, host)
  if (wanted.kind === 'elsewhere') return []
  if (wanted.kind === 'exact') {
    const found = await orNull(api.get(`/repos/${encodedPath(wanted.repository)}`, GitHubRepository))
    return found === null || found.private ? [] : [repositoryOf(found, 'updated', null)]
  }
  const owner = wanted.kind === 'owned' ? wanted.owner : (await user(api)).login
  const words = wanted.kind === 'owned' ? wanted.name : wanted.text
  const query = new URLSearchParams({ q: `${words} in:name user:${owner}`, per_page: String(search.perPage) })
  if (SEARCH_SORTS.has(search.sort)) query.set('sort', search.sort)
  query.set('order', search.order)
  const path = `/search/repositories?${query}`
  try {
    const { items } = await api.get(path, RepositorySearch)
    return items.map((item) => repositoryOf(item, 'updated', null))
  } catch (error) {
    // Its answer for an unknown owner.
    if (error instanceof UpstreamError && error.status === 422) return []
    throw error
  }
}

/** REST returns the branches and their protection; only GraphQL returns the time of their last push. */
async function branches(api: Api, repository: string): Promise<Branch[]> {
  const [listed, dates] = await Promise.all([listedBranches(api, repository), branchDates(api, repository)])
  return orderedBranches(
    listed.map(({ name, commit, protected: isProtected }) => ({
      name,
      sha: commit.sha,
      isProtected,
      pushedAt: dates.get(name) ?? null,
    })),
  )
}

async function listedBranches(api: Api, repository: string): Promise<z.infer<typeof Branches>> {
  const found = await orNull(
    allPages(async ({ page, perPage }) => {
      const path = `/repos/${encodedPath(repository)}/branches?per_page=${perPage}&page=${page}`
      const { value, link } = await api.page(path, Branches)
      return { items: value, hasNext: hasNext(link) }
    }),
  )
  return found ?? []
}

/** Branches without dates are better than none. */
async function branchDates(api: Api, repository: string): Promise<ReadonlyMap<string, string>> {
  try {
    return await githubBranchDates(api, repository)
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error
    log.warn('git_providers.no_branch_dates', { provider: 'github', reason: error.reason, status: error.status })
    return new Map()
  }
}

const NEWEST = 50

const TASKS = `query ($pulls: String!, $issues: String!, $newest: Int!) {
  pulls: search(query: $pulls, type: ISSUE, first: $newest) {
    nodes {
      ... on PullRequest {
        number title mergeable
        repository { nameWithOwner }
        commits(last: 1) { nodes { commit { statusCheckRollup { state } } } }
        reviews(first: 50, states: [CHANGES_REQUESTED, COMMENTED]) { nodes { state } }
      }
    }
  }
  issues: search(query: $issues, type: ISSUE, first: $newest) {
    nodes { ... on Issue { number title repository { nameWithOwner } } }
  }
}`

const DATES = `query ($owner: String!, $name: String!, $first: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    refs(refPrefix: "refs/heads/", first: $first, after: $after) {
      nodes { name target { ... on Commit { committedDate } } }
      pageInfo { hasNextPage endCursor }
    }
  }
}`

const Ticket = z.object({
  number: z.int(),
  title: z.string(),
  repository: z.object({ nameWithOwner: z.string() }),
})

const nodesOf = <T extends z.ZodType>(node: T) => z.object({ nodes: z.array(node.nullable()) })

const PullRequest = Ticket.extend({
  mergeable: z.string().nullish(),
  commits: nodesOf(
    z.object({ commit: z.object({ statusCheckRollup: z.object({ state: z.string() }).nullish() }) }),
  ).nullish(),
  reviews: nodesOf(z.object({ state: z.string() })).nullish(),
})
type PullRequest = z.infer<typeof PullRequest>

// A node that the token may not see is null, and an empty object when a search finds an object of another type.
const NoNode = z.strictObject({}).transform(() => null)
const Tasks = z.object({
  pulls: nodesOf(z.union([PullRequest, NoNode])),
  issues: nodesOf(z.union([Ticket, NoNode])),
})

const BranchDates = z.object({
  repository: z
    .object({
      refs: z
        .object({
          nodes: z.array(
            z
              .object({ name: z.string(), target: z.object({ committedDate: z.string().optional() }).nullish() })
              .nullable(),
          ),
          pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullish() }),
        })
        .nullish(),
    })
    .nullish(),
})

/** GitHub Enterprise Server has GraphQL beside its REST API, github.com below it. */
const graphqlUrl = ({ base }: Api): string =>
  /\/api\/v3$/.test(base) ? base.replace(/v3$/, 'graphql') : `${base}/graphql`

/** The user's tasks: their newest open pull requests with problems, and the newest issues assigned to them. */
async function githubTasks(api: Api): Promise<SuggestedTask[]> {
  const variables = {
    pulls: 'is:pr is:open archived:false author:@me sort:created-desc',
    issues: 'is:issue is:open archived:false assignee:@me sort:created-desc',
    newest: NEWEST,
  }
  const { pulls, issues } = await api.graphql(graphqlUrl(api), { query: TASKS, variables, schema: Tasks })
  const requests = pulls.nodes.flatMap((request) => {
    const type = request === null ? null : troubleOf(request)
    return request === null || type === null ? [] : [taskOf(request, type)]
  })
  return [...requests, ...issues.nodes.flatMap((issue) => (issue === null ? [] : [taskOf(issue, 'OPEN_ISSUE')]))]
}

function troubleOf({ mergeable, commits, reviews }: PullRequest): TaskType | null {
  if (mergeable === 'CONFLICTING') return 'MERGE_CONFLICTS'
  const checks = commits?.nodes[0]?.commit.statusCheckRollup?.state
  if (checks === 'FAILURE' || checks === 'ERROR') return 'FAILING_CHECKS'
  const isOpen = reviews?.nodes.some((review) => review?.state === 'CHANGES_REQUESTED' || review?.state === 'COMMENTED')
  return isOpen ? 'UNRESOLVED_COMMENTS' : null
}

const taskOf = ({ repository, number, title }: z.infer<typeof Ticket>, type: TaskType): SuggestedTask => ({
  provider: 'github',
  type,
  repository: repository.nameWithOwner,
  number,
  title,
})

/** When each branch had its last commit. */
async function githubBranchDates(api: Api, repository: string): Promise<ReadonlyMap<string, string>> {
  const [owner, name] = repository.split('/')
  let after: string | null = null
  const found = await allPages(async ({ perPage }) => {
    const variables: Record<string, unknown> = { owner, name, first: perPage, after }
    const answer = await api.graphql(graphqlUrl(api), { query: DATES, variables, schema: BranchDates })
    const refs = answer.repository?.refs
    after = refs?.pageInfo.endCursor ?? null
    return { items: refs?.nodes ?? [], hasNext: refs?.pageInfo.hasNextPage === true && after !== null }
  })
  return new Map(
    found.flatMap((ref) => (ref?.target?.committedDate === undefined ? [] : [[ref.name, ref.target.committedDate]])),
  )
}
