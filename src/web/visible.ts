// Makes characters visible that are invisible or change the display of the text around them: in confirmations and
// diffs, the displayed text must be the text that runs (CVE-2021-42574 is the same trick in source code).

/** Invisible characters, and control characters except tabs and line ends. */
const UNSEEN = /(?![\t\n\r])[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb]/gu
/**
 * Characters that are part of an emoji: a variation selector or joiner after one, the letters of a flag. Joiners also
 * shape letters of some scripts.
 */
const WANTED = [
  String.raw`\u{1f3f4}[\u{e0020}-\u{e007e}]{1,6}\u{e007f}`,
  String.raw`\p{Extended_Pictographic}(?:[\ufe0e\ufe0f]|\p{Emoji_Modifier}|\u200d\p{Extended_Pictographic})+`,
  String.raw`[\d#*]\ufe0f\u20e3`,
  String.raw`[^\u0000-\u024f][\u200c\u200d](?=[^\u0000-\u024f])`,
].join('|')

/** The text with each invisible character as its number, `⟨U+202E⟩`. */
export function visible(text: string): string {
  const shown: string[] = []
  let from = 0
  for (const { 0: wanted, index } of text.matchAll(new RegExp(WANTED, 'gu'))) {
    shown.push(marked(text.slice(from, index)), wanted)
    from = index + wanted.length
  }
  return shown.join('') + marked(text.slice(from))
}

const marked = (text: string): string => text.replaceAll(UNSEEN, (character) => `⟨U+${numberOf(character)}⟩`)

const numberOf = (character: string): string =>
  (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
