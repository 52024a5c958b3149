// The output of a script so far, as one text: limited from the first character on, whatever the script writes.

export const DEFAULT_OUTPUT_CHARS = 30_000

/** The maximum length of the line about omitted text. */
const MARKER_ROOM = 60

/** The part of a streamed text that may be shown; text that is held back comes with a later piece, or at the end. */
export interface OutputFilter {
  push(piece: string): string
  end(): string
}

export type OutputUse = {
  /** Before anything is cut: half a secret could not be recognized. */
  filter?: OutputFilter | undefined
  onText?: ((text: string) => void) | undefined
}

export class ShellOutput {
  readonly #maxChars: number
  readonly #headChars: number
  readonly #filter: OutputFilter | undefined
  readonly #onText: ((text: string) => void) | undefined
  #head = ''
  #tail = ''
  #total = 0

  constructor(maxChars: number, { filter, onText }: OutputUse = {}) {
    this.#maxChars = maxChars
    this.#headChars = Math.ceil(maxChars / 2)
    this.#filter = filter
    this.#onText = onText
  }

  get truncated(): boolean {
    return this.#total > this.#maxChars
  }

  write(piece: string): void {
    this.#add(this.#filter === undefined ? piece : this.#filter.push(piece))
  }

  /** There is no more output. */
  end(): void {
    this.#add(this.#filter?.end() ?? '')
  }

  #add(text: string): void {
    if (text === '') return
    this.#total += text.length
    const room = this.#headChars - this.#head.length
    this.#head += text.slice(0, room)
    this.#tail += text.slice(room)
    // Cut now and then instead of at each write: joining long texts for every line would be quadratic.
    if (this.#tail.length > 4 * this.#maxChars) this.#tail = this.#tail.slice(-this.#maxChars)
    this.#onText?.(text)
  }

  /** On a separate line. */
  writeLine(line: string): void {
    const end = this.#tail === '' ? this.#head : this.#tail
    this.write(end === '' || end.endsWith('\n') ? `${line}\n` : `\n${line}\n`)
  }

  /** Never longer than the limit: beyond it the middle is left out, and a line says so. */
  text(): string {
    if (!this.truncated) return (this.#head + this.#tail).toWellFormed()
    const tailChars = Math.max(0, this.#maxChars - this.#headChars - MARKER_ROOM)
    const leftOut = this.#total - this.#head.length - tailChars
    const tail = tailChars === 0 ? '' : this.#tail.slice(-tailChars)
    return `${this.#head}\n[... ${leftOut} characters left out ...]\n${tail}`.slice(0, this.#maxChars).toWellFormed()
  }
}
