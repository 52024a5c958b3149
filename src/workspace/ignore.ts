// Which entries a listing leaves out: names that all tools ignore, and the rules of `.gitignore` files.

import ignore from 'ignore'
import { type FileSystem, isFileError } from './file-system.ts'
import { WORKSPACE_ROOT } from './paths.ts'

/** Ignored in every folder. */
const INTERNAL_FOLDERS: ReadonlySet<string> = new Set(['.git', 'node_modules', '__pycache__', 'lost+found', '.vscode'])
const INTERNAL_FILES: ReadonlySet<string> = new Set(['.DS_Store'])

/** Whether a path below the folder, with a trailing slash if it is a directory, is ignored. */
export type Ignores = (name: string) => boolean

/** A longer file was not written by hand. */
const MAX_RULES_BYTES = 256 * 1024
/** A rule becomes a regular expression; its worst time is the depth of the path to the power of this number. */
const MAX_GLOBSTARS_IN_RULE = 3
const MAX_STARS_IN_RULE = 16
/** Rules are not applied deeper than this many folders. */
const MAX_DEPTH = 50

type Verdict = { ignored: boolean; unignored: boolean }

/** The rules of one file. */
export type Rules = { test(path: string): Verdict }

const NO_VERDICT: Verdict = { ignored: false, unignored: false }

export function isInternal(name: string): boolean {
  return name.endsWith('/') ? INTERNAL_FOLDERS.has(name.slice(0, -1)) : INTERNAL_FILES.has(name)
}

/**
 * The rules that apply in a folder of the workspace (a path without links): those of its own `.gitignore` and of each
 * folder above it. As in git, the nearest file with a matching rule decides.
 */
export async function gitignoreFor(fs: FileSystem, folder: string): Promise<Ignores> {
  const levels: { rules: Rules; below: string }[] = []
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

/** The rules of a file; null if there is no such file or it cannot be read: then nothing is ignored. */
export async function ignoreRules(fs: FileSystem, path: string): Promise<Rules | null> {
  const lines = await linesOf(fs, path)
  if (!lines) return null
  const rules = ignore({ ignorecase: false }).add(lines.filter(isHarmless))
  return { test: (path) => (path.split('/', MAX_DEPTH + 1).length > MAX_DEPTH ? NO_VERDICT : rules.test(path)) }
}

async function linesOf(fs: FileSystem, path: string): Promise<string[] | null> {
  try {
    const { kind, sizeBytes } = fs.stat(path)
    if (kind !== 'file' || sizeBytes > MAX_RULES_BYTES) return null
    return new TextDecoder().decode(await fs.read(path)).split(/\r?\n/)
  } catch (error) {
    if (isFileError(error)) return null
    throw error
  }
}

function isHarmless(rule: string): boolean {
  if (rule.length > 1024 || count(rule, /\*{2,}/g) > MAX_GLOBSTARS_IN_RULE) return false
  return count(rule, /\*+/g) <= MAX_STARS_IN_RULE
}

const count = (text: string, what: RegExp): number => text.match(what)?.length ?? 0

/** The last rule of a file that matches the path, and its line. */
export async function decidingRule(
  fs: FileSystem,
  file: string,
  path: string,
): Promise<{ line: number; rule: string } | null> {
  const lines = await linesOf(fs, file)
  for (let i = (lines?.length ?? 0) - 1; i >= 0; i--) {
    const rule = lines?.[i] ?? ''
    if (rule === '' || rule.startsWith('#') || !isHarmless(rule)) continue
    const matcher = ignore({ ignorecase: false }).add(rule.replace(/^!/, ''))
    if (path.split('/', MAX_DEPTH + 1).length <= MAX_DEPTH && matcher.test(path).ignored) return { line: i + 1, rule }
  }
  return null
}
