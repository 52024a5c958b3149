// GitLab, its own service and self-managed: REST version 4, GraphQL for merge requests with what ails them.

import { z } from 'zod'
import { type Api, orNull } from './api-client.ts'
import { textOf } from './base64-text.ts'
import { orderedBranches } from './branch-order.ts'
import { gitlabTasks } from './gitlab-tasks.ts'
import { openOnGitLab } from './open-request.ts'
import { allPages, hasNext, momentKey, PAGE_SIZE } from './pages.ts'
import type { Branch, GitProvider, Listing, Page, Repository, Search, Sort, User } from './provider.ts'
import { readSearch } from './repository-names.ts'

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
    // What is not filled in is an empty text there.
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
    // Fewer than asked for may be left of what has the words elsewhere in its path.
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

/** The files of a folder and of all folders in it. */
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
