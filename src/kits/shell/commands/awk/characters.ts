// Texts as characters, not as JavaScript's UTF-16 units.

const WIDE = /[\ud800-\udbff]/

export function lengthOf(text: string): number {
  if (!WIDE.test(text)) return text.length
  let length = 0
  for (const _ of text) length++
  return length
}

/** The characters between two positions, both counted from 0. */
export function slice(text: string, from: number, to: number): string {
  return WIDE.test(text) ? [...text].slice(from, to).join('') : text.slice(from, to)
}
