import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findJsonBreak } from '../../../src/http/validation-items.ts'

const accepts = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    // A refusal is the answer here; its text differs between runtimes.
    return false
  }
}

/** JSON with a few characters cut out, doubled or replaced: mostly broken, sometimes still whole. */
const nearlyJson = fc
  .tuple(
    fc.json({ maxDepth: 4 }),
    fc.array(fc.tuple(fc.nat(), fc.constantFrom(...'{}[],:"\\ue1.-+0t \n\u0001')), { maxLength: 3 }),
  )
  .map(([json, edits]) =>
    edits.reduce((text, [at, char]) => {
      const index = at % (text.length + 1)
      return at % 3 === 0
        ? text.slice(0, index) + text.slice(index + 1)
        : text.slice(0, index) + char + text.slice(index)
    }, json),
  )

test('the scan finds a break exactly where the parser refuses, and nothing before it breaks', () => {
  fc.assert(
    fc.property(nearlyJson, (text) => {
      const found = findJsonBreak(text)
      expect(found === null).toBe(accepts(text))
      if (found === null) return
      const characters = [...text]
      expect(found.offset).toBeGreaterThanOrEqual(0)
      expect(found.offset).toBeLessThanOrEqual(characters.length)
      // What stands before the break is the beginning of some JSON: the scan of it alone breaks at its end or in its last token.
      const before = characters.slice(0, found.offset).join('')
      expect(findJsonBreak(before)?.offset ?? found.offset).toBeLessThanOrEqual(found.offset)
    }),
    { numRuns: 3000 },
  )
})

test('depth and length cannot hurt the scan', () => {
  expect(findJsonBreak('['.repeat(1_000_000))).toEqual({ offset: 1_000_000, reason: 'Expecting value' })
  const long = `["${'a\\n'.repeat(1_000_000)}" x]`
  expect(findJsonBreak(long)).toEqual({ offset: long.length - 2, reason: "Expecting ',' delimiter" })
})
