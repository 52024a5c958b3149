// A text that a person reads and agrees to says no more and nothing else than it shows: characters that move the cursor,
// turn the direction of writing, or take no room are written as escapes. Line ends and tabs stay.

const HIDDEN = /(?![\t\n])[\p{Cc}\p{Cf}\u2028\u2029]/gu

export const visible = (text: string): string => text.replace(HIDDEN, escaped)

function escaped(char: string): string {
  const code = (char.codePointAt(0) ?? 0).toString(16)
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`
}
