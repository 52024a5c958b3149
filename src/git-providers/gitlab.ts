// GitLab, its own service and self-managed: REST version 4, GraphQL for merge requests with their problems.

import { z } from 'zod'
import { type Api, orNull } from './api-client.ts'
import { openOnGitLab } from './open-request.ts'
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
import { readSearch, textOf } from './repository-names.ts'

const GitLabUser = z.object({
  id: z.number(),
  username: z.string(),
  name: z.string().nullish(),
  email: z.string().nullish(),
  avatar_url: z.string().nullish(),
  organization: z.string().nullish(),
})

const Project = z.object({
  id: z.number(),
  path_with_namespace: z.string(),
  visibility: z.string().nullish(),
  star_count: z.number().nullish(),
  namespace: z.object({ kind: z.string().nullish() }).nullish(),
  last_activity_at: z.string().nullish(),
  updated_at: z.string().nullish(),
  created_at: z.string().nullish(),
})
type Project = z.infer<typeof Project>

const Projects = z.array(Project)
const Branches = z.array(
  z.object({
    name: z.string(),
    commit: z.object({ id: z.string(), committed_date: z.string().nullish() }),
    protected: z.boolean().default(false),
  }),
)
const Tree = z.array(z.object({ path: z.string(), type: z.string() }))
const File = z.object({ encoding: z.string(), content: z.string() })

const ORDERS = {
  pushed: 'last_activity_at',
  updated: 'updated_at',
  created: 'created_at',
  full_name: 'path',
} as const satisfies Record<Sort, string>

const SEARCH_ORDERS: Readonly<Record<string, string>> = {
  stars: 'star_count',
  updated: 'updated_at',
  pushed: 'last_activity_at',
  created: 'created_at',
  full_name: 'path',
}

const projectPath = (name: string) => `/projects/${encodeURIComponent(name)}`

export function gitlab(api: Api, host: string): GitProvider {
  return {
    family: 'gitlab',
    user: () => user(api),
    installations: async () => null,
    repositories: (listing) => repositories(api, listing),
    search: (search) => searched(api, search, host),
    suggestedTasks: () => gitlabTasks(api),
    isReadable: async (repository) => (await orNull(api.get(projectPath(repository), Project))) !== null,
    branches: (repository) => branches(api, repository),
    files: (repository, folder) => files(api, repository, folder),
    openRequest: (request) => openOnGitLab(api, request),
    fileText: async (repository, path) => {
      const address = `${projectPath(repository)}/repository/files/${encodeURIComponent(path)}?ref=HEAD`
      const file = await orNull(api.get(address, File))
      return file?.encoding === 'base64' ? textOf(file.content) : null
    },
  }
}

async function user(api: Api): Promise<User> {
  const { id, username, avatar_url, organization, name, email } = await api.get('/user', GitLabUser)
  return {
    id: String(id),
    login: username,
    avatarUrl: avatar_url ?? '',
    // Empty fields are empty texts there.
    company: organization || null,
    name: name || null,
    email: email || null,
  }
}

async function repositories(api: Api, { sort, page }: Listing): Promise<Repository[]> {
  const ask = ({ page: number, perPage }: Page) => {
    const direction = sort === 'full_name' ? 'asc' : 'desc'
    const order = `membership=true&order_by=${ORDERS[sort]}&sort=${direction}`
    return api.page(`/projects?${order}&per_page=${Math.min(perPage, PAGE_SIZE)}&page=${number}`, Projects)
  }
  if (page !== null) {
    const { value, link } = await ask(page)
    return value.map((project) => repositoryOf(project, sort, link ?? ''))
  }
  const all = await allPages(async (next) => {
    const { value, link } = await ask(next)
    return { items: value, hasNext: hasNext(link) }
  })
  return all.map((project) => repositoryOf(project, sort, null))
}

function repositoryOf(project: Project, sort: Sort, link: string | null): Repository {
  const { path_with_namespace: fullName, namespace } = project
  const moments = { pushed: project.last_activity_at, updated: project.updated_at, created: project.created_at }
  return {
    id: String(project.id),
    fullName,
    provider: 'gitlab',
    isPublic: project.visibility === 'public',
    stars: project.star_count ?? null,
    link,
    pushedAt: null,
    ownerType: namespace?.kind ? (namespace.kind === 'group' ? 'organization' : 'user') : null,
    mainBranch: null,
    sortKey: sort === 'full_name' ? fullName.toLowerCase() : momentKey(moments[sort]),
  }
}

async function searched(api: Api, search: Search, host: string): Promise<Repository[]> {
  const wanted = readSearch(search.query, host)
  if (wanted.kind === 'elsewhere') return []
  if (wanted.kind === 'exact') {
    const project = await orNull(api.get(projectPath(wanted.repository), Project))
    return project?.visibility === 'public' ? [repositoryOf(project, 'updated', null)] : []
  }
  const query = new URLSearchParams({
    search: wanted.kind === 'owned' ? `${wanted.owner}/${wanted.name}` : wanted.text,
    search_namespaces: 'true',
    // Fewer than requested may remain, because results with the words elsewhere in their path are removed.
    per_page: String(wanted.kind === 'owned' ? PAGE_SIZE : search.perPage),
    order_by: SEARCH_ORDERS[search.sort] ?? 'star_count',
    sort: search.order,
  })
  if (wanted.kind === 'text') query.set('membership', 'true')
  const found = await api.get(`/projects?${query}`, Projects)
  const fitting = wanted.kind === 'text' ? found : found.filter((project) => isOwned(project, wanted))
  return fitting.slice(0, search.perPage).map((project) => repositoryOf(project, 'updated', null))
}

