// The paths given to a command: relative to the current folder, folders for everything in them, with `*` and `?`, and
// with `:!` for exclusions.

import { resolvePath } from '../../workspace/paths.ts'
import { fatal } from './failure.ts'
import type { Repository } from './repository.ts'
import { wildcard } from './wildcards.ts'

interface Pattern {
  given: string
  /** From the top of the repository; `''` is everything. */
  path: string
  glob: RegExp | null
  isMatched: boolean
}

const MAX_PATTERN = 1024
/** Each may multiply the time of a match by the length of the path. */
const MAX_STARS = 6

export class Pathspec {
  readonly #wanted: Pattern[] = []
  readonly #unwanted: Pattern[] = []

  constructor(repo: Repository, cwd: string, given: readonly string[]) {
    for (const text of given) {
      const { words, rest } = magicOf(text)
      const pattern = patternOf(repo, words.has('top') ? repo.root : cwd, { given: text, text: rest, words })
      ;(words.has('exclude') ? this.#unwanted : this.#wanted).push(pattern)
    }
  }

  /** No paths were given: everything matches. */
  get isEmpty(): boolean {
    return this.#wanted.length === 0 && this.#unwanted.length === 0
  }

  matches(path: string): boolean {
    let isWanted = this.#wanted.length === 0
    for (const pattern of this.#wanted) {
      if (!isMatch(pattern, path)) continue
      pattern.isMatched = true
      isWanted = true
    }
    return isWanted && !this.#unwanted.some((pattern) => isMatch(pattern, path))
  }

  /** Whether a path below the folder, whose name ends with a slash, can match. */
  mayHold(folder: string): boolean {
    if (this.#wanted.length === 0) return true
    return this.#wanted.some(
      ({ path, glob }) =>
        glob !== null || path === '' || folder.startsWith(`${path}/`) || `${path}/`.startsWith(folder),
    )
  }

  /** The given paths that matched none of the checked paths. */
  unmatched(): string[] {
    return this.#wanted.filter(({ isMatched, path }) => !isMatched && path !== '').map(({ given }) => given)
  }

  /** Whether one of the paths is exactly this one. */
  names(path: string): boolean {
    return this.#wanted.some((pattern) => pattern.path === path)
  }
}

const MAGIC: Record<string, string> = { '!': 'exclude', '^': 'exclude', '/': 'top' }
const KNOWN_MAGIC: ReadonlySet<string> = new Set(['exclude', 'top', 'glob', 'literal', 'icase'])

/** The modifiers `:(…)` or `:!` before a path. */
function magicOf(text: string): { words: Set<string>; rest: string } {
  const [, long, short = '', rest = text] = /^:(?:\(([^)]*)\)|([!^/]+):?)(.*)$/s.exec(text) ?? []
  const named = long === undefined ? [...short].map((sign) => MAGIC[sign] ?? sign) : long.split(',')
  const words = new Set(named.map((word) => word.trim()).filter((word) => word !== ''))
  for (const word of words) {
    if (!KNOWN_MAGIC.has(word)) throw fatal(`the pathspec magic '${word}' in '${text}' is not available here`)
  }
  if (words.has('glob') && words.has('literal')) throw fatal(`${text}: 'literal' and 'glob' are incompatible`)
  return { words, rest }
}

type GivenPattern = { given: string; text: string; words: ReadonlySet<string> }

function patternOf(repo: Repository, folder: string, { given, text, words }: GivenPattern): Pattern {
  const full = resolvePath(folder, text)
  const root = repo.root === '/' ? '' : repo.root
  if (full !== repo.root && !full.startsWith(`${root}/`)) {
    throw fatal(`${given}: '${given}' is outside repository at '${repo.root}'`)
  }
  const path = full === repo.root ? '' : full.slice(root.length + 1)
  if (words.has('literal')) return { given, path, glob: null, isMatched: false }
  const glob = words.has('glob') ? wildcard(`${path}`, { passesSlashes: false }) : globOf(path)
  if (!words.has('icase')) return { given, path, glob, isMatched: false }
  const source = glob?.source ?? `^${path.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')}(/.*)?$`
  return { given, path, glob: new RegExp(source, 'is'), isMatched: false }
}

function isMatch({ path, glob }: Pattern, asked: string): boolean {
  if (path === '' || asked === path || asked === `${path}/` || asked.startsWith(`${path}/`)) return true
  return glob?.test(asked) ?? false
}

/** By default, like in git, a star matches slashes. */
function globOf(path: string): RegExp | null {
  if (!/[*?[]/.test(path)) return null
  if (path.length > MAX_PATTERN || (path.match(/\*+/g)?.length ?? 0) > MAX_STARS)
    throw fatal(`the pathspec '${path.slice(0, 80)}' has more stars or letters than can be matched here`)
  let source = ''
  for (let i = 0; i < path.length; i++) {
    const char = path[i] ?? ''
    const set = char === '[' ? /^\[(!|\^)?(\]?[^\]]*)\]/.exec(path.slice(i)) : null
    if (set) {
      source += `[${set[1] ? '^' : ''}${(set[2] ?? '').replace(/[\\\]]/g, '\\$&')}]`
      i += set[0].length - 1
    } else if (char === '*') {
      while (path[i + 1] === '*') i++
      source += '.*'
    } else {
      source += char === '?' ? '.' : char.replace(/[.+^${}()|[\]\\/]/g, '\\$&')
    }
  }
  try {
    return new RegExp(`^${source}(/.*)?$`, 'su')
  } catch {
    // An invalid set is matched literally.
    return null
  }
}

/** The path relative to the current folder. */
export function relativeTo(repo: Repository, cwd: string, path: string): string {
  const root = repo.root === '/' ? '' : repo.root
  const from = cwd === repo.root || !cwd.startsWith(`${root}/`) ? [] : cwd.slice(root.length + 1).split('/')
  const to = path.split('/')
  let same = 0
  while (same < from.length && same < to.length - 1 && from[same] === to[same]) same++
  const shown = [...from.slice(same).map(() => '..'), ...to.slice(same)].join('/')
  return shown === '' ? './' : shown
}
