// Ranges of numbers (`{1..20000}`). The interpreter leaves out all beyond the first ten thousand without a word, and counts
// what all loops of a script take together. So one that is a whole word is written out here, and others are parted.

import type { StepResult } from './shape.ts'
import { literal, type Part, type Word } from './words-alone.ts'

type Items = Extract<Part, { type: 'BraceExpansion' }>['items']
type Range = Extract<Items[number], { type: 'Range' }>
type Numbers = { first: number; step: number; count: number; width: number }

const MOST_OF_INTERPRETER = 10_000
/** Each is a word of its own in memory. */
const MOST = 100_000

/** Null for a range of letters. */
function numbersOf({ start, end, step, startStr, endStr }: Range): Numbers | null {
  if (typeof start !== 'number' || typeof end !== 'number') return null
  const each = Math.abs(step ?? 1) || 1
  const isPadded = [startStr, endStr].some((text) => /^-?0\d/.test(text ?? ''))
  const width = isPadded ? Math.max(startStr?.length ?? 0, endStr?.length ?? 0) : 0
  return { first: start, step: start <= end ? each : -each, count: Math.floor(Math.abs(end - start) / each) + 1, width }
}

function textAt({ first, step, width }: Numbers, i: number): string {
  const number = first + i * step
  return number < 0 ? `-${String(-number).padStart(width - 1, '0')}` : String(number).padStart(width, '0')
}

const RANGES = new WeakMap<Word, Numbers[]>()
const KNOWN = new WeakMap<Word, Word[]>()

/** Whether the word is nothing but ranges of numbers; to be asked before they are parted. */
export function isRange(word: Word): boolean {
  const [part, ...others] = word.parts
  if (part?.type !== 'BraceExpansion' || others.length > 0) return false
  const numbers: Numbers[] = []
  for (const item of part.items) {
    const some = item.type === 'Range' ? numbersOf(item) : null
    if (some === null) return false
    numbers.push(some)
  }
  RANGES.set(word, numbers)
  return true
}

/** Null for a word that is something else. */
export function wordsOfRange(word: Word): Word[] | StepResult | null {
  const numbers = RANGES.get(word)
  if (!numbers) return null
  const known = KNOWN.get(word)
  if (known) return known
  const count = numbers.reduce((sum, some) => sum + some.count, 0)
  if (count > MOST) {
    return { stdout: '', stderr: `bash: brace expansion: more than ${MOST} words, use seq\n`, exitCode: 1 }
  }
  const words = numbers.flatMap((some) => Array.from({ length: some.count }, (_, i) => literal(textAt(some, i))))
  if (count <= MOST_OF_INTERPRETER) KNOWN.set(word, words)
  return words
}

/** For a node of a script: parts a range that the interpreter would cut off. */
export function partRanges(node: object): void {
  if (!('type' in node) || node.type !== 'BraceExpansion' || !('items' in node)) return
  const part = node as { items: Items[number][] }
  part.items = part.items.flatMap((item) => (item.type === 'Range' ? parted(item) : [item])) as Items[number][]
}

function parted(range: Range): Items[number][] {
  const numbers = numbersOf(range)
  if (numbers === null || numbers.count <= MOST_OF_INTERPRETER) return [range]
  const parts: Items[number][] = []
  // One more than may be is enough for the interpreter to say that there are too many.
  const count = Math.min(numbers.count, MOST + MOST_OF_INTERPRETER)
  for (let from = 0; from < count; from += MOST_OF_INTERPRETER) {
    const to = Math.min(from + MOST_OF_INTERPRETER, numbers.count) - 1
    const item: Range = {
      ...range,
      start: numbers.first + from * numbers.step,
      end: numbers.first + to * numbers.step,
      startStr: textAt(numbers, from),
      endStr: textAt(numbers, to),
    }
    parts.push({ type: 'Word', word: { type: 'Word', parts: [{ type: 'BraceExpansion', items: [item] }] } })
  }
  return parts
}
