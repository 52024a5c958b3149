// The sample of the corpora: what it takes, and how it is chosen.

import { runInThisContext } from 'node:vm'
import { expect, test } from 'vitest'
import { cover } from '../../../../scripts/kit-sample/cover.ts'
import { Rewriter } from '../../../../scripts/kit-sample/places.ts'
import { alwaysRun, chosenOf, readSample, textOfSample } from '../../../support/kit-sample/sample.ts'
import { entriesOf, themes } from '../../../support/shell-corpus.ts'
import { optionsByProgram } from '../../../support/shell-options.ts'

const entry = (name: string, script = `echo ${name}`) => ({ id: `theme/${name}`, theme: 'theme', script })
const program = (script: string) => ({ id: 'programs-awk/1', theme: 'programs-awk', script })
const sampleOf = (entries: Parameters<typeof chosenOf>[2], ...chosen: string[]) =>
  readSample(textOfSample(new Map([['theme', { entries, chosen: new Set(chosen) }]]))).get('theme')

test('the sample has what was chosen, and what is new or was changed since', () => {
  const sample = sampleOf([entry('a'), entry('b'), entry('c')], 'b')
  const now = [entry('a'), entry('b'), entry('c', 'echo another'), entry('d')]
  expect(chosenOf(sample, 'theme', now).map(({ id }) => id)).toEqual(['theme/b', 'theme/c', 'theme/d'])
  expect(chosenOf(undefined, 'a new theme', now)).toEqual(now)
})

test('programs have no names: they are known by what they are, in one line', () => {
  const [first, second] = [program('awk \'{\n print "x" }\''), program('awk 1 f.txt')]
  const sample = sampleOf([first, second], String.raw`awk '{\n print \"x\" }'`)
  expect(chosenOf(sample, 'programs-awk', [program('awk 2 f.txt'), second, first])).toEqual([
    program('awk 2 f.txt'),
    first,
  ])
})

test('a sample that names what is gone says what to do', () => {
  const sample = sampleOf([entry('a'), entry('b')], 'a', 'b')
  expect(() => chosenOf(sample, 'theme', [entry('b')])).toThrow(
    'the sample of theme names what is no longer in the corpus: a. Make it again with "npm run sample".',
  )
})

test('the samples as they are kept are a part of their corpora', () => {
  const commands = themes().map((theme) => [alwaysRun('commands', theme, entriesOf(theme)), entriesOf(theme)] as const)
  const options = [...optionsByProgram()].map(([group, all]) => {
    const entries = all.map((tried) => tried.entry)
    return [alwaysRun('options', group, entries), entries] as const
  })
  for (const pairs of [commands, options]) {
    const [some, all] = [0, 1].map((side) => pairs.reduce((sum, pair) => sum + (pair[side]?.length ?? 0), 0))
    expect(some).toBeGreaterThan(200)
    expect(some).toBeLessThan((all ?? 0) / 2)
  }
})

test('all that can be reached is reached, by what is cheap, and as much as the budget allows', () => {
  const candidate = (cost: number, ...reached: number[]) => ({ cost, favour: 1, reached: Uint32Array.from(reached) })
  const candidates = [candidate(9, 1, 2, 3), candidate(1, 1), candidate(1, 2, 1), candidate(1, 3), candidate(9, 4)]
  expect(cover(candidates)).toEqual([2, 3, 4])
  expect(cover(candidates, 2)).toEqual([2, 3])
  expect(cover(candidates.map((one, at) => ({ ...one, favour: at === 0 ? 0.01 : 1 })))).toEqual([0, 4])
})

test('a marked file does what it did, and says which way it went', () => {
  const text = `
function f(a, { b = 2 } = {}) {
  switch (a) {
    case 1:
      // A comment before the first statement.
      return a < b && !/x/.test('x') ? 'less' : 'not'
    default:
      for (const one of [a?.c?.has(1) ?? 'nothing']) return one
  }
}`
  const { lines, run } = marked(text)
  expect(run('f(1)')).toEqual({ value: 'not', lines: [2, 4, 6] })
  expect(run('f(1, { b: 0 })').value).toBe('not')
  expect(run('f(2)')).toEqual({ value: 'nothing', lines: [2, 7, 8] })
  expect(run('f({ c: new Set([1]) })').value).toBe(true)
  expect(lines).toEqual([...lines].sort((a, b) => a - b))
  const words = new Rewriter('a.ts', text, 0)
  words.code()
  expect([...words.texts]).toEqual(['less', 'not', 'nothing'])
})

function marked(text: string) {
  const rewriter = new Rewriter('a.ts', text, 0)
  const code = rewriter.code()
  const run = (call: string) => {
    const scope = globalThis as { __kitMarks?: { __m: Uint8Array } }
    scope.__kitMarks?.__m.fill(0)
    const value: unknown = runInThisContext(`{ ${code}\n${call} }`)
    const marks = scope.__kitMarks?.__m ?? new Uint8Array(0)
    const lines = rewriter.lines.filter((_, at) => marks[at] === 1)
    return { value, lines: [...new Set(lines)].sort((a, b) => a - b) }
  }
  return { lines: rewriter.lines, run }
}
