import { lstatAt } from '../../../workspace/stat.ts'
import { parseMoment } from '../dates.ts'
import { fatal, GitFailure } from '../failure.ts'
import { mergeBases } from '../history.ts'
import type { Invocation } from '../invocation.ts'
import { aboutPlace, pathInGitDir } from '../rev-parse-place.ts'
import {
  abbreviate,
  fullRefName,
  parentShorthand,
  previousBranch,
  revision,
  shortRefName,
  unknownRevision,
  upstreamOf,
} from '../revisions.ts'
import { wildcard } from '../wildcards.ts'
import { zoneIn } from '../zone-offset.ts'
import { refPattern } from './log.ts'

/** Each word has its own output, so they are processed one after another. */
export function revParse(git: Invocation, args: string[]): Promise<number> {
  if (args[0] === '--sq-quote') {
    git.line(
      args
        .slice(1)
        .map((word) => ` ${quoted(word)}`)
        .join(''),
    )
    return Promise.resolve(0)
  }
  if (args[0] === '--parseopt') throw fatal('git rev-parse --parseopt is not available here')
  return new RevParse(git, args).run()
}

const quoted = (word: string): string => `'${word.replace(/['!]/g, (sign) => `'\\${sign}'`)}'`

/** The object of a word, after `^` if it is excluded, and the original word. */
interface Named {
  oid: string
  name: string | null
  isOut: boolean
}

const DATES: Readonly<Record<string, string>> = {
  ...{ '--since': '--max-age', '--after': '--max-age' },
  ...{ '--before': '--min-age', '--until': '--min-age' },
}

/** Options for the commands that list revisions. */
const OF_LISTS =
  /^--(?:all|bisect|dense|header|ignore-missing|no-merges|min-parents|max-parents|objects|objects-edge|parents|pretty|show-all|sparse|topo-order|date-order|unpacked|remotes|branches|tags|max-count=.*|max-age=.*|min-age=.*|(?:branches|remotes|tags|min-parents|max-parents)=.*)$|^-(?:n|\d).*$/

const LISTS: Readonly<Record<string, string>> = {
  ...{ '--all': 'refs/', '--branches': 'refs/heads/', '--tags': 'refs/tags/', '--remotes': 'refs/remotes/' },
  '--glob': 'refs/',
}

/** Other unknown options are printed, because they may be for another command. */
const NOT_HERE = /^--(?:path-format|local-env-vars|shared-index-path|bisect|disambiguate)(?:=|$)/

