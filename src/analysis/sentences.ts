// A sentence ends at its mark; a point only where a blank or the end follows, so that figures stay whole.
const SENTENCE = /[^。！？!?；;\n.]*(?:\.(?=\S)[^。！？!?；;\n.]*)*(?:[。！？!?；;\n]+|\.(?=\s|$)|$)\s*/g

/** The text in sentences, each with its mark and the blanks after it. */
export function sentencesIn(text: string): string[] {
  return (text.match(SENTENCE) ?? []).filter((sentence) => sentence !== '')
}

/** The text with whatever parts it from a following sentence: nothing after a full-width mark. */
export function followed(text: string): string {
  return /[。！？；]$/.test(text) ? text : `${text} `
}
