// `shuf`: lines in random order, or in an order determined by the bytes of a file.

import { bytesOf, linesOf } from '../bytes.ts'
import type { TextCall } from '../call.ts'
import { curly, Misuse, refusal } from '../misuse.ts'
import { type GivenOptions, optionTable, readOptions } from '../options.ts'

const OPTIONS = optionTable('echo=e input-range=i: head-count=n: output=o: random-source: repeat=r zero-terminated=z')
const MAX_RANGE = 10_000_000
const BYTE = 256
const RANDOM_BYTES = 4096

export async function shuf(call: TextCall): Promise<void> {
  const given = readOptions(call.args, OPTIONS)
  const end = given.has('z') ? '\0' : '\n'
  const counts = given.list.filter(({ name }) => name === 'n').map(({ value }) => countOf(value ?? ''))
  const wanted = counts.length > 0 ? Math.min(...counts) : Infinity
  const lots = new Lots(await sourceOf(call, given))
  const lines = await linesIn(call, given, end)
  let shown: string[] = []
  if (given.has('r')) {
    if (wanted > 0 && lines.length === 0) throw refusal('no lines to repeat')
    if (wanted === Infinity) throw refusal('option -r without -n has no end and is not available here')
    for (let i = 0; i < wanted; i++) shown.push(lines[lots.draw(lines.length)] ?? '')
  } else {
    const isPiped = !given.has('e') && !given.has('i') && (given.operands[0] ?? '-') === '-'
    if (isPiped && wanted !== Infinity && given.has('random-source')) {
      throw refusal('option --random-source with -n needs a file here, not a pipe')
    }
    const kept = isPiped && wanted !== Infinity ? sample(lines, wanted, lots) : lines
    shown = drawn(kept, Math.min(wanted, kept.length), lots)
  }
  const text = shown.length === 0 ? '' : shown.join(end) + end
  const output = given.value('o')
  if (output === undefined) call.write(text)
  else await call.save(output, text)
}

function countOf(text: string): number {
  if (!/^\d+$/.test(text)) throw refusal(`invalid line count: ${curly(text)}`)
  return Number(text)
}

async function sourceOf(call: TextCall, given: GivenOptions): Promise<() => number> {
  const name = given.value('random-source')
  if (name === undefined) return randomBytes()
  const bytes = await call.mustRead(name)
  let at = 0
  return () => {
    if (at >= bytes.length) throw refusal(`${curly(name)}: end of file`)
    return bytes.charCodeAt(at++)
  }
}

function randomBytes(): () => number {
  const bytes = new Uint8Array(RANDOM_BYTES)
  let at = bytes.length
  return () => {
    if (at === bytes.length) {
      crypto.getRandomValues(bytes)
      at = 0
    }
    return bytes[at++] ?? 0
  }
}

async function linesIn(call: TextCall, given: GivenOptions, end: string): Promise<string[]> {
  if (given.has('e') && given.has('i')) throw new Misuse('cannot combine -e and -i options')
  if (given.has('e')) return given.operands.map(bytesOf)
  const ranges = given.list.filter(({ name }) => name === 'i')
  if (ranges.length > 1) throw refusal('multiple -i options specified')
  const range = given.value('i')
  const [name = '-', extra] = given.operands
  if (range !== undefined) {
    if (given.operands.length > 0) throw new Misuse(`extra operand ${curly(name)}`)
    return numbersOf(range)
  }
  if (extra !== undefined) throw new Misuse(`extra operand ${curly(extra)}`)
  return linesOf(await call.mustRead(name), end)
}

function numbersOf(range: string): string[] {
  const [, low, high] = /^(\d+)-(\d+)$/.exec(range) ?? []
  const count = Number(high) - Number(low) + 1
  if (low === undefined || count < 0) throw refusal(`invalid input range: ${curly(range)}`)
  if (count > MAX_RANGE) throw refusal(`input range ${curly(range)}: more than ${MAX_RANGE} numbers are not kept here`)
  return Array.from({ length: count }, (_, i) => String(Number(low) + i))
}

/** For a pipe, whose length is unknown in advance, only the requested number of lines is kept. */
function sample(lines: readonly string[], size: number, lots: Lots): string[] {
  const kept = lines.slice(0, size)
  for (let i = size; i < lines.length; i++) {
    const place = lots.draw(i + 1)
    if (place < size) kept[place] = lines[i] ?? ''
  }
  return kept
}

function drawn(lines: readonly string[], count: number, lots: Lots): string[] {
  const rest = [...lines]
  for (let i = 0; i < count; i++) {
    const place = i + lots.draw(rest.length - i)
    const taken = rest[place] ?? ''
    rest[place] = rest[i] ?? ''
    rest[i] = taken
  }
  return rest.slice(0, count)
}

/** Uniform numbers below a bound: the unused randomness of a byte is used for the next number. */
class Lots {
  readonly #nextByte: () => number
  #number = 0
  #largest = 0

  constructor(nextByte: () => number) {
    this.#nextByte = nextByte
  }

  draw(choices: number): number {
    const most = choices - 1
    for (;;) {
      while (this.#largest < most) {
        this.#number = this.#number * BYTE + this.#nextByte()
        this.#largest = this.#largest * BYTE + (BYTE - 1)
      }
      if (this.#largest === most) {
        const number = this.#number
        this.#number = 0
        this.#largest = 0
        return number
      }
      const excess = this.#largest - most
      const unusable = excess % choices
      const lastUsable = this.#largest - unusable
      if (this.#number <= lastUsable) {
        const number = this.#number % choices
        this.#number = Math.floor(this.#number / choices)
        this.#largest = Math.floor(excess / choices)
        return number
      }
      this.#number -= lastUsable + 1
      this.#largest = unusable - 1
    }
  }
}
