// Data from the owner's git providers: the users, their repositories, and their open tasks.

import { z } from '@hono/zod-openapi'
import type { Account } from '../../git-providers/addresses.ts'
import type * as providers from '../../git-providers/provider.ts'
import {
  type Repository as Found,
  MAX_LISTED,
  mergedBy,
  type Page,
  pageOf,
  type Sort,
} from '../../git-providers/provider.ts'
import { AppError, stringEnvelope } from '../../http/errors.ts'
import { endpoint } from '../../http/openapi.ts'
import { router } from '../../http/router.ts'
import { valueError } from '../../http/validation.ts'
import { laxInt } from '../../lib/lax.ts'
import { ProviderType, SuggestedTask } from './schemas.ts'
import {
  allFailed,
  askAll,
  askFirst,
  demandAccounts,
  demandAnswers,
  failedHeader,
  TOKEN_REQUIRED,
} from './user-providers.ts'

// The JSON shapes of user data from git providers, and the conversion of domain values.

const User = z
  .object({
    id: z.string(),
    login: z.string(),
    avatar_url: z.string(),
    company: z.string().nullable(),
    name: z.string().nullable(),
    email: z.string().nullable(),
  })
  .openapi('User')

const Repository = z
  .object({
    id: z.string(),
    full_name: z.string(),
    git_provider: ProviderType,
    is_public: z.boolean(),
    stargazers_count: z.int().nullable(),
    link_header: z.string().nullable(),
    pushed_at: z.string().nullable(),
    owner_type: z.enum(['user', 'organization']).nullable(),
    main_branch: z.string().nullable(),
  })
  .openapi('Repository')

export const Branch = z
  .object({
    name: z.string(),
    commit_sha: z.string(),
    protected: z.boolean(),
    last_push_date: z.string().nullable().optional(),
  })
  .openapi('Branch')

export const MicroagentResponse = z
  .object({ name: z.string(), path: z.string(), created_at: z.iso.datetime() })
  .openapi('MicroagentResponse')

export const MicroagentContentResponse = z
  .object({
    content: z.string(),
    path: z.string(),
    triggers: z.array(z.string()),
    git_provider: ProviderType.nullable(),
  })
  .openapi('MicroagentContentResponse')

const userOnTheWire = (user: providers.User): z.infer<typeof User> => ({
  id: user.id,
  login: user.login,
  avatar_url: user.avatarUrl,
  company: user.company,
  name: user.name,
  email: user.email,
})

const repositoryOnTheWire = (repository: providers.Repository): z.infer<typeof Repository> => ({
  id: repository.id,
  full_name: repository.fullName,
  git_provider: repository.provider,
  is_public: repository.isPublic,
  stargazers_count: repository.stars,
  // The client reads it from the first item of a page.
  link_header: repository.link,
  pushed_at: repository.pushedAt,
  owner_type: repository.ownerType,
  main_branch: repository.mainBranch,
})

export const branchOnTheWire = (branch: providers.Branch): z.infer<typeof Branch> => ({
  name: branch.name,
  commit_sha: branch.sha,
  protected: branch.isProtected,
  last_push_date: branch.pushedAt,
})

const taskOnTheWire = (task: providers.SuggestedTask): z.infer<typeof SuggestedTask> => ({
  git_provider: task.provider,
  task_type: task.type,
  repo: task.repository,
  issue_number: task.number,
  title: task.title,
})

const app = router(stringEnvelope)
const tag = 'Git providers'

export const FAILED = {
  401: { description: 'No token that a provider accepts, or no valid key' },
  502: { description: 'The providers failed' },
  504: { description: 'The providers did not answer in time' },
}

/** Providers return no longer pages. */
const MAX_PER_PAGE = 100

endpoint(
  app,
  {
    method: 'get',
    path: '/api/user/installations',
    scope: 'conversations',
    limit: 'reads',
    bodyLimit: 'standard',
    tag,
    summary: 'App installations of GitHub, workspaces of Bitbucket',
    example: { reply: ['12345'] },
    query: z.object({ provider: ProviderType }),
    replies: {
      200: { description: 'Their ids or names', schema: z.array(z.string()) },
      400: { description: 'A provider that has none' },
      ...FAILED,
    },
  },
  async (c, { query: { provider } }) => {
    if (provider !== 'github' && provider !== 'bitbucket') {
      throw new AppError('bad_request', `Provider ${provider} doesn't support installations`)
    }
    const accounts = await demandAccounts(c, TOKEN_REQUIRED, provider)
    const [answer] = demandAnswers(await askAll(c, accounts, (asked) => asked.installations()))
    return c.json(answer?.value ?? [])
  },
)

