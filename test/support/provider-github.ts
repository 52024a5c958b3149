// A loopback GitHub: REST with Link headers, entity tags and quota headers, GraphQL with its errors.

import {
  day,
  entriesOf,
  filesOf,
  fixture,
  linkHeader,
  type ProviderRequest,
  type Reply,
  sliceOf,
} from './provider-files.ts'

const shapes = fixture('github')

const repositories = Array.from({ length: 250 }, (_, index) => ({
  ...shapes.repository,
  id: 1000 + index,
  name: `repo-${index}`,
  full_name: index % 2 === 0 ? `ann/repo-${index}` : `example/repo-${index}`,
  owner: { login: 'ann', type: index % 2 === 0 ? 'User' : 'Organization' },
  private: index === 0,
  pushed_at: day(250 - index),
}))

/** 130 branches; the names say in which order they were last committed to. */
const branchNames = ['main', 'old', ...Array.from({ length: 127 }, (_, index) => `topic-${index}`), 'undated']

const notFound: Reply = {
  status: 404,
  body: { message: 'Not Found', documentation_url: 'https://docs.github.com/rest' },
}

export function githubData(asked: ProviderRequest): Reply {
  const { path, query } = asked
  const decoded = decodeURIComponent(path)
  if (path === '/graphql') return graphql(asked)
  if (path === '/user') return { status: 200, body: shapes.user }
  if (path === '/user/installations')
    return { status: 200, body: { total_count: 1, installations: [shapes.installation] } }
  if (path === '/user/installations/25381/repositories') {
    return { status: 200, body: { total_count: 1, repositories: [shapes.repository] } }
  }
  if (path === '/user/repos') return paged(asked, repositories)
  if (path === '/search/repositories') return found(query)
  const [, repository = '', rest = ''] = /^\/repos\/([^/]+\/[^/]+)\/?(.*)$/.exec(decoded) ?? []
  if (filesOf(repository) === null) return notFound
  if (rest === '') return { status: 200, body: { ...shapes.repository, full_name: repository } }
  if (rest === 'branches') {
    return paged(
      asked,
      branchNames.map((name) => ({ ...shapes.branch, name, protected: name === 'main' })),
    )
  }
  return rest.startsWith('contents/') ? contents(repository, rest.slice('contents/'.length)) : notFound
}

function paged(asked: ProviderRequest, all: readonly unknown[]): Reply {
  const slice = sliceOf(all, asked.query, 'per_page')
  return { status: 200, body: slice.items, headers: linkHeader(asked, slice) }
}

/** The item repeats the question, so that a test can see how it was put. */
function found(query: URLSearchParams): Reply {
  const q = query.get('q') ?? ''
  if (q.includes('user:nobody')) {
    return { status: 422, body: { message: 'Validation Failed', errors: [{ resource: 'Search', code: 'invalid' }] } }
  }
  const item = { ...shapes.repository, full_name: `${q}|${query.get('sort')}|${query.get('order')}` }
  return { status: 200, body: { total_count: 2, incomplete_results: false, items: [item, item] } }
}

function contents(repository: string, path: string): Reply {
  const text = filesOf(repository)?.[path]
  if (text !== undefined) {
    // As the service does it, the base64 is broken into lines.
    const content = Buffer.from(text)
      .toString('base64')
      .replace(/(.{60})/g, '$1\n')
    return { status: 200, body: { ...shapes.entry, path, encoding: 'base64', content } }
  }
  const entries = entriesOf(repository, path)
  if (entries === null) return notFound
  return {
    status: 200,
    body: entries.map((entry) => ({ ...shapes.entry, path: entry.path, type: entry.isFile ? 'file' : 'dir' })),
  }
}

function graphql({ body, request }: ProviderRequest): Reply {
  const { query, variables } = JSON.parse(body) as { query: string; variables: Record<string, string | null> }
  if (request.headers.authorization?.endsWith('-graphql-quota')) return { status: 200, body: shapes.graphqlRateLimit }
  if (query.includes('pulls: search')) return { status: 200, body: shapes.tasks }
  const start = Number(variables.after ?? 0)
  const nodes = branchNames.slice(start, start + 100).map((name, index) => ({
    name,
    target:
      name === 'undated' ? {} : { committedDate: day(name === 'main' ? 0 : name === 'old' ? 1 : 2 + start + index) },
  }))
  const end = start + nodes.length
  const pageInfo = { hasNextPage: end < branchNames.length, endCursor: String(end) }
  return { status: 200, body: { data: { repository: { refs: { nodes, pageInfo } } } } }
}
