// A loopback Bitbucket Cloud: REST version 2.0, pages told in the body.

import { day, entriesOf, filesOf, fixture, type ProviderRequest, type Reply, sliceOf } from './provider-files.ts'

const shapes = fixture('bitbucket')
const HEAD = 'f6b7d5e0c8a94c1a'

const WORKSPACES: Readonly<Record<string, number>> = { example: 35, ann: 3 }

const notFound: Reply = { status: 404, body: { type: 'error', error: { message: 'Repository not found' } } }

export function bitbucketData(asked: ProviderRequest): Reply {
  const { path, query } = asked
  const decoded = decodeURIComponent(path)
  if (path === '/user') return { status: 200, body: shapes.user }
  if (path === '/workspaces') {
    return paged(
      asked,
      Object.keys(WORKSPACES).map((slug) => ({ ...shapes.workspace, slug })),
    )
  }
  const [, workspace = '', slug = '', rest = ''] = /^\/repositories\/([^/]+)\/?([^/]*)\/?(.*)$/.exec(decoded) ?? []
  const count = WORKSPACES[workspace]
  if (count === undefined) return notFound
  if (slug === '') return paged(asked, repositoriesIn(workspace, count, query.get('q')))
  const repository = `${workspace}/${slug}`
  if (filesOf(repository) === null) return notFound
  if (rest === '') return { status: 200, body: { ...shapes.repository, full_name: repository, is_private: false } }
  if (rest === 'refs/branches') return paged(asked, [{ ...shapes.branch, name: 'develop' }, shapes.branch])
  if (rest === 'refs/branches/release/main') return { status: 200, body: { ...shapes.branch, name: 'release/main' } }
  return rest.startsWith(`src/${HEAD}/`) ? source(asked, repository, rest.slice(`src/${HEAD}/`.length)) : notFound
}

function repositoriesIn(workspace: string, count: number, words: string | null): unknown[] {
  const all = Array.from({ length: count }, (_, index) => ({
    ...shapes.repository,
    uuid: `{${workspace}-${index}}`,
    full_name: `${workspace}/repo-${index}`,
    updated_on: day(200 - index * 2 - (workspace === 'ann' ? 1 : 0)),
  }))
  const [, wanted = ''] = /^name~"(.*)"$/.exec(words ?? '') ?? []
  return all.filter(({ full_name }) => full_name.slice(workspace.length + 1).includes(wanted))
}

function paged(asked: ProviderRequest, all: readonly unknown[]): Reply {
  const { items, page, perPage, last } = sliceOf(all, asked.query, 'pagelen')
  const next = page < last ? { next: `${asked.base}${asked.path}?page=${page + 1}` } : {}
  return { status: 200, body: { values: items, page, pagelen: perPage, size: all.length, ...next } }
}

function source(asked: ProviderRequest, repository: string, path: string): Reply {
  const text = filesOf(repository)?.[path]
  if (asked.query.get('format') === 'meta') {
    if (text !== undefined) return { status: 200, body: { ...shapes.entry, path, size: text.length } }
    return entriesOf(repository, path) === null ? notFound : { status: 200, body: { type: 'commit_directory', path } }
  }
  if (text !== undefined) return { status: 200, body: text, contentType: 'text/markdown' }
  const entries = entriesOf(repository, path.replace(/\/$/, ''))
  if (entries === null) return notFound
  return paged(
    asked,
    entries.map((entry) => ({
      ...shapes.entry,
      path: entry.path,
      type: entry.isFile ? 'commit_file' : 'commit_directory',
    })),
  )
}
