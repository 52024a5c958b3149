// Characters that a reader does not see, or that change what is seen around them: with them a person could confirm another
// command than the one that was shown (CVE-2021-42574 is the same trick in source code).

const HIDDEN = /(?![\t\n])[\p{Cc}\p{Cf}\u115f\u1160\u2028\u2029\u3164\uffa0]/gu

/** The text with each of them as an escape, for whoever is to decide by it. Line ends and tabs stay. */
export const visible = (text: string): string => text.replace(HIDDEN, escaped)

function escaped(char: string): string {
  const code = (char.codePointAt(0) ?? 0).toString(16)
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`
}

/** Of no use in a command: controls, marks of direction, spaces of no width, fillers, tags. Joiners make emoji and letters. */
const DECEPTIVE =
  /(?![\t\n\r])[\p{Cc}\xad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\u{e0000}-\u{e007f}]/u

export const holdsHidden = (text: string): boolean => DECEPTIVE.test(text)
