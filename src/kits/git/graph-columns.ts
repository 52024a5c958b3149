// The columns of the branch lines in `git log --graph`, and the target column of each line.

export interface GraphCommit {
  oid: string
  /** The parents that are shown too. */
  parents: readonly string[]
}

export const NOTHING = -1

export class GraphColumns {
  protected commit: GraphCommit = { oid: '', parents: [] }
  protected columns: string[] = []
  protected next: string[] = []
  protected mapping: number[] = []
  protected width = 0
  protected index = 0
  /** 1 if the first parent of a merge stays in the merge's column, 0 if it is to the left of it. */
  protected layout = 0
  protected added = 0
  protected addedBefore = 0

  protected updateColumns(): void {
    this.columns = this.next
    this.next = []
    this.mapping = Array<number>(2 * (this.columns.length + this.commit.parents.length)).fill(NOTHING)
    this.width = 0
    this.addedBefore = this.added
    this.added = 0
    for (const [i, oid] of this.withCommit().entries()) {
      if (oid !== this.commit.oid) {
        this.#insert(oid, null)
        continue
      }
      this.index = i
      this.layout = NOTHING
      for (const parent of this.commit.parents) this.#insert(parent, i)
      // The commit itself keeps its place, whatever follows it.
      if (this.commit.parents.length === 0) this.width += 2
    }
    while (this.mapping.length > 1 && this.mapping.at(-1) === NOTHING) this.mapping.pop()
  }

  /** The columns, with one more for a commit without shown children. */
  protected withCommit(): string[] {
    return this.columns.includes(this.commit.oid) ? this.columns : [...this.columns, this.commit.oid]
  }

  /** Assigns a column to a line; `from` is the column of the merge that it comes from. */
  #insert(oid: string, from: number | null): void {
    let column = this.next.indexOf(oid)
    if (column < 0) column = this.next.push(oid) - 1
    const merged = this.commit.parents.length
    if (merged > 1 && from !== null && this.layout === NOTHING) {
      // The first parent of a merge: the direction of the edges depends on whether it is to the left.
      const distance = from - column
      const shift = distance > 1 ? 2 * distance - 3 : 1
      this.layout = distance > 0 ? 0 : 1
      this.added = merged + this.layout - 2
      this.mapping[this.width + (this.layout - 1) * shift] = column
      this.width += 2 * this.layout
    } else if (this.added > 0 && column === this.mapping[this.width - 2]) {
      // A line that joins the last edge of the merge joins it at once.
      this.mapping[this.width - 2] = column
      this.added = -1
    } else {
      this.mapping[this.width] = column
      this.width += 2
    }
  }

  protected dashedParents(): number {
    return this.commit.parents.length + this.layout - 3
  }

  /** Moves each line one step towards its column; one of them may move the whole distance at once. */
  protected moveLeft(old: readonly number[]): { edge: number; target: number } {
    const mapping = this.mapping
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
        // It crosses another line.
        mapping[i - 2] = target
        goAllTheWay(i - 1, { from: i, target })
      }
    }
    return horizontal
  }

  protected isMappingCorrect(): boolean {
    return this.mapping.every((target, i) => target < 0 || target === i >> 1)
  }
}
