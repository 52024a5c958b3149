// Output of real programs as users and models read it, and the output of notebook cells on the wire.

import { z } from 'zod'

/**
 * Terminal escape sequences: colours, cursor movements, titles. ESC [ … , ESC ] … BEL, ESC P … ESC \ and ESC with one
 * character.
 */
const [ESC, BEL] = ['\\u001b', '\\u0007']
const ESCAPES = new RegExp(
  `${ESC}(?:\\[[0-?]*[ -/]*[@-~]|\\][^${BEL}${ESC}]*(?:${BEL}|${ESC}\\\\)?|[PX^_][^${ESC}]*(?:${ESC}\\\\)?|[ -/]*[0-~])`,
  'g',
)

/** Without escape sequences; of a line that was overwritten several times only the last state. */
export function plainOutput(text: string): string {
  return text
    .replace(ESCAPES, '')
    .replace(/\r+\n/g, '\n')
    .split('\n')
    .map((line) => (line.includes('\r') ? lastState(line) : line))
    .join('\n')
}

/** The visible state of a line with carriage returns: later text overwrites earlier text. */
function lastState(line: string): string {
  let shown = ''
  for (const part of line.split('\r')) shown = part + shown.slice(part.length)
  return shown
}

export const gapNote = (bytes: number): string => `\n[... ${bytes} bytes of output were not kept ...]\n`

// The output of a notebook cell on the wire: one JSON object per line, in order. Text as the kernel wrote it including
// colours, pictures, and the amount that was left out of a long text.

/** Characters of text that are kept from the beginning, and from the end, of a call's output. */
export const CELL_TEXT_CHARS = 200 * 1024
const MAX_PICTURE_CHARS = 4 * 1024 * 1024
export const MAX_PICTURES_CHARS = 6 * 1024 * 1024
export const MAX_PICTURES = 8
/** The size limit of one call's output in bytes: its texts as JSON, and its pictures. */
export const MAX_CELL_BYTES = 16 * 1024 * 1024

export const CellPiece = z.discriminatedUnion('t', [
  z.object({ t: z.literal('text'), text: z.string() }),
  z.object({
    t: z.literal('picture'),
    mime: z.enum(['image/png', 'image/jpeg']),
    data: z
      .string()
      .max(MAX_PICTURE_CHARS)
      .regex(/^[A-Za-z0-9+/]+={0,2}$/),
  }),
  z.object({ t: z.literal('gap'), chars: z.number().int().positive() }),
  /** The kernel that runs the cell. `isFirst`: the runner knows of no earlier kernel, so it cannot say whether one is gone. */
  z.object({ t: z.literal('kernel'), id: z.string().regex(/^[0-9a-f]{16}$/), isFirst: z.boolean() }),
])
export type CellPiece = z.infer<typeof CellPiece>

/** Null when the line is not a piece. */
export function cellPieceIn(line: string): CellPiece | null {
  try {
    return CellPiece.safeParse(JSON.parse(line)).data ?? null
  } catch {
    // Not JSON: from an untrusted machine, or a line whose beginning was read before a restart.
    return null
  }
}

/** The text of a piece; empty for other kinds. */
function cellTextOf(piece: CellPiece): string {
  if (piece.t === 'text') return piece.text
  return piece.t === 'gap' ? `\n[... ${piece.chars} characters of output were not kept ...]\n` : ''
}

export type CellKernel = { readonly id: string; readonly isFirst: boolean }
export type CellOutput = {
  readonly text: string
  readonly pictures: readonly string[]
  /** Null for a call that gave no cell to a kernel. */
  readonly kernel: CellKernel | null
}

/** The result of a notebook call: its text, and its pictures as data URLs. */
export function cellOutputIn(lines: string): CellOutput {
  const pieces = lines.split('\n').flatMap((line) => (line === '' ? [] : (cellPieceIn(line) ?? [])))
  const pictures = pieces.flatMap((piece) => (piece.t === 'picture' ? [`data:${piece.mime};base64,${piece.data}`] : []))
  let chars = 0
  const shown = pictures.slice(0, MAX_PICTURES).filter((picture) => {
    chars += picture.length
    return chars <= MAX_PICTURES_CHARS
  })
  const kernel = pieces.findLast((piece) => piece.t === 'kernel') ?? null
  return { text: pieces.map(cellTextOf).join(''), pictures: shown, kernel }
}

/** The text of pieces as they arrive, however they are split. */
export class CellTexts {
  #rest = ''

  push(bytes: string): string {
    const lines = (this.#rest + bytes).split('\n')
    this.#rest = lines.pop() ?? ''
    if (this.#rest.length > MAX_CELL_BYTES) this.#rest = ''
    return lines
      .map((line) => cellPieceIn(line))
      .reduce((text, piece) => text + (piece === null ? '' : cellTextOf(piece)), '')
  }
}
