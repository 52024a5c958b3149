import { fromBase64 } from '../lib/crypto.ts'

// The ways in which users write a repository.

const PART = /^[\p{L}\p{N}_.~+-]+$/u

/** `owner/name`, or more levels with groups; nothing that could lead a path elsewhere. */
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

/**
 * `domain/owner/name` names a repository of that host. Any other name is used as a whole, even with a dot in its first
 * group.
 */
export function withoutDomain(name: string, host: string): { name: string; isNamed: boolean } {
  const [first = '', ...rest] = name.split('/')
  const isNamed = rest.length >= 2 && first.toLowerCase() === host
  return { name: isNamed ? rest.join('/') : name, isNamed }
}

export type SearchTarget =
  | { kind: 'exact'; repository: string }
  /** An address on another host. */
  | { kind: 'elsewhere' }
  | { kind: 'owned'; owner: string; name: string }
  | { kind: 'text'; text: string }

/** The meaning of a search for the provider with this host. */
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

/** The repository's path before its pages, such as `/tree/main` and `/-/issues`. */
function repositoryOf(pathname: string): string {
  const path = pathname
    .replace(/^\/+|\/+$/g, '')
    .replace(/\/(-|tree|blob|src|pull|pulls|issues|commits?|branches)(\/.*)?$/, '')
  return path.replace(/\.git$/, '')
}

/** The product's hidden directories, its own first. */
type HiddenDirectories = readonly string[]

const FOLDER = 'microagents'

/**
 * Where a repository keeps its microagents: at its root if it is one of the special configuration repositories, which
 * are named after a product (`.product` or `product-config`), else in the hidden directory of each product.
 */
export function microagentFolders(repository: string, hidden: HiddenDirectories): string[] {
  const name = repository.slice(repository.lastIndexOf('/') + 1).toLowerCase()
  const isSpecial = hidden.some((directory) => name === directory || name === `${directory.slice(1)}-config`)
  return isSpecial ? [FOLDER] : hidden.map((directory) => `${directory}/${FOLDER}`)
}

export type ListedFile = { name: string; path: string }

/** The microagents among the files of a folder: `name` is the file's, without `.md`, and `key` its path in the folder. */
export function microagentsAmong(folder: string, paths: readonly string[]): (ListedFile & { key: string })[] {
  return paths.flatMap((path) => {
    const file = path.slice(path.lastIndexOf('/') + 1)
    if (!file.endsWith('.md') || file === 'README.md') return []
    const name = file.slice(0, -'.md'.length)
    return [{ name, path, key: path.slice(folder.length + 1) }]
  })
}

/** Larger than any microagent that is accepted. */
export const MAX_TEXT_BYTES = 256 * 1024

/** The text behind base64 that may be broken into lines; null when it is not UTF-8 or too large. */
export function textOf(base64: string): string | null {
  const bytes = fromBase64(base64.replace(/\s+/g, ''))
  if (bytes === null || bytes.byteLength > MAX_TEXT_BYTES) return null
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
  } catch {
    // Not text.
    return null
  }
}
