// The ways in which people write a repository.

const PART = /^[\p{L}\p{N}_.~+-]+$/u

/** `owner/name`, or deeper where there are groups; nothing that could lead a path elsewhere. */
export function isRepositoryName(text: string): boolean {
  const parts = text.split('/')
  return text.length <= 500 && parts.length >= 2 && parts.every((part) => PART.test(part) && !/^\.{1,2}$/.test(part))
}

/** A path of a file or folder inside a repository. */
export function isFilePath(path: string): boolean {
  const parts = path.split('/')
  return path.length <= 1024 && !/[\p{Cc}\\]/u.test(path) && parts.every((part) => !/^\.{0,2}$/.test(part))
}

/** The path with its parts encoded, the slashes between them kept. */
export const encodedPath = (path: string): string => path.split('/').map(encodeURIComponent).join('/')

/** `domain/owner/name` names a repository of that host. Any other name, also one with a dot in its first group, is whole. */
export function withoutDomain(name: string, host: string): { name: string; isNamed: boolean } {
  const [first = '', ...rest] = name.split('/')
  const isNamed = rest.length >= 2 && first.toLowerCase() === host
  return { name: isNamed ? rest.join('/') : name, isNamed }
}

export type SearchTarget =
  | { kind: 'exact'; repository: string }
  /** An address of another host. */
  | { kind: 'elsewhere' }
  | { kind: 'owned'; owner: string; name: string }
  | { kind: 'text'; text: string }

/** What a search means to the provider that has this host. */
export function readSearch(query: string, host: string): SearchTarget {
  const text = query.trim()
  if (/^https?:\/\//i.test(text)) {
    const address = URL.canParse(text) ? new URL(text) : null
    if (address === null || address.host.toLowerCase() !== host) return { kind: 'elsewhere' }
    const repository = repositoryOf(address.pathname)
    return isRepositoryName(repository) ? { kind: 'exact', repository } : { kind: 'elsewhere' }
  }
  const [, owner, name] = /^([^/\s]+(?:\/[^/\s]+)*)\/([^/\s]+)$/.exec(text) ?? []
  return owner === undefined || name === undefined ? { kind: 'text', text } : { kind: 'owned', owner, name }
}

/** What stands before the pages of a repository, such as `/tree/main` and `/-/issues`. */
function repositoryOf(pathname: string): string {
  const path = pathname
    .replace(/^\/+|\/+$/g, '')
    .replace(/\/(-|tree|blob|src|pull|pulls|issues|commits?|branches)(\/.*)?$/, '')
  return path.replace(/\.git$/, '')
}
