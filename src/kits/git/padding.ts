// `%<(20)`, `%>|(40,trunc)` and similar: the width of the next field of a format.

/** Longer than any line. */
const MAX_WIDTH = 16 * 1024
const TERMINAL_COLUMNS = 80

export interface Padding {
  /** The alignment of the text; `steal` also uses preceding blanks if there is no space. */
  side: 'left' | 'right' | 'middle' | 'steal'
  width: number
  /** The width is counted from the beginning of the line. */
  isColumn: boolean
  cut: 'trunc' | 'ltrunc' | 'mtrunc' | null
}

// As C reads a number: blanks and a sign before it, and whatever stands behind it.
const FORM = /^(<|><|>>|>)(\|?)\(\s*([-+]?\d+)[^,)]*(?:,(trunc|ltrunc|mtrunc))?\)$/

/** The text after the `%`; null if it is not such a placeholder, which is printed unchanged. */
export function parsePadding(text: string): Padding | null {
  const [, sign, column, digits = '', cut] = FORM.exec(text) ?? []
  const isColumn = column === '|'
  const given = Number(digits)
  const width = given < 0 && isColumn ? given + TERMINAL_COLUMNS : given
  if (sign === undefined || given === 0 || width < 0 || Math.abs(given) > MAX_WIDTH) return null
  const side = sign === '<' ? 'left' : sign === '><' ? 'middle' : sign === '>>' ? 'steal' : 'right'
  return { side, width, isColumn, cut: (cut as Padding['cut']) ?? null }
}

/** The text so far with the padded field after it. */
export function withPadded(before: string, field: string, { side, width, isColumn, cut }: Padding): string {
  const room = isColumn ? width - columns(before.slice(before.lastIndexOf('\n') + 1)) : width
  const taken = columns(field)
  if (side === 'steal' && taken > room) {
    const kept = before.replace(/ +$/, '')
    const stolen = Math.min(before.length - kept.length, taken - room)
    return placed(before.slice(0, before.length - stolen), field, { side, room: room + stolen, cut })
  }
  return placed(before, field, { side, room, cut })
}

type FieldLayout = Pick<Padding, 'side' | 'cut'> & { room: number }

function placed(before: string, field: string, { side, room, cut }: FieldLayout): string {
  const blanks = room - columns(field)
  if (blanks < 0) return before + shortened(field, room, cut)
  const front = side === 'left' ? 0 : side === 'middle' ? Math.floor(blanks / 2) : blanks
  return before + ' '.repeat(front) + field + ' '.repeat(blanks - front)
}

function shortened(field: string, room: number, cut: Padding['cut']): string {
  const away = columns(field) - (room - 2)
  if (cut === 'trunc') return without(field, room - 2, away)
  if (cut === 'ltrunc') return without(field, 0, away)
  return cut === 'mtrunc' ? without(field, Math.floor(room / 2) - 1, away) : field
}

/** Two dots instead of that many columns. */
function without(field: string, from: number, count: number): string {
  let at = 0
  let kept = ''
  let hasDots = false
  for (const char of field) {
    const isCut = at >= from && at < from + count
    if (isCut && !hasDots) kept += '..'
    if (isCut) hasDots = true
    else kept += char
    at += columns(char)
  }
  return kept
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: this is what the signs of a terminal begin with
const TERMINAL_SIGN = /\x1b\[[0-9;]*m/g
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]/u

/** On a terminal; control sequences have no width. */
function columns(text: string): number {
  let count = 0
  for (const char of text.replace(TERMINAL_SIGN, '')) count += WIDE.test(char) ? 2 : /\p{M}|\p{Cc}/u.test(char) ? 0 : 1
  return count
}
