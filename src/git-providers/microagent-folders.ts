import { fromBase64 } from '../lib/crypto.ts'

/** The product's hidden directories, its own first. */
type HiddenDirectories = readonly string[]

const FOLDER = 'microagents'

/**
 * Where a repository keeps its microagents: at its root when it is one of the special configuration repositories, which are
 * named after a product (`.product` or `product-config`), else in the hidden directory of each product.
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

/** Larger than any microagent that is read anywhere. */
export const MAX_TEXT_BYTES = 256 * 1024

/** The text behind base64 that may be broken into lines; null when it is not UTF-8 or too large. */
export function textOf(base64: string): string | null {
  const bytes = fromBase64(base64.replace(/\s+/g, ''))
  if (bytes === null || bytes.byteLength > MAX_TEXT_BYTES) return null
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
  } catch {
    // No text.
    return null
  }
}
