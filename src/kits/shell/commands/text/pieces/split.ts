// `split`: splits a file into several parts.

import type { TextCall } from '../call.ts'
import { curly, Misuse, refusal } from '../misuse.ts'
import { type GivenOptions, optionTable, readOptions } from '../options.ts'
import { partition } from './split-parts.ts'

const OPTIONS = optionTable(`suffix-length=a: additional-suffix: bytes=b: line-bytes=C: d numeric-suffixes::
  x hex-suffixes:: elide-empty-files=e lines=l: number=n: separator=t: verbose unbuffered=u`)
const LETTERS = 'abcdefghijklmnopqrstuvwxyz'
const DIGITS = '0123456789abcdef'
const MAX_PARTS = 100_000

export async function split(call: TextCall): Promise<void> {
  const args = call.args.map((arg) => (/^-\d+$/.test(arg) ? `-l${arg.slice(1)}` : arg))
  const given = readOptions(args, OPTIONS)
  const [input = '-', prefix = 'x', extra] = given.operands
  if (extra !== undefined) throw new Misuse(`extra operand ${curly(extra)}`)
  const length = given.value('a')
  if (length !== undefined && !/^\d+$/.test(length)) throw refusal(`invalid suffix length: ${curly(length)}`)
  const partsOf = partition(given)
  const bytes = await call.mustRead(input, (reason) =>
    reason === 'Is a directory' ? `${input}: ${reason}` : `cannot open '${input}' for reading: ${reason}`,
  )
  const { texts, only } = partsOf(bytes)
  if (only !== null) return call.write(texts[only - 1] ?? '')
  const parts = given.has('e') ? texts.filter((text) => text !== '') : texts
  if (parts.length > MAX_PARTS) throw refusal(`more than ${MAX_PARTS} parts are not made here`)
  const nameOf = naming(given, parts.length)
  for (const [i, text] of parts.entries()) {
    const name = prefix + nameOf(i)
    if (given.has('verbose')) call.writeText(`creating file '${name}'\n`)
    await call.save(name, text)
    await call.pause()
  }
}

/** Suffixes get two more letters before the first letter reaches the end of the alphabet. */
function naming(given: GivenOptions, count: number): (part: number) => string {
  const numeric = given.list.findLast(({ name }) => ['d', 'numeric-suffixes', 'x', 'hex-suffixes'].includes(name))
  const isHex = numeric?.name === 'x' || numeric?.name === 'hex-suffixes'
  const alphabet = numeric === undefined ? LETTERS : DIGITS.slice(0, isHex ? 16 : 10)
  const more = given.value('additional-suffix') ?? ''
  if (more.includes('/')) throw new Misuse(`invalid suffix ${curly(more)}, contains directory separator`)
  const digits = isHex ? /^[0-9a-f]+$/i : /^\d+$/
  if (numeric?.value != null && !digits.test(numeric.value)) {
    throw refusal(`${numeric.value}: invalid start value for ${isHex ? 'hexadecimal' : 'numerical'} suffix`)
  }
  const first = numeric?.value == null ? 0 : Number.parseInt(numeric.value, isHex ? 16 : 10)
  const length = given.value('a')
  const chunks = given.has('n') ? Math.max(2, digitsFor(count - 1 + (given.has('n') ? first : 0), alphabet.length)) : 2
  const fixed = Number(length ?? 0) || (given.has('n') || numeric?.value != null ? chunks : 0)
  return (part) => {
    const text = fixed > 0 ? inAlphabet(part + first, alphabet, fixed) : growing(part, alphabet)
    if (text === null) throw refusal('output file suffixes exhausted')
    return text + more
  }
}

function digitsFor(largest: number, base: number): number {
  let digits = 1
  for (let left = largest; left >= base; left = Math.floor(left / base)) digits++
  return digits
}

function inAlphabet(number: number, alphabet: string, length: number): string | null {
  let [text, left] = ['', number]
  for (let i = 0; i < length; i++) {
    text = alphabet.charAt(left % alphabet.length) + text
    left = Math.floor(left / alphabet.length)
  }
  return left > 0 ? null : text
}

function growing(part: number, alphabet: string): string {
  const last = alphabet.charAt(alphabet.length - 1)
  let [left, length, lead] = [part, 2, '']
  for (;;) {
    // The last letter at the start means that more letters follow.
    const room = (alphabet.length - 1) * alphabet.length ** (length - 1)
    if (left < room) return lead + (inAlphabet(left, alphabet, length) ?? '')
    left -= room
    lead += last
    length++
  }
}
