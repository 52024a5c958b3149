import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** SHA-256 over the names and bytes of these files and of everything beneath these folders. */
export function fingerprint(paths: readonly string[]): string {
  const hash = createHash('sha256')
  for (const file of paths.flatMap(filesBeneath)) {
    const bytes = readFileSync(file)
    hash.update(`${file}\0${bytes.length}\0`).update(bytes)
  }
  return hash.digest('hex')
}

function filesBeneath(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path)
    .sort()
    .flatMap((name) => filesBeneath(join(path, name)))
}

/** A file that remembers which fingerprint a piece of work was done for. */
export function isDoneFor(stamp: string, print: string): boolean {
  return existsSync(stamp) && readFileSync(stamp, 'utf8').trim() === print
}

export function markDoneFor(stamp: string, print: string): void {
  mkdirSync(dirname(stamp), { recursive: true })
  writeFileSync(stamp, `${print}\n`)
}
