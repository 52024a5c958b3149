// What a shell prints while no call listens, and what the next call hears of it.

import { expect, test } from 'vitest'
import { IdleOutput } from '../src/session/call-shell.ts'

const MOST = 1024 * 1024

/** What the next call gets once these were printed, and what it is told. */
function handed(between: IdleOutput, ...printed: readonly Buffer[]): { shown: string; remarks: string[] } {
  for (const bytes of printed) between.push(bytes)
  const remarks = new Set<string>()
  const shown: Buffer[] = []
  between.handTo({ remarks, output: { push: (bytes) => void shown.push(bytes) } })
  return { shown: Buffer.concat(shown).toString('latin1'), remarks: [...remarks] }
}

const text = (length: number, letter: string) => Buffer.alloc(length, letter)

test('what was printed comes once, to the next call, in its order', () => {
  const between = new IdleOutput()
  const reused = Buffer.from('one ')
  between.push(reused)
  // The terminal reads the next piece into the same memory.
  reused.fill('x')
  expect(handed(between, Buffer.from('two'))).toEqual({ shown: 'one two', remarks: [] })
  expect(handed(between)).toEqual({ shown: '', remarks: [] })
})

test('of more than a mebibyte the last is kept to the byte, and how much is missing is told once', () => {
  const between = new IdleOutput()
  const told = (bytes: number) => [`${bytes} bytes of output between two calls are not shown.`]
  expect(handed(between, text(MOST, 'a'))).toEqual({ shown: 'a'.repeat(MOST), remarks: [] })
  const cut = handed(between, text(10, 'a'), text(MOST - 4, 'b'))
  expect([cut.shown.length, cut.shown.lastIndexOf('a'), cut.remarks]).toEqual([MOST, 3, told(6)])
  const several = handed(between, text(3, 'a'), text(4, 'b'), text(MOST, 'c'), text(2, 'd'))
  expect([several.shown.length, several.shown.indexOf('d'), several.remarks]).toEqual([MOST, MOST - 2, told(9)])
  expect(several.shown.startsWith('c')).toBe(true)
  const large = handed(between, text(2 * MOST + 5, 'e'))
  expect([large.shown.length, large.remarks]).toEqual([MOST, told(MOST + 5)])
  expect(handed(between, Buffer.from('f'))).toEqual({ shown: 'f', remarks: [] })
})
