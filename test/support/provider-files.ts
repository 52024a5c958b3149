// The files of the repositories that the loopback providers have, and what all of their APIs share.

import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'

export type Reply = { status: number; body: unknown; headers?: Record<string, string>; contentType?: string }

/** A request for one provider: the path below its base. */
export type ProviderRequest = {
  path: string
  query: URLSearchParams
  request: IncomingMessage
  base: string
  body: string
}

export type Fixture = Record<string, Record<string, unknown>>

export const fixture = (name: string): Fixture =>
  JSON.parse(readFileSync(new URL(`../fixtures/git-providers/${name}.json`, import.meta.url), 'utf8')) as Fixture

// A literal of repositories that exist already.
const REFERENCE = '.openhands'

const DEPLOY = '---\nname: deploy\ntriggers:\n  - deploy\n---\nDeployments go through `make release`.\n'

/** By the last part of a repository's name. */
const REPOSITORIES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  tools: {
    '.cursorrules': 'Use tabs.\n',
    'README.md': '# Tools\n',
    '.bellwether/microagents/README.md': '# Microagents\n',
    '.bellwether/microagents/deploy.md': DEPLOY,
    '.bellwether/microagents/notes.txt': 'not one',
    '.bellwether/microagents/broken.md': '---\ntriggers: 5\n---\nx\n',
    '.bellwether/microagents/deep/inner.md': 'Always.\n',
    [`${REFERENCE}/microagents/deploy.md`]: 'The older one.\n',
    [`${REFERENCE}/microagents/legacy.md`]: 'Legacy.\n',
  },
  '.bellwether': { 'microagents/owner.md': 'For all.\n', '.bellwether/microagents/unseen.md': 'x\n' },
  'bellwether-config': { 'microagents/owner.md': 'For all.\n' },
  [REFERENCE]: { 'microagents/owner.md': 'For all.\n' },
  [`${REFERENCE.slice(1)}-config`]: { 'microagents/owner.md': 'For all.\n' },
  bare: {},
}

export const filesOf = (repository: string): Readonly<Record<string, string>> | null =>
  REPOSITORIES[repository.slice(repository.lastIndexOf('/') + 1)] ?? null

/** The direct entries of a folder, or null if there is no such folder. */
export function entriesOf(repository: string, folder: string): { path: string; isFile: boolean }[] | null {
  const prefix = folder === '' ? '' : `${folder}/`
  const inside = Object.keys(filesOf(repository) ?? {}).filter((path) => path.startsWith(prefix))
  if (inside.length === 0) return null
  const names = new Set(inside.map((path) => path.slice(prefix.length).split('/')[0]))
  return [...names].map((name) => ({ path: prefix + name, isFile: inside.includes(prefix + name) }))
}

/** Every file below a folder. */
export const filesBelow = (repository: string, folder: string): string[] =>
  Object.keys(filesOf(repository) ?? {}).filter((path) => path.startsWith(`${folder}/`))

export type Slice<T> = { items: T[]; page: number; perPage: number; last: number }

/** One page of a list, counted as all three providers count. */
export function sliceOf<T>(all: readonly T[], query: URLSearchParams, sizeName: string): Slice<T> {
  const page = Number(query.get('page') ?? 1)
  const perPage = Math.min(Number(query.get(sizeName) ?? 30), 100)
  const items = all.slice((page - 1) * perPage, page * perPage)
  return { items, page, perPage, last: Math.max(1, Math.ceil(all.length / perPage)) }
}

/** The `Link` header of a page, as GitHub and GitLab write it. */
export function linkHeader(
  { path, query, base }: ProviderRequest,
  { page, last }: Slice<unknown>,
): Record<string, string> {
  const to = (target: number, relation: string) => {
    const parameters = new URLSearchParams(query)
    parameters.set('page', String(target))
    return `<${base}${path}?${parameters}>; rel="${relation}"`
  }
  const links = [
    ...(page > 1 ? [to(page - 1, 'prev')] : []),
    ...(page < last ? [to(page + 1, 'next'), to(last, 'last')] : []),
  ]
  return links.length === 0 ? {} : { link: links.join(', ') }
}

export const day = (number: number): string => new Date(Date.UTC(2025, 0, 1) + number * 86_400_000).toISOString()
