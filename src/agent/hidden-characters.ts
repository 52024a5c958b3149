// Characters that a reader does not see, or that change how the text around them looks. With them a user could confirm
// a different command than the one that was shown (CVE-2021-42574 uses the same trick in source code).

const HIDDEN = /(?![\t\n])[\p{Cc}\p{Cf}\u115f\u1160\u2028\u2029\u3164\uffa0]/gu

/** The text with each of them as an escape, for a user who must decide about it. Line ends and tabs stay. */
export const visible = (text: string): string => text.replace(HIDDEN, escaped)

function escaped(char: string): string {
  const code = (char.codePointAt(0) ?? 0).toString(16)
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`
}

/**
 * Characters without a use in a command: control characters, direction marks, zero-width spaces, fillers, tags. Joiners
 * are kept, because emoji and letters need them.
 */
const DECEPTIVE =
  /(?![\t\n\r])[\p{Cc}\xad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\u{e0000}-\u{e007f}]/u

export const holdsHidden = (text: string): boolean => DECEPTIVE.test(text)
