// `expand` and `unexpand`: converts tabs to blanks, and blanks to tabs.

import type { TextCall } from './call.ts'
import { curly, refusal } from './misuse.ts'
import { type GivenOptions, optionTable, readOptions } from './options.ts'

const EXPAND = optionTable('initial=i tabs=t:')
const UNEXPAND = optionTable('all=a first-only tabs=t:')
const USUAL = 8

/** The next tab stop after a column; null if there is none. */
type Stops = (column: number) => number | null

export async function expand(call: TextCall): Promise<void> {
  const given = readOptions(modern(call.args), EXPAND)
  const stops = stopsOf(given)
  await eachLine(call, given, (line) => expanded(line, stops, given.has('i')))
}

export async function unexpand(call: TextCall): Promise<void> {
  const given = readOptions(modern(call.args), UNEXPAND)
  const stops = stopsOf(given)
  // `-4` alone applies only to leading blanks.
  const isOld = call.args.some((arg) => OLD_STOPS.test(arg))
  const isAll = (given.has('a') || (given.has('t') && !isOld)) && !given.has('first-only')
  await eachLine(call, given, (line) => unexpanded(line, stops, isAll))
}

const OLD_STOPS = /^-\d[\d,]*$/

/** Converts `-4` and `-4,8` to the modern form. */
function modern(args: readonly string[]): string[] {
  return args.map((arg) => (OLD_STOPS.test(arg) ? `-t${arg.slice(1)}` : arg))
}

async function eachLine(call: TextCall, given: GivenOptions, change: (line: string) => string): Promise<void> {
  for (const name of given.operands.length > 0 ? given.operands : ['-']) {
    const bytes = await call.input(name)
    if (bytes !== null) call.write(bytes.split('\n').map(change).join('\n'))
    await call.pause()
  }
}

function stopsOf(given: GivenOptions): Stops {
  const list = given.list
    .filter(({ name }) => name === 't')
    .map(({ value }) => value ?? '')
    .join(',')
  const words = list.split(/[, \t]+/).filter((word) => word !== '')
  const [, mark, last] = /^([/+])(\d+)$/.exec(words.at(-1) ?? '') ?? []
  const places = (mark === undefined ? words : words.slice(0, -1)).map((word) => {
    if (!/^\d+$/.test(word)) throw refusal(`tab size contains invalid character(s): ${curly(word)}`)
    if (Number(word) === 0) throw refusal('tab size cannot be 0')
    return Number(word)
  })
  if (places.some((place, i) => i > 0 && place <= (places[i - 1] ?? 0))) throw refusal('tab sizes must be ascending')
  if (places.length < 2 && mark === undefined) {
    const size = places[0] ?? USUAL
    return (column) => column + size - (column % size)
  }
  const step = Number(last ?? 0)
  const base = mark === '+' ? (places.at(-1) ?? 0) : 0
  return (column) => {
    const place = places.find((one) => one > column)
    if (place !== undefined) return place
    return step > 0 ? column + step - ((column - base) % step) : null
  }
}

function expanded(line: string, stops: Stops, isInitialOnly: boolean): string {
  if (!line.includes('\t')) return line
  let [shown, column, isInitial] = ['', 0, true]
  for (const byte of line) {
    if (byte === '\t' && (isInitial || !isInitialOnly)) {
      const next = stops(column) ?? column + 1
      shown += ' '.repeat(next - column)
      column = next
      continue
    }
    if (byte !== ' ') isInitial = false
    shown += byte
    column = byte === '\b' ? Math.max(0, column - 1) : column + 1
  }
  return shown
}

function unexpanded(line: string, stops: Stops, isAll: boolean): string {
  let [shown, column, at] = ['', 0, 0]
  while (at < line.length) {
    const blanks = /^[ \t]+/.exec(line.slice(at))?.[0] ?? ''
    if (blanks !== '') {
      const { text, end } = tabbed(blanks, column, stops)
      shown += text
      column = end
      at += blanks.length
    }
    if (!isAll) return shown + line.slice(at)
    const next = line.slice(at).search(/[ \t]/)
    const word = next < 0 ? line.slice(at) : line.slice(at, at + next)
    shown += word
    column += word.length
    at += word.length
  }
  return shown
}

/** A single blank before a stop is kept, unless it starts a tab. */
function tabbed(blanks: string, from: number, stops: Stops): { text: string; end: number } {
  let end = from
  for (const byte of blanks) end = byte === '\t' ? (stops(end) ?? end + 1) : end + 1
  let [text, column] = ['', from]
  for (;;) {
    const next = stops(column)
    if (next === null || next > end) break
    const isLoneBlank = next === column + 1 && blanks.charAt(0) === ' ' && (end === next || text === '')
    text += isLoneBlank && end === next ? ' ' : '\t'
    column = next
  }
  return { text: text + ' '.repeat(end - column), end }
}