function isOwned({ path_with_namespace }: Project, { owner, name }: { owner: string; name: string }): boolean {
  const path = path_with_namespace.toLowerCase()
  const last = path.slice(path.lastIndexOf('/') + 1)
  return path.startsWith(`${owner.toLowerCase()}/`) && last.includes(name.toLowerCase())
}

async function branches(api: Api, repository: string): Promise<Branch[]> {
  const found = await orNull(
    allPages(async ({ page, perPage }) => {
      const path = `${projectPath(repository)}/repository/branches?per_page=${perPage}&page=${page}`
      const { value, link } = await api.page(path, Branches)
      return { items: value, hasNext: hasNext(link) }
    }),
  )
  return orderedBranches(
    (found ?? []).map(({ name, commit, protected: isProtected }) => ({
      name,
      sha: commit.id,
      isProtected,
      pushedAt: commit.committed_date ?? null,
    })),
  )
}

/** The files of a folder and of all folders below it. */
async function files(api: Api, repository: string, folder: string): Promise<string[]> {
  const found = await orNull(
    allPages(async ({ page, perPage }) => {
      const query = new URLSearchParams({
        path: folder,
        recursive: 'true',
        per_page: String(perPage),
        page: String(page),
      })
      const { value, link } = await api.page(`${projectPath(repository)}/repository/tree?${query}`, Tree)
      return { items: value, hasNext: hasNext(link) }
    }),
  )
  return (found ?? []).filter(({ type }) => type === 'blob').map(({ path }) => path)
}

const NEWEST = 100

const REQUESTS = `query ($newest: Int!) {
  currentUser {
    authoredMergeRequests(state: opened, sort: UPDATED_DESC, first: $newest) {
      nodes {
        iid title conflicts
        project { fullPath }
        pipelines(first: 1) { nodes { status } }
        discussions(first: 100) { nodes { notes { nodes { resolvable resolved } } } }
      }
    }
  }
}`

const nodesOf = <T extends z.ZodType>(node: T) => z.object({ nodes: z.array(node.nullable()).nullish() }).nullish()

const MergeRequest = z.object({
  /** A number in text. */
  iid: z.string().regex(/^\d{1,15}$/),
  title: z.string(),
  conflicts: z.boolean().nullish(),
  project: z.object({ fullPath: z.string() }),
  pipelines: nodesOf(z.object({ status: z.string() })),
  discussions: nodesOf(
    z.object({ notes: nodesOf(z.object({ resolvable: z.boolean().nullish(), resolved: z.boolean().nullish() })) }),
  ),
})
type MergeRequest = z.infer<typeof MergeRequest>

const Requests = z.object({ currentUser: z.object({ authoredMergeRequests: nodesOf(MergeRequest) }) })

const Issues = z.array(z.object({ iid: z.int(), title: z.string(), references: z.object({ full: z.string() }) }))

/** GitLab has GraphQL beside version 4 of its REST API. */
const graphqlUrl = ({ base }: Api): string => (/\/v4$/.test(base) ? base.replace(/v4$/, 'graphql') : `${base}/graphql`)

/** The user's tasks: their open merge requests with problems, and the issues assigned to them. */
async function gitlabTasks(api: Api): Promise<SuggestedTask[]> {
  const question = { query: REQUESTS, variables: { newest: NEWEST }, schema: Requests }
  const path = `/issues?scope=assigned_to_me&state=opened&order_by=created_at&sort=desc&per_page=${NEWEST}`
  const [{ currentUser }, issues] = await Promise.all([api.graphql(graphqlUrl(api), question), api.get(path, Issues)])
  const requests = currentUser.authoredMergeRequests?.nodes ?? []
  return [...requests.flatMap(requestTasks), ...issues.map(issueTask)]
}

function requestTasks(request: MergeRequest | null): SuggestedTask[] {
  const type = request === null ? null : troubleOf(request)
  if (request === null || type === null) return []
  const { project, iid, title } = request
  return [{ provider: 'gitlab', type, repository: project.fullPath, number: Number(iid), title }]
}

function troubleOf({ conflicts, pipelines, discussions }: MergeRequest): TaskType | null {
  if (conflicts) return 'MERGE_CONFLICTS'
  if (pipelines?.nodes?.[0]?.status === 'FAILED') return 'FAILING_CHECKS'
  const notes = (discussions?.nodes ?? []).flatMap((discussion) => discussion?.notes?.nodes ?? [])
  return notes.some((note) => note?.resolvable && !note.resolved) ? 'UNRESOLVED_COMMENTS' : null
}

/** The part before the number in an issue's full reference, such as `group/project#12`. */
const issueTask = ({ iid, title, references }: z.infer<typeof Issues>[number]): SuggestedTask => ({
  provider: 'gitlab',
  type: 'OPEN_ISSUE',
  repository: references.full.replace(/#\d+$/, ''),
  number: iid,
  title,
})
