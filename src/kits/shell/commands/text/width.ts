// The number of terminal columns of a text: two for wide East Asian characters and emoji, none for combining marks.

const MARK = /\p{Mn}|\p{Me}|\p{Cf}/u
const PICTURE = /\p{Emoji_Presentation}/u
const PLAIN = /^[\x20-\x7e]*$/

/** The first and last of the ranges of wide characters. */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0xa000, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x20000, 0x3fffd],
]

export function columnsOf(text: string): number {
  if (PLAIN.test(text)) return text.length
  let columns = 0
  for (const char of text) columns += charColumns(char)
  return columns
}

function charColumns(char: string): number {
  const code = char.codePointAt(0) ?? 0
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return 0
  if (code < 0x300) return 1
  if (MARK.test(char) && code !== 0xad) return 0
  if (WIDE.some(([first, last]) => code >= first && code <= last)) return 2
  return PICTURE.test(char) ? 2 : 1
}