class RevParse {
  readonly #git: Invocation
  readonly #args: readonly string[]
  /** The kinds of output. */
  readonly #shows = { flags: true, words: true, revisions: true, others: true }
  readonly #how = {
    ...{ short: null as number | null, shortName: null as null | 'strict' | 'loose', symbolic: false, fullName: false },
    ...{ verify: false, quiet: false, isOut: false, quotes: false },
  }
  #fallback: string | null = null
  #prefix: string | null = null
  /** The only revision so far with `--verify`. */
  #found: Named[] = []
  #excluded: string[] = []
  #hasFiles = false
  #isBehindDashes = false

  constructor(git: Invocation, args: readonly string[]) {
    this.#git = git
    this.#args = args
  }

  async run(): Promise<number> {
    this.#git.repo()
    const args = this.#args
    for (let at = 0; at < args.length; at++) {
      const arg = args[at] ?? ''
      if (this.#hasFiles || this.#isBehindDashes) await this.#takeFile(arg)
      else if (!arg.startsWith('-')) {
        if (!(await this.#takeWord(arg))) break
      } else at += await this.#takeOption(arg, args[at + 1])
    }
    if (!this.#how.verify) await this.#showDefault()
    else if (this.#found.length === 1) for (const named of this.#found) await this.#showRevision(named)
    else if (this.#found.length > 1 || !(await this.#showDefault())) throw this.#notSingle()
    return 0
  }

  #show(text: string): void {
    if (this.#how.quotes) this.#git.out(`${quoted(text)} `)
    else this.#git.line(text)
  }

  #notSingle(): GitFailure {
    return this.#how.quiet ? new GitFailure('', 1) : fatal('Needed a single revision')
  }

  /** Returns the number of following words that belong to the option. */
  async #takeOption(arg: string, next: string | undefined): Promise<number> {
    if (arg === '--') {
      this.#isBehindDashes = true
      if (this.#shows.flags || this.#shows.revisions) await this.#takeFile('--')
      return 0
    }
    if (arg === '-n') {
      if (next === undefined) throw fatal('-n requires an argument')
      if (this.#shows.flags && this.#shows.revisions) for (const word of [arg, next]) this.#show(word)
      return 1
    }
    const value = NEEDS_VALUE[arg]
    if (value !== undefined) {
      if (next === undefined) throw fatal(value)
      this.#takeValue(arg, next)
      return 1
    }
    if (this.#setHow(arg) || (await this.#takeLists(arg)) || this.#takeDate(arg)) return 0
    if (NOT_HERE.test(arg)) throw new GitFailure(`git rev-parse: option '${arg}' is not available here`, 129)
    const place = aboutPlace(this.#git, arg)
    if (place !== null) {
      if (place !== undefined) this.#git.line(place)
      return 0
    }
    const isShown = this.#shows.flags && (OF_LISTS.test(arg) ? this.#shows.revisions : this.#shows.others)
    if (isShown) this.#show(arg)
    if (isShown && this.#how.verify) throw this.#notSingle()
    return 0
  }

  #takeValue(option: string, value: string): void {
    if (option === '--git-path') this.#git.line(pathInGitDir(this.#git, value))
    else if (option === '--default') this.#fallback = value
    else if (option === '--prefix') this.#prefix = value
    else throw fatal(`git rev-parse ${option} is not available here`)
  }

  #setHow(arg: string): boolean {
    const [how, shows] = [this.#how, this.#shows]
    const short = /^--short(?:=(.*))?$/.exec(arg)
    const [, mode] = /^--abbrev-ref(?:=(.*))?$/.exec(arg) ?? []
    if (short) {
      Object.assign(how, { short: Number.parseInt(short[1] ?? '', 10) || 0 })
      this.#verifies()
      if (short[1] !== undefined) how.short = Math.min(40, Math.max(4, how.short ?? 0))
    } else if (arg.startsWith('--abbrev-ref') && /^(=|$)/.test(arg.slice(12))) {
      if (mode !== undefined && mode !== 'strict' && mode !== 'loose')
        throw fatal(`unknown mode for --abbrev-ref: ${mode}`)
      how.shortName = mode ?? 'strict'
    } else if (arg === '--symbolic') Object.assign(how, { symbolic: true, fullName: false })
    else if (arg === '--symbolic-full-name') Object.assign(how, { symbolic: true, fullName: true })
    else if (arg === '--verify') this.#verifies()
    else if (arg === '-q' || arg === '--quiet') how.quiet = true
    else if (arg === '--sq') how.quotes = true
    else if (arg === '--not') how.isOut = !how.isOut
    else if (arg === '--revs-only') shows.others = false
    else if (arg === '--no-revs') shows.revisions = false
    else if (arg === '--flags') shows.words = false
    else if (arg === '--no-flags') shows.flags = false
    else return false
    return true
  }

  /** Exactly one revision is allowed. */
  #verifies(): void {
    this.#how.verify = true
    Object.assign(this.#shows, { flags: false, others: false })
  }

  async #takeLists(arg: string): Promise<boolean> {
    const [option = '', pattern] = arg.split(/=(.*)/s)
    if (option === '--exclude' && pattern !== undefined) {
      this.#excluded.push(pattern)
      return true
    }
    const prefix = LISTS[option]
    if (prefix === undefined || (pattern === undefined ? option === '--glob' : option === '--all')) return false
    const isWanted = refPattern(prefix, pattern ?? '')
    const left = this.#excluded.map((text) =>
      wildcard(option === '--all' || option === '--glob' ? text : prefix + text),
    )
    this.#excluded = []
    for (const [ref, oid] of await this.#git.repo().refs.list(prefix))
      if (isWanted(ref) && !left.some((regex) => regex.test(ref)))
        await this.#showRevision({
          oid,
          name: option !== '--glob' && option !== '--all' ? ref.slice(prefix.length) : ref,
          isOut: false,
        })
    return true
  }

  #takeDate(arg: string): boolean {
    const [option = '', text] = arg.split(/=(.*)/s)
    const shown = DATES[option]
    if (shown === undefined || text === undefined) return false
    if (this.#shows.revisions && this.#shows.flags) this.#show(`${shown}=${parseMoment(text, zoneIn(this.#git.env))}`)
    return true
  }

  /** Whether the words after it are processed. */
  async #takeWord(word: string): Promise<boolean> {
    const several = (await this.#difference(word)) ?? (await this.#parents(word))
    if (several) {
      for (const named of several) await this.#showRevision(named)
      return true
    }
    const isOut = word.startsWith('^')
    const name = isOut ? word.slice(1) : word
    const oid = (await revision(this.#git.repo(), name)) ?? (/^[0-9a-f]{40}$/i.test(name) ? name.toLowerCase() : null)
    if (oid !== null && this.#how.verify) this.#found.push({ oid, name, isOut })
    else if (oid !== null) await this.#showRevision({ oid, name, isOut })
    if (oid !== null) return true
    if (this.#how.verify) throw this.#notSingle()
    if (this.#args.includes('--')) throw fatal(`bad revision '${word}'`)
    this.#hasFiles = true
    return this.#takeFile(word, true)
  }

  /** `a..b` and `a...b`; two dots alone are the parent folder. */
  async #difference(word: string): Promise<Named[] | null> {
    const repo = this.#git.repo()
    const [, first = '', dots, second = ''] = /^(.*?)(\.\.\.?)(.*)$/s.exec(word) ?? []
    if (dots === undefined || word === '..') return null
    const [left, right] = [first || 'HEAD', second || 'HEAD']
    const [from, to] = [await revision(repo, left), await revision(repo, right)]
    if (from === null || to === null) return null
    const ends = [
      { oid: to, name: right, isOut: false },
      { oid: from, name: left, isOut: dots === '..' },
    ]
    if (dots === '..') return ends
    const bases = await mergeBases(repo, await repo.peel(from, 'commit'), await repo.peel(to, 'commit'))
    return [...ends, ...bases.map((oid) => ({ oid, name: null, isOut: true }))]
  }

  async #parents(word: string): Promise<Named[] | null> {
    const found = await parentShorthand(this.#git.repo(), word)
    if (!found) return null
    const { commit, name, parents, isOut } = found
    return [
      ...(isOut ? [{ oid: commit, name, isOut: false }] : []),
      ...parents.map(({ oid, number }) => ({ oid, name: `${name}^${number}`, isOut })),
    ]
  }

  async #showRevision({ oid, name, isOut }: Named): Promise<void> {
    if (!this.#shows.revisions) return
    this.#fallback = null
    const text = await this.#textOf(oid, name)
    if (text !== null) this.#show((isOut !== this.#how.isOut ? '^' : '') + text)
  }

  async #textOf(oid: string, name: string | null): Promise<string | null> {
    const repo = this.#git.repo()
    const { short, shortName, symbolic, fullName } = this.#how
    if (name !== null && (fullName || shortName !== null)) {
      const ref = await refNamed(this.#git, name)
      if (ref === null || shortName === null) return ref
      return shortRefName(repo, ref, { isStrict: shortName === 'strict' })
    }
    if (name !== null && symbolic) return name
    return short === null ? oid : abbreviate(repo, oid, short === 0 ? undefined : short)
  }

  async #showDefault(): Promise<boolean> {
    const name = this.#fallback
    this.#fallback = null
    const oid = name === null ? null : await revision(this.#git.repo(), name)
    if (oid !== null) await this.#showRevision({ oid, name, isOut: false })
    return oid !== null
  }

  /** Words that name nothing are files. After `--` their existence is not checked. Returns whether it was printed. */
  async #takeFile(word: string, isFirst = false): Promise<boolean> {
    await this.#showDefault()
    const { words, others } = this.#shows
    if (!words || !others) return false
    this.#show(this.#prefix === null || word === '--' ? word : this.#prefix + word)
    if (this.#isBehindDashes) return true
    if (word.startsWith('-')) throw fatal(`option '${word}' must come before non-option arguments`)
    if (word !== '' && lstatAt(this.#git.fs, this.#git.resolve(word))) return true
    throw isFirst ? unknownRevision(word) : missingPath(word)
  }
}

const NEEDS_VALUE: Readonly<Record<string, string>> = {
  '--git-path': '--git-path requires an argument',
  '--default': '--default requires an argument',
  '--prefix': '--prefix requires an argument',
  '--resolve-git-dir': '--resolve-git-dir requires an argument',
}

/** The full name of the ref that the words name; null for other words. */
async function refNamed(git: Invocation, word: string): Promise<string | null> {
  const repo = git.repo()
  const head = await repo.refs.head()
  if (word === 'HEAD' || word === '@') return head.oid === null ? null : (head.ref ?? 'HEAD')
  const following = /^(.*)@\{(u|upstream|push)\}$/i.exec(word)
  if (following) {
    const branch = following[1] || (head.ref?.replace(/^refs\/heads\//, '') ?? '')
    const upstream = await upstreamOf(repo, branch)
    if (!upstream) throw new GitFailure(`fatal: no upstream configured for branch '${branch}'`, 128)
    return upstream.ref
  }
  return fullRefName(repo, (await previousBranch(repo, word)) ?? word)
}

function missingPath(word: string): GitFailure {
  return fatal(
    `${word}: no such path in the working tree.\nUse 'git <command> -- <path>...' to specify paths that do not exist locally.`,
  )
}
