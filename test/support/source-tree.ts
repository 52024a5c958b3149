// The source tree for the structure tests: its files, and the imports of each.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

export const ROOT = normalize(join(import.meta.dirname, '..', '..'))

const NOT_OURS = new Set(['node_modules', 'dist', '.git', '.wrangler', 'demo-output', 'coverage'])

/** The paths of all files beneath these folders (or files), relative to the root, sorted. */
export function filesIn(...paths: readonly string[]): string[] {
  return paths.flatMap((path) => beneath(path)).sort()
}

function beneath(path: string): string[] {
  const full = join(ROOT, path)
  if (!existsSync(full)) return []
  const entries = readdirSync(full, { withFileTypes: true }).filter(({ name }) => !NOT_OURS.has(name))
  return entries.flatMap((entry) => {
    const child = normalize(join(path, entry.name))
    return entry.isDirectory() ? beneath(child) : [child]
  })
}

export function textOf(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

export type Import = {
  readonly from: string
  /** A path relative to the root for a file of ours, else the package's name as written. */
  readonly target: string
  readonly isOurs: boolean
  readonly isType: boolean
  /** By `import()`, when it is needed. */
  readonly isLazy: boolean
}

const STATEMENT = /^[ \t]*(?:import|export)\s+(type\s+)?(?:[\w$*{}\s,]+?\s+from\s+)?['"]([^'"\n]+)['"]/gm
const DYNAMIC = /(\btypeof\s+)?\bimport\(\s*['"]([^'"\n]+)['"]\s*\)/g

/** Every import and re-export of a file, dynamic ones included. */
export function importsOf(path: string): Import[] {
  const text = textOf(path)
  const found = (specifier: string, kind: Pick<Import, 'isType' | 'isLazy'>): Import => {
    const isOurs = specifier.startsWith('.')
    return { from: path, target: isOurs ? normalize(join(dirname(path), specifier)) : specifier, isOurs, ...kind }
  }
  return [
    ...[...text.matchAll(STATEMENT)].map(([, type, specifier = '']) =>
      found(specifier, { isType: type !== undefined, isLazy: false }),
    ),
    ...[...text.matchAll(DYNAMIC)].map(([, type, specifier = '']) =>
      found(specifier, { isType: type !== undefined, isLazy: true }),
    ),
  ]
}
