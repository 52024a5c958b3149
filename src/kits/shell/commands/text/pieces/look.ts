// `look`: the lines of a sorted file that start with a text.

import { bytesOf } from '../bytes.ts'
import type { TextCall } from '../call.ts'
import { Misuse } from '../misuse.ts'
import { optionTable, readOptions } from '../options.ts'

const OPTIONS = optionTable('alternative=a alphanum=d ignore-case=f terminate=t:')
const DICTIONARY = '/usr/share/dict/words'

export async function look(call: TextCall): Promise<void> {
  const given = readOptions(call.args, OPTIONS)
  const [wanted, file] = given.operands
  if (wanted === undefined) throw new Misuse('bad usage')
  const bytes = await call.mustRead(file ?? DICTIONARY)
  const isDictionary = file === undefined
  const end = given.value('t')
  const whole = bytesOf(wanted)
  const text = end !== undefined && whole.includes(end) ? whole.slice(0, whole.indexOf(end) + 1) : whole
  const fold = folding({ alphanum: given.has('d') || isDictionary, ignoreCase: given.has('f') || isDictionary })
  const found = linesBeginningWith(bytes, fold(text), fold)
  call.write(found)
  if (found === '') call.exitCode = 1
}

function folding({ alphanum, ignoreCase }: { alphanum: boolean; ignoreCase: boolean }): (text: string) => string {
  return (text) => {
    const kept = alphanum ? text.replace(/[^A-Za-z0-9 \t]+/g, '') : text
    return ignoreCase ? kept.toLowerCase() : kept
  }
}

/** By binary search; in an unsorted file, the result depends on the visited lines. */
function linesBeginningWith(bytes: string, text: string, fold: (text: string) => string): string {
  const pastLine = (at: number) => {
    const end = bytes.indexOf('\n', at)
    return end < 0 ? bytes.length : end + 1
  }
  const compare = (at: number) => {
    const end = bytes.indexOf('\n', at)
    const line = fold(bytes.slice(at, end < 0 ? bytes.length : end)).slice(0, text.length)
    return text > line ? 1 : text < line ? -1 : 0
  }
  let [front, back] = [0, bytes.length]
  let middle = pastLine(front + Math.floor((back - front) / 2))
  while (middle < back && back > front) {
    if (compare(middle) > 0) front = middle
    else back = middle
    middle = pastLine(front + Math.floor((back - front) / 2))
  }
  let start = front
  while (start < bytes.length && compare(start) > 0) start = pastLine(start)
  let end = start
  while (end < bytes.length && compare(end) === 0) end = pastLine(end)
  return bytes.slice(start, end)
}