endpoint(
  app,
  {
    method: 'get',
    path: '/api/user/repositories',
    scope: 'conversations',
    limit: 'reads',
    bodyLimit: 'standard',
    tag,
    summary: 'Repositories of the user: a page of one provider, or those of all',
    query: z.object({
      sort: z.string().default('pushed'),
      selected_provider: ProviderType.nullable().optional(),
      page: laxInt().nullable().optional(),
      per_page: laxInt().nullable().optional(),
      installation_id: z.string().max(255).nullable().optional(),
    }),
    replies: { 200: { description: 'Newest first', schema: z.array(Repository) }, ...FAILED },
  },
  async (c, { query }) => {
    const { selected_provider: selected = null, installation_id } = query
    const accounts = await demandAccounts(c, TOKEN_REQUIRED, selected)
    const sort = sortOf(query.sort)
    const installation = installation_id || null
    const page = pageOfQuery(query)
    if (selected !== null) {
      const listing = { sort, installation, page: page ?? FIRST_PAGE }
      const [answer] = demandAnswers(await askAll(c, accounts, (asked) => asked.repositories(listing)))
      return c.json((answer?.value ?? []).map(repositoryOnTheWire))
    }
    const asked = await askAll(c, accounts, (provider) =>
      // Installation ids of one provider are unknown to the others.
      provider.repositories({ sort, installation: null, page: null }),
    )
    const all = mergedBy(
      sort,
      demandAnswers(asked).map(({ value }) => value),
    )
    const shown = page === null ? all : pageOf(all, new URL(c.req.path, c.req.url).href, page)
    return c.json(shown.map(repositoryOnTheWire), 200, failedHeader(asked.failures))
  },
)

endpoint(
  app,
  {
    method: 'get',
    path: '/api/user/info',
    scope: 'conversations',
    limit: 'reads',
    bodyLimit: 'standard',
    tag,
    summary: 'Who the user is at the first provider that answers',
    replies: { 200: { description: 'The user', schema: User }, ...FAILED },
  },
  async (c) => {
    const accounts = await demandAccounts(c, TOKEN_REQUIRED)
    const { found, failures } = await askFirst(c, accounts, (provider) => provider.user())
    if (found === null) throw allFailed(failures, 'Need valid provider token')
    return c.json(userOnTheWire(found.value), 200, failedHeader(failures))
  },
)

endpoint(
  app,
  {
    method: 'get',
    path: '/api/user/search/repositories',
    scope: 'conversations',
    limit: 'reads',
    bodyLimit: 'standard',
    tag,
    summary: 'Find repositories by an address, as owner/name, or by words',
    query: z.object({
      query: z.string().max(500),
      per_page: laxInt().default(5),
      sort: z.string().default('stars'),
      order: z.string().default('desc'),
      selected_provider: ProviderType.nullable().optional(),
    }),
    replies: { 200: { description: 'What fits', schema: z.array(Repository) }, ...FAILED },
  },
  async (c, { query: { query, per_page, sort, order, selected_provider: selected = null } }) => {
    const accounts = await demandAccounts(c, 'Git provider token required.', selected)
    const perPage = Math.min(Math.max(per_page, 1), MAX_PER_PAGE)
    const search = { query, perPage, sort, order: order === 'asc' ? 'asc' : 'desc' } as const
    const asked = await askAll(c, accounts, (provider) => provider.search(search))
    const found = demandAnswers(asked).flatMap(({ value }) => value)
    const shown = selected === null ? found : firstOfName(found)
    return c.json(shown.map(repositoryOnTheWire), 200, failedHeader(asked.failures))
  },
)

endpoint(
  app,
  {
    method: 'get',
    path: '/api/user/suggested-tasks',
    scope: 'conversations',
    limit: 'reads',
    bodyLimit: 'standard',
    tag,
    summary: 'Requests of the user that are in trouble, and open issues assigned to them',
    replies: { 200: { description: 'The tasks', schema: z.array(SuggestedTask) }, ...FAILED },
  },
  async (c) => {
    const accounts: Account[] = await demandAccounts(c, 'No providers set.')
    const { answers, failures } = await askAll(c, accounts, async (provider) => provider.suggestedTasks?.() ?? null)
    // A provider that was not asked has not answered either: an outage of the others must not look like an empty list.
    const told = answers.flatMap(({ provider, value }) => (value === null ? [] : [{ provider, value }]))
    const tasks = demandAnswers({ answers: told, failures }).flatMap(({ value }) => value)
    return c.json(tasks.map(taskOnTheWire), 200, failedHeader(failures))
  },
)

const SORTS: ReadonlySet<string> = new Set(['pushed', 'updated', 'created', 'full_name'])

/** An unknown order is treated as the default, because the parameter accepts any text. */
const sortOf = (text: string): Sort => (SORTS.has(text) ? (text as Sort) : 'pushed')

const FIRST_PAGE: Page = { page: 1, perPage: 30 }

type PageQuery = { page?: number | null | undefined; per_page?: number | null | undefined }

/** The requested page, or null if neither parameter is present. */
function pageOfQuery({ page = null, per_page = null }: PageQuery): Page | null {
  for (const [name, value] of Object.entries({ page, per_page })) {
    if (value !== null && value < 1) throw valueError(['query', name], 'has to be 1 or more', value)
  }
  if (page === null && per_page === null) return null
  return {
    page: Math.min(page ?? 1, MAX_LISTED * 1000),
    perPage: Math.min(per_page ?? FIRST_PAGE.perPage, MAX_PER_PAGE),
  }
}

function firstOfName(found: readonly Found[]): Found[] {
  const seen = new Set<string>()
  return found.filter(({ fullName }) => !seen.has(fullName) && seen.add(fullName))
}

export { app as user }
