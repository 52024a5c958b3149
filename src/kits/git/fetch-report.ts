// What a fetch says of each ref, in git's columns.

import type { FetchWish, PlannedRef } from './fetch-plan.ts'
import type { Invocation } from './invocation.ts'
import { shownAddress } from './remote-address.ts'
import { abbreviate } from './revisions.ts'

export interface FetchOrder {
  wish: FetchWish
  url: string
  depth: number | null
  /** Whether tags that lead to what was fetched come along. */
  followsTags: boolean
  prunes: boolean
  force: boolean
  quiet: boolean
  verbose: boolean
  /** Whether the branch that is checked out may be moved. */
  movesHead: boolean
  /** How the logs of refs call what was done. */
  action: string
}

const COLUMNS = 80
const MIN_NAME = 10
const KIND_WIDTH = 17
/** The signs between the columns. */
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

  /** Finds how wide the names are that will be shown. */
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

  /** For what has no place here but `FETCH_HEAD`. */
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

/** How `FETCH_HEAD` and the message of a merge call it: `branch 'main' of `. */
export function describedSource({ source }: PlannedRef): string {
  if (source === 'HEAD') return ''
  const kind = kindOf(source)
  return `${kind === '' ? '' : `${kind} `}'${shortName(source)}' of `
}
