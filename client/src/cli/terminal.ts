// The output to the terminal. Control sequences are removed from external texts.

export type Output = {
  readonly isTerminal: boolean
  /** The width of the terminal; null if there is none. */
  readonly columns: number | null
  readonly color: Painter
  readonly isJson: boolean
  /** A line of the result. */
  line(text: string): void
  /** A piece of the result, without a line end. */
  piece(text: string): void
  /** One JSON value on a separate line. */
  json(value: unknown): void
  /** A text that is not part of the result: it goes to the error output. */
  note(text: string, color?: Color): void
  /** A line that the next one replaces; nothing without a terminal. */
  progress(text: string): void
}

const CODES = { dim: 2, bold: 1, red: 31, green: 32, yellow: 33, cyan: 36 } as const

export type Color = keyof typeof CODES
export type Painter = Record<Color, (text: string) => string>

export function painter(isOn: boolean): Painter {
  const paint = (code: number) => (text: string) => (isOn && text !== '' ? `\u001b[${code}m${text}\u001b[0m` : text)
  return Object.fromEntries(Object.entries(CODES).map(([name, code]) => [name, paint(code)])) as Painter
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const SEQUENCES = /\u001b\[[0-?]*[ -/]*[@-~]|\u001b[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[ -/]*[0-~]/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** External text without escape sequences, control characters and bidirectional marks; line ends and tabs are kept. */
export function clean(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll(SEQUENCES, '').replaceAll(CONTROLS, '')
}

/** A command that may require confirmation: invisible characters are shown as numbers, because they are executed too. */
export const cleanCommand = (text: string): string => clean(text.replaceAll(UNSEEN, numbered))

const UNSEEN =
  /(?![\t\n\r])[\p{Cc}\xad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\u{e0000}-\u{e007f}]/gu

const numbered = (mark: string): string =>
  `<U+${(mark.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`

/** Like `clean`, on one line. */
export const cleanLine = (text: string): string => clean(text).replaceAll(/\s+/g, ' ').trim()

/** JSON itself escapes the control characters below U+0020. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replaceAll(/[\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (mark) => {
    return `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

/** A progress line is shown, which the next line must erase. */
let pending = false

function endProgress(): void {
  if (pending) process.stderr.write('\r\u001b[K')
  pending = false
}

export function outputFor({ json, noColor }: { json: boolean; noColor: boolean }): Output {
  const { stdout, stderr, env } = process
  const isTerminal = stdout.isTTY === true
  const painterOf = ({ isTTY }: { isTTY?: boolean }) =>
    painter(isTTY === true && !noColor && !env.NO_COLOR && env.TERM !== 'dumb')
  const ofNotes = painterOf(stderr)
  return {
    isTerminal,
    // A terminal without a known size reports 0.
    columns: (isTerminal && stdout.columns) || null,
    isJson: json,
    color: painterOf(stdout),
    line: (text) => {
      endProgress()
      stdout.write(`${text}\n`)
    },
    piece: (text) => {
      endProgress()
      stdout.write(text)
    },
    json: (value) => {
      endProgress()
      stdout.write(`${jsonLine(value)}\n`)
    },
    note: (text, color) => {
      endProgress()
      stderr.write(`${color === undefined ? text : ofNotes[color](text)}\n`)
    },
    progress: (text) => {
      if (stderr.isTTY !== true) return
      stderr.write(`\r\u001b[K${cut(cleanLine(text), (stderr.columns || 80) - 1)}`)
      pending = true
    },
  }
}

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u
const NARROW_NONE = /\p{Mn}|\p{Me}|\u200d/u

/** The number of columns that a text needs. */
export function widthOf(text: string): number {
  let width = 0
  for (const sign of text) width += NARROW_NONE.test(sign) ? 0 : WIDE.test(sign) ? 2 : 1
  return width
}

export function cut(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text
  let kept = ''
  let width = 1
  for (const sign of text) {
    width += widthOf(sign)
    if (width > columns) break
    kept += sign
  }
  return `${kept}…`
}

export type Cell = string | { text: string; paint: (text: string) => string }

type TableOptions = {
  readonly out: Pick<Output, 'color' | 'columns'>
  /** The columns with numbers. */
  readonly right?: readonly number[]
  /** The column that is cut if the terminal is too narrow. */
  readonly gives?: number
}

const textOf = (cell: Cell | undefined) => (cell === undefined ? '' : typeof cell === 'string' ? cell : cell.text)
const painted = (cell: Cell | undefined, text: string) =>
  cell === undefined || typeof cell === 'string' ? text : cell.paint(text)

/** Columns as wide as their widest cell; if the terminal is too narrow, one line for each field. */
export function table(
  head: readonly string[],
  rows: readonly Cell[][],
  { out, right = [], gives }: TableOptions,
): string {
  const widths = head.map((title, i) => Math.max(widthOf(title), ...rows.map((row) => widthOf(textOf(row[i])))))
  const over =
    widths.reduce((sum, width) => sum + width, 2 * (head.length - 1)) - (out.columns ?? Number.POSITIVE_INFINITY)
  if (over > 0) {
    const left = gives === undefined ? 0 : (widths[gives] ?? 0) - over
    if (gives === undefined || left < NARROWEST) return fields(head, rows, out)
    widths[gives] = left
  }
  const lineOf = (cells: readonly Cell[]) =>
    cells
      .map((cell, i) => {
        const text = cut(textOf(cell), widths[i] ?? 0)
        const gap = ' '.repeat((widths[i] ?? 0) - widthOf(text))
        return right.includes(i) ? gap + painted(cell, text) : painted(cell, text) + gap
      })
      .join('  ')
      .trimEnd()
  return [lineOf(head.map((text) => ({ text, paint: out.color.dim }))), ...rows.map(lineOf)].join('\n')
}

/** A narrower text is not readable. */
const NARROWEST = 8

function fields(head: readonly string[], rows: readonly Cell[][], { color }: TableOptions['out']): string {
  const width = Math.max(...head.map(widthOf))
  const lineOf = (title: string, cell: Cell | undefined) =>
    `${color.dim(title)}${' '.repeat(width - widthOf(title))}  ${painted(cell, textOf(cell))}`
  return rows.map((row) => head.map((title, i) => lineOf(title, row[i])).join('\n')).join('\n\n')
}
