// A number for each term that shows quickly that two texts differ by too much, so that few terms must be compared by
// character. Each character sets one of 32 bits; an error removes at most one bit and adds at most one.

import type { NameTable } from './name-table.ts'

const known = new WeakMap<NameTable, Uint32Array>()

/** The signatures of the table's terms, computed when first needed. */
export function signaturesOf(table: NameTable): Uint32Array {
  const before = known.get(table)
  if (before !== undefined) return before
  const signatures = Uint32Array.from(table.texts, signatureOf)
  known.set(table, signatures)
  return signatures
}

export function signatureOf(text: string): number {
  let bits = 0
  for (let i = 0; i < text.length; i++) bits |= 1 << (Math.imul(text.charCodeAt(i), 0x9e3779b1) >>> 27)
  return bits >>> 0
}

/** False only if the texts of the two signatures differ by more than `most` errors. */
export function mayBeWithin(a: number, b: number, most: number): boolean {
  return bitCount(a & ~b) <= most && bitCount(b & ~a) <= most
}

function bitCount(bits: number): number {
  let left = bits
  let count = 0
  for (; left !== 0; count++) left &= left - 1
  return count
}
