// Texts in characters, not in the units of which JavaScript's strings are made.

const WIDE = /[\ud800-\udbff]/

export function lengthOf(text: string): number {
  if (!WIDE.test(text)) return text.length
  let length = 0
  for (const _ of text) length++
  return length
}

/** The characters from the one place up to the other, both counted from 0. */
export function slice(text: string, from: number, to: number): string {
  return WIDE.test(text) ? [...text].slice(from, to).join('') : text.slice(from, to)
}
