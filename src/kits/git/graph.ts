// The lines that `git log --graph` draws next to the commits, drawn by the rules of git's own graph.
//
// A branch line has a column of two characters. For each commit the columns before it are changed to the columns after
// it: its own column is replaced by those of its parents. `mapping` contains for each character the target column of
// its line; lines are drawn until each is above its column, and then the next commit follows.

import { GraphColumns, type GraphCommit, NOTHING } from './graph-columns.ts'

type State = 'padding' | 'skip' | 'pre-commit' | 'commit' | 'post-merge' | 'collapsing'

export class Graph extends GraphColumns {
  #state: State = 'padding'
  #before: State = 'padding'
  #oldMapping: number[] = []
  #expansion = 0
  #indexBefore = 0

  /** Whether every line is where the next commit needs it. */
  get isFinished(): boolean {
    return this.#state === 'padding'
  }

  /** Moves to the next commit. */
  update(commit: GraphCommit): void {
    this.commit = commit
    this.#indexBefore = this.index
    this.updateColumns()
    this.#expansion = 0
    if (this.#state !== 'padding') this.#state = 'skip'
    else this.#state = this.#needsPreCommitLine() ? 'pre-commit' : 'commit'
  }

  /** The next line, without its line end, and whether it contains the commit. */
  line(): { text: string; isCommit: boolean } {
    const isCommit = this.#state === 'commit'
    return { text: this.#lineOf(this.#state).padEnd(this.width), isCommit }
  }

  /** A line between two texts that changes no branch line, if possible. */
  padding(): string {
    if (this.#state !== 'commit') return this.line().text
    const { oid, parents } = this.commit
    const room = ' '.repeat(Math.max(1, (parents.length - 2) * 2))
    this.#before = 'padding'
    return this.columns
      .map((column) => (column === oid ? `|${room}` : '| '))
      .join('')
      .padEnd(this.width)
  }

  #lineOf(state: State): string {
    if (state === 'padding') return this.next.map(() => '| ').join('')
    if (state === 'skip') {
      this.#goTo(this.#needsPreCommitLine() ? 'pre-commit' : 'commit')
      return '...'
    }
    if (state === 'pre-commit') return this.#preCommitLine()
    if (state === 'commit') return this.#commitLine()
    return state === 'post-merge' ? this.#postMergeLine() : this.#collapsingLine()
  }

  #goTo(state: State): void {
    this.#before = this.#state
    this.#state = state
  }

  #needsPreCommitLine(): boolean {
    return (
      this.commit.parents.length >= 3 &&
      this.index < this.columns.length - 1 &&
      this.#expansion < this.dashedParents() * 2
    )
  }

  /** Makes room above a commit with three or more parents. */
  #preCommitLine(): string {
    let text = ''
    let isPast = false
    for (const [i, oid] of this.columns.entries()) {
      if (oid === this.commit.oid) {
        isPast = true
        text += `|${' '.repeat(this.#expansion)} `
      } else if (isPast && this.#expansion === 0) {
        text += this.#before === 'post-merge' && this.#indexBefore < i ? '\\ ' : '| '
      } else text += isPast ? '\\ ' : '| '
    }
    this.#expansion++
    if (!this.#needsPreCommitLine()) this.#goTo('commit')
    return text
  }

  #commitLine(): string {
    let text = ''
    let isPast = false
    for (const [i, oid] of this.withCommit().entries()) {
      if (oid === this.commit.oid) {
        isPast = true
        text += '*'
        const dashed = this.dashedParents()
        if (dashed > 0) text += `${'--'.repeat(dashed - 1)}-.`
      } else text += this.#besideCommit(i, isPast)
      text += ' '
    }
    if (this.commit.parents.length > 1) this.#goTo('post-merge')
    else this.#goTo(this.isMappingCorrect() ? 'padding' : 'collapsing')
    return text
  }

  #besideCommit(i: number, isPast: boolean): string {
    if (isPast && this.added > 1) return '\\'
    if (isPast && this.added === 1) {
      const goesOn = this.#before === 'post-merge' && this.addedBefore > 0 && this.#indexBefore < i
      return goesOn ? '\\' : '|'
    }
    const collapses =
      this.#before === 'collapsing' && this.#oldMapping[2 * i + 1] === i && (this.mapping[2 * i] ?? NOTHING) < i
    return collapses ? '/' : '|'
  }

  #postMergeLine(): string {
    const [first] = this.commit.parents
    let text = ''
    let isPast = false
    let sawParent = false
    for (const [i, oid] of this.withCommit().entries()) {
      if (oid === this.commit.oid) {
        isPast = true
        text += this.#edges()
      } else if (isPast) text += this.added > 0 ? '\\ ' : '| '
      else {
        text += '|'
        if (this.layout !== 0 || i !== this.index - 1) text += sawParent ? '_' : ' '
      }
      if (oid === first) sawParent = true
    }
    this.#goTo(this.isMappingCorrect() ? 'padding' : 'collapsing')
    return text
  }

  #edges(): string {
    const count = this.commit.parents.length
    let text = ''
    let shape = this.layout
    for (let j = 0; j < count; j++) {
      text += '/|\\'.charAt(shape)
      if (shape < 2) shape++
      else if (this.added > 0 || j < count - 1) text += ' '
    }
    return this.added === 0 ? `${text} ` : text
  }

  #collapsingLine(): string {
    const old = this.mapping
    this.mapping = Array<number>(old.length).fill(NOTHING)
    const horizontal = this.moveLeft(old)
    this.#oldMapping = [...this.mapping]
    if (this.mapping.at(-1) === NOTHING) this.mapping.pop()
    let text = ''
    let wasHorizontal = false
    for (const [i, target] of this.mapping.entries()) {
      if (target < 0) text += ' '
      else if (target * 2 === i) text += '|'
      else if (target === horizontal.target && i !== horizontal.edge - 1) {
        // All but its first part end with this line.
        if (i !== target * 2 + 3) this.mapping[i] = NOTHING
        wasHorizontal = true
        text += '_'
      } else {
        if (wasHorizontal && i < horizontal.edge) this.mapping[i] = NOTHING
        text += '/'
      }
    }
    if (this.isMappingCorrect()) this.#goTo('padding')
    return text
  }
}
