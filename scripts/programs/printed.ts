// Parses the lines that the process of a program prints: its output, between messages of the runtime. They arrive at once,
// also from a program that never waits and so never reports.

import { WATCHED_MARK } from '../../src/kits/node-program/runtime/protocol.ts'

const LINE_FEED = 10

type Piece = [stream: 1 | 2, text: string]

export class PrintedLines {
  #parts: Buffer[] = []

  /** The pieces of output in the lines that are complete. */
  push(chunk: Buffer): Piece[] {
    const pieces: Piece[] = []
    let at = 0
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, at)) {
      const line = Buffer.concat([...this.#parts, chunk.subarray(at, end)]).toString('utf8')
      this.#parts = []
      at = end + 1
      const piece = pieceOf(line)
      if (piece !== null) pieces.push(piece)
    }
    if (at < chunk.length) this.#parts.push(chunk.subarray(at))
    return pieces
  }
}

/** A program can print a line in this form; this only produces output that it could print anyway. */
function pieceOf(line: string): Piece | null {
  if (!line.startsWith(WATCHED_MARK)) return null
  try {
    const piece: unknown = JSON.parse(line.slice(WATCHED_MARK.length))
    return isPiece(piece) ? piece : null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

function isPiece(piece: unknown): piece is Piece {
  return Array.isArray(piece) && piece.length === 2 && [1, 2].includes(piece[0]) && typeof piece[1] === 'string'
}
