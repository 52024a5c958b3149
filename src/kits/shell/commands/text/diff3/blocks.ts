// The differences of three versions of a file: the changes of two of them from the third, joined if they touch.

import { lineEdits } from '../../../../../workspace/diff.ts'
import type { LineEdit } from '../../../../../workspace/shifted-edits.ts'

/** Lines from one up to another, exclusive. */
export interface Range {
  from: number
  to: number
}

/** The version that differs from the other two; null if all differ. */
export type OddOne = 0 | 1 | 2 | null

export interface Block {
  odd: OddOne
  ranges: readonly [Range, Range, Range]
}

type Lines = readonly string[]

/** `common` is the version that the two others are compared with. */
export function blocksOf(
  files: readonly [Lines, Lines, Lines],
  common: 1 | 2,
  keyOf: (line: string) => string,
): Block[] {
  const order = common === 2 ? ([0, 1, 2] as const) : ([0, 2, 1] as const)
  const keys = files.map((lines) => lines.map(keyOf)) as [string[], string[], string[]]
  const base = keys[common]
  const threads = [new Thread(lineEdits(base, keys[order[0]])), new Thread(lineEdits(base, keys[order[1]]))] as const
  const blocks: Block[] = []
  for (;;) {
    const span = nextSpan(threads)
    if (span === null) return blocks
    const parts = threads.map((thread) => thread.mapped(span)) as [Range, Range]
    const odd = oddOf(parts, threads, (i) => keys[order[i]])
    const ranges: Range[] = []
    ranges[order[0]] = parts[0]
    ranges[order[1]] = parts[1]
    ranges[common] = span
    blocks.push({ odd: odd === null ? null : order[odd], ranges: ranges as [Range, Range, Range] })
    for (const thread of threads) thread.finish()
  }
}

/** The next range of the common version with changes, including all changes that touch each other. */
function nextSpan(threads: readonly [Thread, Thread]): Range | null {
  const starts = threads.map((thread) => thread.next?.start ?? Number.POSITIVE_INFINITY) as [number, number]
  const first = starts[0] <= starts[1] ? 0 : 1
  if (starts[first] === Number.POSITIVE_INFINITY) return null
  let to = threads[first].use()
  const from = starts[first]
  for (let which: 0 | 1 = first === 0 ? 1 : 0; ; ) {
    const next: LineEdit | undefined = threads[which].next
    if (next === undefined || next.start > to) return { from, to }
    const end = threads[which].use()
    if (end > to) {
      to = end
      which = which === 0 ? 1 : 0
    }
  }
}

/** The changes of one version, consumed in order. */
class Thread {
  readonly #edits: readonly LineEdit[]
  #at = 0
  #used: LineEdit[] = []
  /** The offset of lines in this version after the consumed changes. */
  #shift = 0

  constructor(edits: readonly LineEdit[]) {
    this.#edits = edits
  }

  get next(): LineEdit | undefined {
    return this.#edits[this.#at]
  }

  get isUsed(): boolean {
    return this.#used.length > 0
  }

  /** Returns the end in the common version. */
  use(): number {
    const edit = this.#edits[this.#at++]
    if (!edit) throw new Error('there is no change left')
    this.#used.push(edit)
    return edit.end
  }

  mapped({ from, to }: Range): Range {
    const [first, last] = [this.#used[0], this.#used.at(-1)]
    if (!first || !last) return { from: from + this.#shift, to: to + this.#shift }
    return { from: first.from - (first.start - from), to: last.to + (to - last.end) }
  }

  finish(): void {
    const last = this.#used.at(-1)
    if (last) this.#shift = last.to - last.end
    this.#used = []
  }
}

/** 0 and 1 for the two that are compared, 2 for the common one. */
function oddOf(
  parts: readonly [Range, Range],
  threads: readonly [Thread, Thread],
  keysOf: (which: 0 | 1) => Lines,
): OddOne {
  if (!threads[0].isUsed) return 1
  if (!threads[1].isUsed) return 0
  const [a, b] = [keysOf(0).slice(parts[0].from, parts[0].to), keysOf(1).slice(parts[1].from, parts[1].to)]
  return a.length === b.length && a.every((line, i) => line === b[i]) ? 2 : null
}
