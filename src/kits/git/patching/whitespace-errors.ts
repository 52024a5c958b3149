// Git's whitespace errors in an added line: trailing blanks, a blank before a tab in the indentation, and empty lines
// at the end of a file.

import { fatal, GitFailure } from '../failure.ts'
import type { Invocation } from '../invocation.ts'
import type { FilePatch, Hunk } from './parse-patch.ts'

export type WhitespaceAction = 'nowarn' | 'warn' | 'error' | 'error-all'

const MAX_SHOWN = 5

export function whitespaceAction(given: string | null): WhitespaceAction {
  const action = given ?? 'warn'
  if (action === 'nowarn' || action === 'warn' || action === 'error' || action === 'error-all') return action
  if (action === 'fix' || action === 'strip') throw fatal(`--whitespace=${action} is not available here`)
  throw fatal(`unrecognized whitespace option '${action}'`)
}

/** The error in the line, or null. */
export function whitespaceError(line: string): string | null {
  const text = line.replace(/\n$/, '')
  const found = [
    ...(/[ \t\r\f\v]$/.test(text) ? ['trailing whitespace'] : []),
    ...(/^\t* +\t/.test(text) ? ['space before tab in indent'] : []),
  ]
  return found.length > 0 ? found.join(', ') : null
}

/** Reports the first errors as they are found, and their total number. */
export class WhitespaceReport {
  readonly #git: Invocation
  readonly #action: WhitespaceAction
  readonly #isQuiet: boolean
  #count = 0

  constructor(git: Invocation, action: WhitespaceAction, isQuiet: boolean) {
    this.#git = git
    this.#action = action
    this.#isQuiet = isQuiet
  }

  checkLines(file: FilePatch, source: string): void {
    for (const { lines } of file.hunks) {
      for (const { sign, text, at } of lines) {
        const what = sign === '+' ? whitespaceError(text) : null
        if (what !== null) this.#note(`${source}:${at}: ${what}.\n${text.replace(/\n$/, '')}`)
      }
    }
  }

  /** The hunk is at the end of the file. */
  checkEnd(hunk: Hunk, source: string): void {
    const blank = hunk.lines.slice(hunk.lines.findLastIndex(({ sign, text }) => sign !== '+' || text.trim() !== '') + 1)
    const [first] = blank
    if (first) this.#note(`${source}:${first.at}: new blank line at EOF.\n+`)
  }

  /** Whether a patch with the errors so far must not be applied. */
  get forbids(): boolean {
    return this.#count > 0 && (this.#action === 'error' || this.#action === 'error-all')
  }

  /** Throws if errors are not accepted. */
  conclude(): void {
    const hidden = this.#action === 'error-all' ? 0 : this.#count - MAX_SHOWN
    if (this.#count === 0 || this.#action === 'nowarn') return
    if (hidden > 0 && !this.#isQuiet)
      this.#git.err(`warning: squelched ${hidden} whitespace error${hidden === 1 ? '' : 's'}`)
    const lines = `${this.#count} line${this.#count === 1 ? ' adds' : 's add'} whitespace errors.`
    if (this.#action !== 'warn') throw new GitFailure(`error: ${lines}`, 128)
    if (!this.#isQuiet) this.#git.err(`warning: ${lines}`)
  }

  #note(text: string): void {
    if (this.#action === 'nowarn') return
    this.#count++
    if (!this.#isQuiet && (this.#count <= MAX_SHOWN || this.#action === 'error-all')) this.#git.err(text)
  }
}
