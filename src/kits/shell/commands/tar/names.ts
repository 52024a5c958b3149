// The names in an archive: exclusion, selection and transformation.

import { PosixRegex, SED_BASIC, SED_EXTENDED } from '../../posix-regex/posix-regex.ts'
import { RegexError } from '../../posix-regex/syntax.ts'
import { globSource } from '../globs.ts'
import { replacementOf, replacementText } from '../sed/replacement.ts'
import type { Operand, TarOptions } from './options.ts'

const VERSION_CONTROL = `CVS RCS SCCS .git .gitignore .gitmodules .gitattributes .cvsignore .svn .arch-ids {arch}
  =RELEASE-ID =meta-update =update .bzr .bzrignore .bzrtags .hg .hgignore .hgtags _darcs`.split(/\s+/)

/** `patterns` are those of files (`-X`). A star matches slashes, and everything below a match is excluded too. */
export function exclusion(options: TarOptions, patterns: readonly string[]): (name: string) => boolean {
  const isAnchored = lastOf(options, 'anchored', 'no-anchored')
  const all = [...options.values('exclude'), ...patterns]
  const front = isAnchored ? '^' : '^(?:.*/)?'
  const own = all.map(
    (glob) => new RegExp(`${front}(?:${globSource(glob.replace(/(?<=.)\/$/, ''), false)})(?:/|$)`, 'su'),
  )
  const names = options.has('exclude-vcs') ? new Set(VERSION_CONTROL) : null
  return (name) =>
    own.some((pattern) => pattern.test(name)) || (names !== null && name.split('/').some((part) => names.has(part)))
}

function lastOf({ read }: TarOptions, yes: string, no: string): boolean {
  return read.given.findLast(({ name }) => name === yes || name === no)?.name === yes
}

/** The operands that select entries, and whether each has matched. */
export class EntryOperands {
  readonly #operands: readonly (Operand & { pattern: RegExp | null; isFound: boolean })[]

  constructor(options: TarOptions) {
    const hasWildcards = lastOf(options, 'wildcards', 'no-wildcards')
    this.#operands = options.operands.map((operand) => {
      const plain = operand.name.replace(/(?<=.)\/+$/, '')
      const pattern = hasWildcards ? new RegExp(`^(?:${globSource(plain, false)})(?:/|$)`, 'su') : null
      return { ...operand, pattern, isFound: false }
    })
  }

  get areAll(): boolean {
    return this.#operands.length === 0
  }

  /** The operand that selects the entry; null if none does. */
  by(name: string): Operand | null {
    const fits = this.#operands.filter((operand) => isMeant(name, operand))
    for (const operand of fits) operand.isFound = true
    return fits[0] ?? null
  }

  /** The messages about operands without a match. */
  problems(): string {
    const lines = this.#operands
      .filter(({ isFound }) => !isFound)
      .map(({ name, pattern }) => {
        const looksLikePattern = pattern === null && /[*?[]/.test(name)
        return `${looksLikePattern ? USE_WILDCARDS : ''}tar: ${name}: Not found in archive\n`
      })
    return lines.join('')
  }
}

const USE_WILDCARDS = `tar: Pattern matching characters used in file names
tar: Use --wildcards to enable pattern matching, or --no-wildcards to suppress this warning
`

function isMeant(name: string, { name: operand, pattern }: Operand & { pattern: RegExp | null }): boolean {
  const plain = name.replace(/(?<=.)\/+$/, '')
  if (pattern !== null) return pattern.test(plain)
  const wanted = operand.replace(/(?<=.)\/+$/, '')
  return plain === wanted || plain.startsWith(`${wanted}/`)
}

export type Use = 'r' | 's' | 'h'
export type Transform = (name: string, use: Use) => string

