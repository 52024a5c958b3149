// Stores the newest output of a kernel while no call is waiting, for the next call.

import type { CellPiece } from '../../../src/runners/output.ts'
import type { CellOutput } from './cell-output.ts'

/** The limit for output while no call is waiting. */
const MAX_BETWEEN_CHARS = 256 * 1024

const sizeOf = (piece: CellPiece): number =>
  piece.t === 'text' ? piece.text.length : piece.t === 'picture' ? piece.data.length : 0

export class PiecesBetween {
  #pieces: CellPiece[] = []
  #chars = 0

  push(piece: CellPiece): void {
    this.#pieces.push(piece)
    this.#chars += sizeOf(piece)
    for (let first = this.#pieces[0]; first !== undefined && this.#chars > MAX_BETWEEN_CHARS; first = this.#pieces[0]) {
      // A picture is kept if it is the only piece.
      if (this.#pieces.length === 1) return
      this.#pieces.shift()
      this.#chars -= sizeOf(first)
    }
  }

  /** Clears the stored pieces, even if there is no receiver. */
  handTo(output: CellOutput | undefined): void {
    for (const piece of this.#pieces.splice(0)) output?.push(piece)
    this.#chars = 0
  }
}
