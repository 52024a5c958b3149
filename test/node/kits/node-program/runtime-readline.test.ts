// `node:readline` of the isolate beside the real one: the same lines, however the input is cut.

import realReadline from 'node:readline'
import { Readable } from 'node:stream'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readline as ourReadline } from '../../../../src/kits/node-program/runtime/readline.ts'

async function heard(
  readline: { createInterface(options: { input: Readable }): NodeJS.EventEmitter },
  chunks: Buffer[],
) {
  const lines: string[] = []
  const input = Readable.from(chunks)
  const reader = readline.createInterface({ input })
  reader.on('line', (line: string) => lines.push(line))
  await new Promise<void>((resolve) => void reader.once('close', () => resolve()))
  return lines
}

const pieces = fc.array(fc.constantFrom('a', 'é', '😀', '\r', '\n', '\r\n', '\u2028', ''), { maxLength: 12 })

test('line ends of all kinds, also between two chunks and inside a character', async () => {
  await fc.assert(
    fc.asyncProperty(pieces, fc.array(fc.nat({ max: 5 }), { maxLength: 12 }), async (texts, cuts) => {
      const whole = Buffer.from(texts.join(''))
      const chunks: Buffer[] = []
      let from = 0
      for (const cut of cuts) {
        if (cut > 0 && from < whole.length) chunks.push(whole.subarray(from, from + cut))
        from += cut
      }
      if (from < whole.length) chunks.push(whole.subarray(from))
      expect(await heard(ourReadline, chunks)).toEqual(await heard(realReadline, chunks))
    }),
    { numRuns: 200 },
  )
})

test('a loop over lines has them all', async () => {
  const makers = [
    (input: Readable) => ourReadline.createInterface({ input }),
    (input: Readable) => realReadline.createInterface({ input }),
  ]
  for (const make of makers) {
    const lines: string[] = []
    for await (const line of make(Readable.from(['first\r\nsec', 'ond\nthird']))) lines.push(line)
    expect(lines).toEqual(['first', 'second', 'third'])
  }
})

test('a question takes one line; those behind it are left to who asks next', async () => {
  const reader = ourReadline.createInterface({ input: Readable.from(['first\r\nsecond\nthird']) })
  const answer = await new Promise((resolve) => reader.question('', resolve))
  const rest: string[] = []
  for await (const line of reader) rest.push(line)
  expect([answer, rest]).toEqual(['first', ['second', 'third']])
})