/** Throws a `RangeError` for an invalid expression. */
export function transformation(options: TarOptions): Transform {
  const steps = options.values('transform').flatMap(stepsOf)
  // The slash after a folder is not part of its name.
  return (name, use) => {
    const slash = name.length > 1 && name.endsWith('/') ? '/' : ''
    const plain = name.slice(0, name.length - slash.length)
    const changed = steps.reduce((text, step) => (step.uses.has(use) ? replaced(text, step) : text), plain)
    return changed === '' ? '' : changed + slash
  }
}

interface Step {
  regex: PosixRegex
  replacement: ReturnType<typeof replacementOf>
  isGlobal: boolean
  number: number
  uses: ReadonlySet<Use>
}

const INVALID = 'Invalid transform expression'

/** `s/regex/replacement/flags`, several with semicolons between them. */
function stepsOf(text: string): Step[] {
  const steps: Step[] = []
  for (let at = 0; at < text.length; ) {
    const mark = text.charAt(at + 1)
    if (text.charAt(at) !== 's' || mark === '' || mark === '\\') throw new RangeError(INVALID)
    const regex = partUntil(text, at + 2, mark)
    const replacement = partUntil(text, regex.end, mark)
    const flags = /^[gixrRsShH\d]*/.exec(text.slice(replacement.end))?.[0] ?? ''
    at = replacement.end + flags.length
    if (at < text.length && text.charAt(at) !== ';') throw new RangeError(INVALID)
    at++
    steps.push(stepOf(regex.part, replacement.part, flags))
  }
  return steps
}

function partUntil(text: string, from: number, mark: string): { part: string; end: number } {
  let part = ''
  for (let at = from; at < text.length; at++) {
    const char = text.charAt(at)
    if (char === mark) return { part, end: at + 1 }
    if (char === '\\' && at + 1 < text.length) {
      const next = text.charAt(++at)
      part += next === mark ? next : char + next
    } else part += char
  }
  throw new RangeError(INVALID)
}

function stepOf(regex: string, replacement: string, flags: string): Step {
  const uses = new Set<Use>(['r', 's', 'h'])
  for (const letter of flags.replace(/[^RSHrsh]/g, '')) {
    const use = letter.toLowerCase() as Use
    if (letter === use) uses.add(use)
    else uses.delete(use)
  }
  try {
    return {
      regex: new PosixRegex(regex, flags.includes('x') ? SED_EXTENDED : SED_BASIC, { ignoreCase: flags.includes('i') }),
      replacement: replacementOf(replacement),
      isGlobal: flags.includes('g'),
      number: Number(/\d+/.exec(flags)?.[0] ?? 1),
      uses,
    }
  } catch (error) {
    if (error instanceof RegexError) throw new RangeError(`${INVALID}: ${error.message}`)
    throw error
  }
}

function replaced(text: string, { regex, replacement, isGlobal, number }: Step): string {
  let [result, copied, count] = ['', 0, 0]
  for (let at = 0; at <= text.length && regex.find(text, at); ) {
    const [start = 0, end = 0] = regex.slots
    if (++count >= number) {
      result += text.slice(copied, start) + replacementText(replacement, text, regex.slots)
      copied = end
      if (!isGlobal) break
    }
    at = end > start ? end : end + 1
  }
  return result + text.slice(copied)
}

/** Without this many leading folders; null if nothing is left. */
export function stripped(name: string, count: number): string | null {
  if (count === 0) return name
  const isFolder = name.endsWith('/')
  const parts = name.split('/').filter((part) => part !== '')
  const rest = parts.slice(count).join('/')
  return rest === '' ? null : isFolder ? `${rest}/` : rest
}

/** The prefix that must be removed from a name: a slash, and everything up to the last `..`. */
export function unsafePrefix(name: string): string {
  const climbs = /^(?:.*\/)?\.\.(?:\/+|$)/s.exec(name)?.[0] ?? ''
  const slashes = /^\/*/.exec(name.slice(climbs.length))?.[0] ?? ''
  return climbs + slashes
}
