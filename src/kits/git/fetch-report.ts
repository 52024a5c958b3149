// The output of a fetch for each ref, in git's columns.

import type { FetchWish, PlannedRef } from './fetch-plan.ts'
import type { Invocation } from './invocation.ts'
import { shownAddress } from './remote-address.ts'
import { abbreviate } from './revisions.ts'

export interface FetchOrder {
  wish: FetchWish
  url: string
  depth: number | null
  /** Whether tags that lead to fetched objects are fetched too. */
  followsTags: boolean
  prunes: boolean
  force: boolean
  quiet: boolean
  verbose: boolean
  /** Whether the checked out branch may be moved. */
  movesHead: boolean
  /** The name of the action in the reflogs. */
  action: string
}

const COLUMNS = 80
const MIN_NAME = 10
const KIND_WIDTH = 17
/** The characters between the columns. */
const FRAME = 25

export class FetchReport {
  readonly #git: Invocation
  readonly #order: Pick<FetchOrder, 'url' | 'quiet' | 'verbose'>
  readonly #lines: string[] = []
  #nameWidth = MIN_NAME
  hasRefusals = false

  constructor(git: Invocation, order: Pick<FetchOrder, 'url' | 'quiet' | 'verbose'>) {
    this.#git = git
    this.#order = order
  }

  /** Computes the width of the displayed names. */
  async measure(planned: readonly PlannedRef[]): Promise<void> {
    for (const { source, goal, oid } of planned) {
      if (goal === null || source === 'HEAD') continue
      if (!this.#order.verbose && (await this.#git.repo().refs.resolve(goal)) === oid) continue
      const [from, to] = [shortName(source).length, shortName(goal).length]
      if (FRAME + from + to < COLUMNS) this.#nameWidth = Math.max(this.#nameWidth, from)
    }
  }

  deleted(name: string): void {
    this.#lines.push(` - ${'[deleted]'.padEnd(KIND_WIDTH)} ${'(none)'.padEnd(MIN_NAME)} -> ${shortName(name)}`)
  }

  row(flag: string, what: string, { source, goal }: PlannedRef, why?: string): void {
    if (flag === '!') this.hasRefusals = true
    if (flag === '=' && !this.#order.verbose) return
    const names = `${shortName(source).padEnd(this.#nameWidth)} -> ${shortName(goal ?? 'FETCH_HEAD')}`
    this.#lines.push(` ${flag} ${what.padEnd(KIND_WIDTH)} ${names}${why === undefined ? '' : `  (${why})`}`)
  }

  /** For a ref that is stored only in `FETCH_HEAD`. */
  unnoted(ref: PlannedRef): void {
    const kind = kindOf(ref.source)
    this.row('*', kind === '' ? 'branch' : kind, ref)
  }

  async ids(before: string, after: string, isOnward: boolean): Promise<string> {
    const repo = this.#git.repo()
    return `${await abbreviate(repo, before)}${isOnward ? '..' : '...'}${await abbreviate(repo, after)}`
  }

  say(): void {
    if (this.#lines.length === 0 || this.#order.quiet) return
    this.#git.err([`From ${shownAddress(this.#order.url)}`, ...this.#lines].join('\n'))
  }
}

function shortName(ref: string): string {
  return ref.replace(/^refs\/(heads|tags|remotes)\//, '')
}

function kindOf(ref: string): string {
  if (ref.startsWith('refs/heads/')) return 'branch'
  if (ref.startsWith('refs/tags/')) return 'tag'
  return ref.startsWith('refs/remotes/') ? 'remote-tracking branch' : ''
}

/** The description in `FETCH_HEAD` and in a merge message: `branch 'main' of `. */
export function describedSource({ source }: PlannedRef): string {
  if (source === 'HEAD') return ''
  const kind = kindOf(source)
  return `${kind === '' ? '' : `${kind} `}'${shortName(source)}' of `
}
