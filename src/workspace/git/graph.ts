// The lines that `git log --graph` draws beside the commits, drawn by the rules of git's own graph.
//
// A branch line has a column of two characters. For each commit the columns before it are turned into the columns after
// it: its own column makes way for those of its parents. `#mapping` says for each character which column the line that
// stands there is on its way to; lines are drawn until each is above its column, and then the next commit may come.

interface Drawn {
  oid: string
  /** Those parents that are shown as well. */
  parents: readonly string[]
}

type State = 'padding' | 'skip' | 'pre-commit' | 'commit' | 'post-merge' | 'collapsing'

const NOTHING = -1

export class Graph {
  #commit: Drawn = { oid: '', parents: [] }
  #state: State = 'padding'
  #before: State = 'padding'
  #columns: string[] = []
  #next: string[] = []
  #mapping: number[] = []
  #oldMapping: number[] = []
  #width = 0
  #expansion = 0
  #index = 0
  #indexBefore = 0
  /** 1 when the first parent of a merge stays in the merge's column, 0 when it is to the left of it. */
  #layout = 0
  #added = 0
  #addedBefore = 0

  /** Whether every line is where the next commit needs it. */
  get isFinished(): boolean {
    return this.#state === 'padding'
  }

  /** Goes on to the next commit. */
  update(commit: Drawn): void {
    this.#commit = commit
    this.#indexBefore = this.#index
    this.#updateColumns()
    this.#expansion = 0
    if (this.#state !== 'padding') this.#state = 'skip'
    else this.#state = this.#needsPreCommitLine() ? 'pre-commit' : 'commit'
  }

  /** The next line, without its end, and whether it is the one with the commit. */
  line(): { text: string; isCommit: boolean } {
    const isCommit = this.#state === 'commit'
    return { text: this.#lineOf(this.#state).padEnd(this.#width), isCommit }
  }

  /** A line between two texts that leaves all branches as they are, if it can. */
  padding(): string {
    if (this.#state !== 'commit') return this.line().text
    const { oid, parents } = this.#commit
    const room = ' '.repeat(Math.max(1, (parents.length - 2) * 2))
    this.#before = 'padding'
    return this.#columns
      .map((column) => (column === oid ? `|${room}` : '| '))
      .join('')
      .padEnd(this.#width)
  }

  #lineOf(state: State): string {
    if (state === 'padding') return this.#next.map(() => '| ').join('')
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

  #updateColumns(): void {
    this.#columns = this.#next
    this.#next = []
    this.#mapping = Array<number>(2 * (this.#columns.length + this.#commit.parents.length)).fill(NOTHING)
    this.#width = 0
    this.#addedBefore = this.#added
    this.#added = 0
    for (const [i, oid] of this.#withCommit().entries()) {
      if (oid !== this.#commit.oid) {
        this.#insert(oid, null)
        continue
      }
      this.#index = i
      this.#layout = NOTHING
      for (const parent of this.#commit.parents) this.#insert(parent, i)
      // The commit itself takes its place, whoever comes after it.
      if (this.#commit.parents.length === 0) this.#width += 2
    }
    while (this.#mapping.length > 1 && this.#mapping.at(-1) === NOTHING) this.#mapping.pop()
  }

  /** The columns, with one more for a commit whose children were not shown. */
  #withCommit(): string[] {
    return this.#columns.includes(this.#commit.oid) ? this.#columns : [...this.#columns, this.#commit.oid]
  }

  /** Gives a line its column; `from` is the column of the merge that it comes from. */
  #insert(oid: string, from: number | null): void {
    let column = this.#next.indexOf(oid)
    if (column < 0) column = this.#next.push(oid) - 1
    const merged = this.#commit.parents.length
    if (merged > 1 && from !== null && this.#layout === NOTHING) {
      // The first parent of a merge: how the edges lean depends on whether it is to the left.
      const distance = from - column
      const shift = distance > 1 ? 2 * distance - 3 : 1
      this.#layout = distance > 0 ? 0 : 1
      this.#added = merged + this.#layout - 2
      this.#mapping[this.#width + (this.#layout - 1) * shift] = column
      this.#width += 2 * this.#layout
    } else if (this.#added > 0 && column === this.#mapping[this.#width - 2]) {
      // A line that joins the last edge of the merge joins it at once.
      this.#mapping[this.#width - 2] = column
      this.#added = -1
    } else {
      this.#mapping[this.#width] = column
      this.#width += 2
    }
  }

  #dashedParents(): number {
    return this.#commit.parents.length + this.#layout - 3
  }

  #needsPreCommitLine(): boolean {
    return (
      this.#commit.parents.length >= 3 &&
      this.#index < this.#columns.length - 1 &&
      this.#expansion < this.#dashedParents() * 2
    )
  }

  /** Makes room above a commit with three parents or more. */
  #preCommitLine(): string {
    let text = ''
    let isPast = false
    for (const [i, oid] of this.#columns.entries()) {
      if (oid === this.#commit.oid) {
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
    for (const [i, oid] of this.#withCommit().entries()) {
      if (oid === this.#commit.oid) {
        isPast = true
        text += '*'
        const dashed = this.#dashedParents()
        if (dashed > 0) text += `${'--'.repeat(dashed - 1)}-.`
      } else text += this.#besideCommit(i, isPast)
      text += ' '
    }
    if (this.#commit.parents.length > 1) this.#goTo('post-merge')
    else this.#goTo(this.#isMappingCorrect() ? 'padding' : 'collapsing')
    return text
  }

  #besideCommit(i: number, isPast: boolean): string {
    if (isPast && this.#added > 1) return '\\'
    if (isPast && this.#added === 1) {
      const goesOn = this.#before === 'post-merge' && this.#addedBefore > 0 && this.#indexBefore < i
      return goesOn ? '\\' : '|'
    }
    const collapses =
      this.#before === 'collapsing' && this.#oldMapping[2 * i + 1] === i && (this.#mapping[2 * i] ?? NOTHING) < i
    return collapses ? '/' : '|'
  }

  #postMergeLine(): string {
    const [first] = this.#commit.parents
    let text = ''
    let isPast = false
    let sawParent = false
    for (const [i, oid] of this.#withCommit().entries()) {
      if (oid === this.#commit.oid) {
        isPast = true
        text += this.#edges()
      } else if (isPast) text += this.#added > 0 ? '\\ ' : '| '
      else {
        text += '|'
        if (this.#layout !== 0 || i !== this.#index - 1) text += sawParent ? '_' : ' '
      }
      if (oid === first) sawParent = true
    }
    this.#goTo(this.#isMappingCorrect() ? 'padding' : 'collapsing')
    return text
  }

  #edges(): string {
    const count = this.#commit.parents.length
    let text = ''
    let shape = this.#layout
    for (let j = 0; j < count; j++) {
      text += '/|\\'.charAt(shape)
      if (shape < 2) shape++
      else if (this.#added > 0 || j < count - 1) text += ' '
    }
    return this.#added === 0 ? `${text} ` : text
  }

  #collapsingLine(): string {
    const old = this.#mapping
    this.#mapping = Array<number>(old.length).fill(NOTHING)
    const horizontal = this.#moveLeft(old)
    this.#oldMapping = [...this.#mapping]
    if (this.#mapping.at(-1) === NOTHING) this.#mapping.pop()
    let text = ''
    let wasHorizontal = false
    for (const [i, target] of this.#mapping.entries()) {
      if (target < 0) text += ' '
      else if (target * 2 === i) text += '|'
      else if (target === horizontal.target && i !== horizontal.edge - 1) {
        // All but the first part of it end with this line.
        if (i !== target * 2 + 3) this.#mapping[i] = NOTHING
        wasHorizontal = true
        text += '_'
      } else {
        if (wasHorizontal && i < horizontal.edge) this.#mapping[i] = NOTHING
        text += '/'
      }
    }
    if (this.#isMappingCorrect()) this.#goTo('padding')
    return text
  }

  /** Moves each line one step towards its column; one of them may go all the way at once. */
  #moveLeft(old: readonly number[]): { edge: number; target: number } {
    const mapping = this.#mapping
    let horizontal = { edge: NOTHING, target: NOTHING }
    const goAllTheWay = (edge: number, { from, target }: { from: number; target: number }) => {
      if (horizontal.edge !== NOTHING) return
      horizontal = { edge, target }
      for (let at = target * 2 + 3; at < from - 2; at += 2) mapping[at] = target
    }
    for (const [i, target] of old.entries()) {
      if (target < 0) continue
      if (target * 2 === i) mapping[i] = target
      else if ((mapping[i - 1] ?? NOTHING) < 0) {
        mapping[i - 1] = target
        goAllTheWay(i, { from: i, target })
      } else if (mapping[i - 1] !== target) {
        // Another line is in the way and is crossed.
        mapping[i - 2] = target
        goAllTheWay(i - 1, { from: i, target })
      }
    }
    return horizontal
  }

  #isMappingCorrect(): boolean {
    return this.#mapping.every((target, i) => target < 0 || target === i >> 1)
  }
}
