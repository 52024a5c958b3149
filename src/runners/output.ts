// Output of real programs as people and models read it, and that of a notebook's cell on the wire.

import { z } from 'zod'

/** Sequences of a terminal: colours, cursor movements, titles. ESC [ … , ESC ] … BEL, ESC P … ESC \ and ESC with one character. */
const [ESC, BEL] = ['\\u001b', '\\u0007']
const ESCAPES = new RegExp(
  `${ESC}(?:\\[[0-?]*[ -/]*[@-~]|\\][^${BEL}${ESC}]*(?:${BEL}|${ESC}\\\\)?|[PX^_][^${ESC}]*(?:${ESC}\\\\)?|[ -/]*[0-~])`,
  'g',
)

/** Without the sequences of a terminal, and of a line that was written over again and again only its last state. */
export function plainOutput(text: string): string {
  return text
    .replace(ESCAPES, '')
    .replace(/\r+\n/g, '\n')
    .split('\n')
    .map((line) => (line.includes('\r') ? lastState(line) : line))
    .join('\n')
}

/** What a terminal shows of a line with carriage returns: what was written later stands over what was there. */
function lastState(line: string): string {
  let shown = ''
  for (const part of line.split('\r')) shown = part + shown.slice(part.length)
  return shown
}

export const gapNote = (bytes: number): string => `\n[... ${bytes} bytes of output were not kept ...]\n`

// The output of a cell of a notebook on the wire: a JSON object a line, in the order in which it came. Text as the kernel wrote
// it, colours included, pictures, and what was left out of a long text.

/** Characters of text of one call that are kept of its beginning, and of its end. */
export const CELL_TEXT_CHARS = 200 * 1024
const MAX_PICTURE_CHARS = 4 * 1024 * 1024
export const MAX_PICTURES_CHARS = 6 * 1024 * 1024
export const MAX_PICTURES = 8
/** All of one call, bytes: its texts written as JSON, its pictures. */
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
  /** Who runs the cell. `isFirst`: the runner knows of no kernel before it, so it cannot say that one is gone. */
  z.object({ t: z.literal('kernel'), id: z.string().regex(/^[0-9a-f]{16}$/), isFirst: z.boolean() }),
])
export type CellPiece = z.infer<typeof CellPiece>

/** Null for a line that is none. */
export function cellPieceIn(line: string): CellPiece | null {
  try {
    return CellPiece.safeParse(JSON.parse(line)).data ?? null
  } catch {
    // No JSON: of a machine that is not trusted, or a line whose beginning was read before a restart.
    return null
  }
}

/** The text of a piece; empty for what is none. */
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

/** All that a call of the notebook brought: its text, and its pictures as data URLs. */
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

/** The text of pieces as they come, however they are cut. */
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
