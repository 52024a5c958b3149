// The part of a kernel's output that one call sends: of a long text the beginning at once and the end when the call
// ends. The kernel's process is controlled by the user's code, so its output is not trusted.

import { CELL_TEXT_CHARS, type CellPiece, MAX_PICTURES, MAX_PICTURES_CHARS } from '../../../src/runners/output.ts'

export class CellOutput {
  readonly #send: (bytes: Buffer) => void
  #sentChars = 0
  #tail: string[] = []
  #tailChars = 0
  #leftOut = 0
  #pictures = 0
  #pictureChars = 0

  constructor(send: (bytes: Buffer) => void) {
    this.#send = send
  }

  push(piece: CellPiece): void {
    if (piece.t === 'text') this.#text(piece.text)
    else if (piece.t === 'gap') this.#leftOut += piece.chars
    else if (piece.t === 'kernel') this.#write(piece)
    else if (this.#pictures < MAX_PICTURES && this.#pictureChars + piece.data.length <= MAX_PICTURES_CHARS) {
      this.#pictures += 1
      this.#pictureChars += piece.data.length
      this.#write(piece)
    }
  }

  /** Sends the held-back text too. */
  end(): void {
    if (this.#leftOut > 0) this.#write({ t: 'gap', chars: this.#leftOut })
    for (const text of this.#tail) this.#write({ t: 'text', text })
    this.#tail = []
  }

  #text(text: string): void {
    const head = text.slice(0, CELL_TEXT_CHARS - this.#sentChars)
    if (head !== '') this.#write({ t: 'text', text: head })
    this.#sentChars += head.length
    const rest = text.slice(head.length)
    if (rest === '') return
    this.#tail.push(rest)
    this.#tailChars += rest.length
    while (this.#tailChars > CELL_TEXT_CHARS) this.#dropFirst()
  }

  #dropFirst(): void {
    const first = this.#tail.shift() ?? ''
    this.#tailChars -= first.length
    this.#leftOut += first.length
  }

  #write(piece: CellPiece): void {
    this.#send(Buffer.from(`${JSON.stringify(piece)}\n`))
  }
}
