// A loopback GitLab: REST version 4 with Link headers, GraphQL.

import { REQUESTS } from '../fixtures/git-providers/gitlab-requests.ts'
import {
  day,
  filesBelow,
  filesOf,
  fixture,
  linkHeader,
  type ProviderRequest,
  type Reply,
  sliceOf,
} from './provider-files.ts'

const shapes = fixture('gitlab')

const projects = Array.from({ length: 45 }, (_, index) => ({
  ...shapes.project,
  id: index,
  path_with_namespace: `example/platform/project-${index}`,
  visibility: index === 1 ? 'public' : 'private',
  last_activity_at: day(250 - index),
}))

const notFound: Reply = { status: 404, body: { message: '404 Project Not Found' } }

export function gitlabData(asked: ProviderRequest): Reply {
  const { path, query } = asked
  if (path === '/graphql') return { status: 200, body: REQUESTS }
  if (path === '/user') return { status: 200, body: shapes.user }
  if (path === '/issues') return { status: 200, body: [shapes.issue] }
  if (path === '/projects') return query.has('search') ? found(query) : paged(asked, projects)
  const [, encoded = '', rest = ''] = /^\/projects\/([^/]+)\/?(.*)$/.exec(path) ?? []
  const project = decodeURIComponent(encoded)
  if (filesOf(project) === null) return notFound
  if (rest === '')
    return { status: 200, body: { ...shapes.project, path_with_namespace: project, visibility: 'public' } }
  if (rest === 'repository/branches') {
    const names = ['develop', 'master']
    return paged(
      asked,
      names.map((name) => ({ ...shapes.branch, name })),
    )
  }
  if (rest === 'repository/tree') return tree(asked, project)
  const file = decodeURIComponent(rest.replace('repository/files/', ''))
  const text = filesOf(project)?.[file]
  if (text === undefined || query.get('ref') !== 'HEAD') return { status: 404, body: { message: '404 File Not Found' } }
  return { status: 200, body: { ...shapes.file, file_path: file, content: Buffer.from(text).toString('base64') } }
}

function paged(asked: ProviderRequest, all: readonly unknown[]): Reply {
  const slice = sliceOf(all, asked.query, 'per_page')
  return { status: 200, body: slice.items, headers: linkHeader(asked, slice) }
}

function tree(asked: ProviderRequest, project: string): Reply {
  const paths = filesBelow(project, asked.query.get('path') ?? '')
  if (paths.length === 0) return { status: 404, body: { message: '404 invalid revision or path Not Found' } }
  return paged(
    asked,
    paths.map((path) => ({ ...shapes.entry, path })),
  )
}

/** One project for the words, and one that only has them in the namespace. */
function found(query: URLSearchParams): Reply {
  const words = query.get('search') ?? ''
  const told = `membership=${query.get('membership')}`
  const paths = [words.includes('/') ? `${words}-kit` : `example/${words}`, `${words}/other`]
  return {
    status: 200,
    body: paths.map((path) => ({ ...shapes.project, path_with_namespace: path, description: told })),
  }
}
