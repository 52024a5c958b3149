// What a listing leaves out: what every tool leaves out, and what the `.gitignore` files say.

import ignore, { type Ignore } from 'ignore'
import { type FileSystem, isFileError } from './file-system.ts'
import { WORKSPACE_ROOT } from './paths.ts'

/** Left out wherever they stand. */
const INTERNAL_FOLDERS: ReadonlySet<string> = new Set(['.git', 'node_modules', '__pycache__', 'lost+found', '.vscode'])
const INTERNAL_FILES: ReadonlySet<string> = new Set(['.DS_Store'])

/** Says for a path below the folder, with a trailing slash if it is a directory, whether it is left out. */
export type Ignores = (name: string) => boolean

/** More than this is not a list that someone wrote. */
const MAX_RULES_BYTES = 256 * 1024
/** A rule becomes a regular expression whose worst time grows with every star in it. */
const MAX_STARS_IN_RULE = 16

export function isInternal(name: string): boolean {
  return name.endsWith('/') ? INTERNAL_FOLDERS.has(name.slice(0, -1)) : INTERNAL_FILES.has(name)
}

/**
 * The rules that hold in a folder of the workspace (a path without links): those of its own `.gitignore` and of each
 * one above it. As in git, the nearest file that says anything about a path decides.
 */
export async function gitignoreFor(fs: FileSystem, folder: string): Promise<Ignores> {
  const levels: { rules: Ignore; below: string }[] = []
  const names = folder
    .slice(WORKSPACE_ROOT.length)
    .split('/')
    .filter((name) => name !== '')
  for (let depth = names.length; depth >= 0; depth--) {
    const rules = await ignoreRules(fs, `${[WORKSPACE_ROOT, ...names.slice(0, depth)].join('/')}/.gitignore`)
    const below = names
      .slice(depth)
      .map((name) => `${name}/`)
      .join('')
    if (rules) levels.push({ rules, below })
  }
  return (name) => {
    for (const { rules, below } of levels) {
      const verdict = rules.test(below + name)
      if (verdict.ignored || verdict.unignored) return verdict.ignored
    }
    return false
  }
}

/** The rules in a file; null when there is no such file or it cannot be read: then it filters nothing. */
export async function ignoreRules(fs: FileSystem, path: string): Promise<Ignore | null> {
  try {
    const { kind, sizeBytes } = fs.stat(path)
    if (kind !== 'file' || sizeBytes > MAX_RULES_BYTES) return null
    const lines = new TextDecoder().decode(await fs.read(path)).split(/\r?\n/)
    return ignore({ ignorecase: false }).add(lines.filter(isHarmless))
  } catch (error) {
    if (isFileError(error)) return null
    throw error
  }
}

function isHarmless(rule: string): boolean {
  return rule.length <= 1024 && (rule.match(/\*+/g)?.length ?? 0) <= MAX_STARS_IN_RULE
}
