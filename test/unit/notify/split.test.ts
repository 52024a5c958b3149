import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Line } from '../../../src/notify/channel.ts'
import { partsOf } from '../../../src/notify/message.ts'
import { CHANNEL_KINDS, CHANNELS } from '../../../src/notify/registry.ts'
import { sizeOf, split } from '../../../src/notify/split.ts'
import { SETTINGS } from './settings.ts'

const letters = (text: string): string => text.replace(/\s+/g, '')
const LONE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/

/** Pieces of a report: headings, lists, tables, escapes, Chinese, emoji, and long runs without a place to pause. */
const piece = fc.oneof(
  fc.constantFrom(
    '# 贵州茅台（600519）\n\n',
    '## Risks\n\n',
    '- **Score**: 71/100\n',
    '| a | b |\n| --- | --- |\n',
    '| 1 | 2 |\n',
  ),
  fc.constantFrom(
    '跌破支撑位。',
    '\\*not bold\\*',
    '\n\n',
    ' ',
    '🚀🚀',
    '👨‍👩‍👧',
    '\\\\',
    '**',
    '<b>&amp;',
    '-',
    '---\n',
  ),
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.integer({ min: 1, max: 900 }).map((n) => '字'.repeat(n)),
  fc.integer({ min: 1, max: 2_000 }).map((n) => '𠮷'.repeat(n)),
  fc.integer({ min: 1, max: 3_000 }).map((n) => 'x'.repeat(n)),
)
const text = fc.array(piece, { minLength: 1, maxLength: 40 }).map((pieces) => pieces.join(''))

test('parts are within the limit, in order, without loss, and no character is cut in half, whatever the limit counts', () => {
  const limit = fc.record({
    unit: fc.constantFrom('bytes' as const, 'json_bytes' as const, 'characters' as const),
    max: fc.integer({ min: 16, max: 5_000 }),
  })
  fc.assert(
    fc.property(text, limit, (source, { unit, max }) => {
      const parts = split(source, (one) => sizeOf(one, unit) <= max)
      expect(parts.filter((part) => sizeOf(part, unit) > max)).toEqual([])
      expect(letters(parts.join(''))).toBe(letters(source))
      expect(parts.filter((part) => LONE.test(part))).toEqual([])
    }),
    { numRuns: 150 },
  )
})

test('every channel keeps its own limit with its markup and its numbers in place', () => {
  const lines: [string, Line][] = CHANNEL_KINDS.map((kind) => [
    kind,
    CHANNELS[kind].open(SETTINGS[kind]('http://127.0.0.1')),
  ])
  fc.assert(
    fc.property(text, fc.constantFrom(...lines), fc.string({ maxLength: 300 }), (markdown, [kind, line], title) => {
      const parts = partsOf({ title, markdown }, line)
      const of = parts.length
      const sizes = parts.map((part, i) =>
        sizeOf(line.render({ title, markdown: part, n: i + 1, of }), line.limit.unit),
      )
      expect(
        sizes.filter((size) => size > line.limit.max),
        kind,
      ).toEqual([])
      expect(letters(parts.join('')), kind).toBe(letters(markdown))
    }),
    { numRuns: 150 },
  )
})

test('a text is cut before a heading rather than inside a section, and inside a word only when nothing else is left', () => {
  const section = (name: string, size: number) => `## ${name}\n\n${'word '.repeat(size).trim()}\n\n`
  const source = `${section('One', 10)}${section('Two', 10)}${section('Three', 30)}`
  const parts = split(source, (one) => one.length <= 140)
  expect(parts.map((part) => part.split('\n')[0])).toEqual(['## One', '## Three', expect.stringMatching(/^word/)])
  expect(
    parts.every((part) => part.split(/\s+/).every((word) => ['##', 'One', 'Two', 'Three', 'word'].includes(word))),
  ).toBe(true)
})

test('a text is cut after a blank line before a line, after a line before a sentence, and after a sentence before a word', () => {
  const cut = (source: string, max: number) => split(source, (one) => one.length <= max)
  expect(cut('one\ntwo\n\nthree\nfour', 14)).toEqual(['one\ntwo', 'three\nfour'])
  expect(cut('one. two\nthree. four', 15)).toEqual(['one. two', 'three. four'])
  expect(cut('One two. Three four! Five', 21)).toEqual(['One two. Three four!', 'Five'])
  expect(cut('One two. Three four five', 16)).toEqual(['One two.', 'Three four five'])
  expect(cut('涨了。跌了，又涨', 5)).toEqual(['涨了。', '跌了，又涨'])
  expect(cut('1.5 and 2.5', 8)).toEqual(['1.5 and', '2.5'])
  expect(cut('一二，三四', 3)).toEqual(['一二，', '三四'])
})

test('blank space at a cut goes, the indent of a line stays, and a text of blanks has no parts', () => {
  const cut = (source: string, max: number) => split(source, (one) => one.length <= max)
  expect(cut('\n\n  indented\n\n\nnext  \n', 12)).toEqual(['  indented', 'next'])
  expect(cut(' \n\n ', 2)).toEqual([])
  expect(cut('', 2)).toEqual([])
})

test('a cut inside a word leaves a character and an escape whole, even where nothing fits', () => {
  const cut = (source: string, max: number) => split(source, (one) => one.length <= max)
  expect(cut('abcdef', 4)).toEqual(['abcd', 'ef'])
  expect(cut('a🚀🚀b', 2)).toEqual(['a', '🚀', '🚀', 'b'])
  expect(cut('ab\\*cd', 3)).toEqual(['ab', '\\*c', 'd'])
  expect(cut('a\\\\*', 3)).toEqual(['a\\\\', '*'])
  expect(cut('\\*🚀x', 0)).toEqual(['\\*', '🚀', 'x'])
  expect(cut('\\🚀x', 1)).toEqual(['\\🚀', 'x'])
})
