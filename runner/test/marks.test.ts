// What the scanner takes out of a terminal's output, and that it takes nothing else.

import { expect, test } from 'vitest'
import { type Mark, MarkScanner } from '../src/session/marks.ts'

const NONCE = 'n0nce'
const mark = (text: string) => `\x1e${NONCE}${text}\x1f`
const prompt = (...fields: string[]) => mark(`P${fields.join('\x1d')}`)
const PROMPT = prompt('0', '42', 'ann', 'box', '/usr/bin/python3', '/workspace')

/** What is shown and told of an output that comes in pieces of so many bytes. */
function scanned(output: string, pieceBytes = Number.POSITIVE_INFINITY): { shown: string; marks: Mark[] } {
  const shown: Buffer[] = []
  const marks: Mark[] = []
  const events = { onBytes: (bytes: Buffer) => shown.push(Buffer.from(bytes)), onMark: (one: Mark) => marks.push(one) }
  const scanner = new MarkScanner(NONCE, events)
  const bytes = Buffer.from(output)
  const size = Math.min(pieceBytes, bytes.byteLength)
  for (let at = 0; at < bytes.byteLength; at += size) scanner.push(bytes.subarray(at, at + size))
  return { shown: Buffer.concat(shown).toString(), marks }
}

test('marks are told and all else is shown, wherever the output is cut', () => {
  const output = `before${mark('S')}one\n${PROMPT}two ü\x1e\x1ethree${mark('E7,0')}\x1f${mark('E255,1')}end`
  const marks = [
    { kind: 'started' },
    {
      kind: 'prompt',
      prompt: { status: 0, pid: 42, user: 'ann', host: 'box', interpreter: '/usr/bin/python3', cwd: '/workspace' },
    },
    { kind: 'shell-ended', status: 7, isSaved: true },
    { kind: 'shell-ended', status: 255, isSaved: false },
  ]
  for (let size = 1; size <= output.length + 1; size++)
    expect([size, scanned(output, size)]).toEqual([size, { shown: 'beforeone\ntwo ü\x1e\x1ethree\x1fend', marks }])
})

test('a folder may have any byte in its name', () => {
  const { marks } = scanned(prompt('1', '7', 'u', 'h', 'i', '/a%25b%1Dc%1Ed%1Fe%20'))
  expect(marks).toMatchObject([{ prompt: { status: 1, pid: 7, cwd: '/a%b\x1dc\x1ed\x1fe%20' } }])
})

test('what only looks like a mark is shown whole', () => {
  const fakes = [
    ...[mark(''), mark('s'), mark('S '), mark('E'), mark('E7'), mark('E7,2'), mark('E1000,0'), mark('E-1,0')],
    `\x1eother${'S'}\x1f`,
    `\x1e${NONCE.toUpperCase()}S\x1f`,
    prompt('0', '42', 'ann', 'box', 'python3'),
    prompt('0', '42', 'ann', 'box', 'python3', '/w', 'more'),
    prompt('x', '42', 'ann', 'box', 'python3', '/w'),
    prompt('1000', '42', 'ann', 'box', 'python3', '/w'),
    prompt('0', '', 'ann', 'box', 'python3', '/w'),
    prompt('0', '12345678901', 'ann', 'box', 'python3', '/w'),
  ]
  for (const fake of fakes) {
    expect(scanned(`a${fake}b${PROMPT}`)).toMatchObject({ shown: `a${fake}b`, marks: [{ kind: 'prompt' }] })
  }
})

test('the beginning of a mark is held back, and shown once it is longer than any mark', () => {
  const begun = `\x1e${NONCE}P`
  expect(scanned(`shown${begun}`).shown).toBe('shown')
  expect(scanned('shown\x1e').shown).toBe('shown')
  const rest = 32 * 1024 - begun.length
  expect(scanned(begun + 'x'.repeat(rest - 1), 4_000).shown).toBe('')
  expect(scanned(begun + 'x'.repeat(rest), 4_000).shown).toHaveLength(32 * 1024)
})
