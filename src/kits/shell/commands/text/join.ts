// `join`: lines of two sorted files with a common field.

import { bytesOf, linesOf } from './bytes.ts'
import type { TextCall } from './call.ts'
import { curly, Misuse, refusal } from './misuse.ts'
import { type GivenOptions, optionTable, readOptions } from './options.ts'

const OPTIONS = optionTable(`a: e: ignore-case=i j: o: t: v: 1: 2: check-order nocheck-order header
  zero-terminated=z`)

interface Line {
  text: string
  fields: string[]
  key: string
}

interface Settings {
  separator: string | null
  fields: readonly [number, number]
  unpaired: ReadonlySet<string>
  isUnpairedOnly: boolean
  empty: string
  /** 0 is the common field; null means all fields of each line. */
  format: { file: 0 | 1 | 2; field: number }[] | null
  end: string
}

export async function join(call: TextCall): Promise<void> {
  const given = readOptions(joinedFormat(call.args), OPTIONS)
  const [first, second, extra] = given.operands
  if (first === undefined) throw new Misuse('missing operand')
  if (second === undefined) throw new Misuse(`missing operand after ${curly(first)}`)
  if (extra !== undefined) throw new Misuse(`extra operand '${extra}'`)
  if (first === '-' && second === '-') throw refusal('both files cannot be standard input')
  const settings = settingsOf(given)
  const isFolded = given.has('i')
  const split = (bytes: string, field: number) =>
    linesOf(bytes, settings.end).map((text): Line => {
      const fields = fieldsOf(text, settings.separator)
      const key = fields[field] ?? ''
      return { text, fields, key: isFolded ? key.toUpperCase() : key }
    })
  const a = split(await call.mustRead(first), settings.fields[0])
  const b = split(await call.mustRead(second), settings.fields[1])
  const table = { a, b, settings: autoFormat(given, settings, a, b) }
  if (given.has('header')) writeHeader(call, table)
  const order = new OrderCheck(call, [first, second])
  if (given.has('check-order')) {
    order.hasUnpaired = true
    order.read(1, a, { from: 0, to: a.length - 1 })
    order.read(2, b, { from: 0, to: b.length - 1 })
    if (order.isWrong) return call.complain('input is not in sorted order')
  }
  joinLines(call, table, given.has('nocheck-order') ? null : order)
  if (order.isWrong) call.complain('input is not in sorted order')
}

/** In the old form, the fields of `-o` can be separate words. */
function joinedFormat(args: readonly string[]): string[] {
  const words: string[] = []
  for (let i = 0; i < args.length; i++) {
    words.push(args[i] ?? '')
    if (args[i] !== '-o') continue
    const fields: string[] = [args[++i] ?? '']
    while (/^(0|[12]\.\d+)(,|$)/.test(args[i + 1] ?? '')) fields.push(args[++i] ?? '')
    words.push(fields.join(','))
  }
  return words
}

function settingsOf(given: GivenOptions): Settings {
  const common = given.value('j')
  const field = (text: string | undefined) => {
    if (text === undefined) return 0
    if (!/^[1-9]\d*$/.test(text)) throw refusal(`invalid field number: ${curly(text)}`)
    return Number(text) - 1
  }
  const unpaired = given.list.filter(({ name }) => name === 'a' || name === 'v')
  for (const { value } of unpaired)
    if (value !== '1' && value !== '2') throw refusal(`invalid file number: ${curly(value ?? '')}`)
  const format = given.list
    .filter(({ name }) => name === 'o')
    .map(({ value }) => value ?? '')
    .join(',')
  return {
    separator: separatorOf(given.value('t')),
    fields: [field(given.value('1') ?? common), field(given.value('2') ?? common)],
    unpaired: new Set(unpaired.map(({ value }) => value ?? '')),
    isUnpairedOnly: given.has('v'),
    empty: bytesOf(given.value('e') ?? ''),
    format: format === '' || format === 'auto' ? null : formatOf(format),
    end: given.has('z') ? '\0' : '\n',
  }
}

function separatorOf(given: string | undefined): string | null {
  if (given === undefined) return null
  // The whole line is one field.
  if (given === '') return '\n'
  if (given === '\\0') return '\0'
  if (bytesOf(given).length > 1) throw refusal(`multi-character tab ${curly(given)}`)
  return given
}

function formatOf(text: string): NonNullable<Settings['format']> {
  return text.split(/[, \t]+/).map((word) => {
    if (word === '0') return { file: 0, field: 0 }
    const [, file, field] = /^([12])\.([1-9]\d*)$/.exec(word) ?? []
    if (file === undefined)
      throw refusal(
        `invalid ${/^\d+\.\d+$/.test(word) ? 'file number in field spec' : 'field specifier'}: ${curly(word)}`,
      )
    return { file: file === '1' ? 1 : 2, field: Number(field) - 1 }
  })
}

function fieldsOf(line: string, separator: string | null): string[] {
  if (separator !== null) return line.split(separator)
  return line.replace(/^[ \t\n]+/, '').split(/[ \t\n]+/)
}

type Table = { a: Line[]; b: Line[]; settings: Settings }

/** `-o auto`: as many fields as the first line of each file has. */
function autoFormat(given: GivenOptions, settings: Settings, [a]: Line[], [b]: Line[]): Settings {
  if (given.value('o') !== 'auto') return settings
  const others = (line: Line | undefined, file: 1 | 2, common: number) =>
    (line?.fields ?? []).map((_, field) => ({ file, field })).filter(({ field }) => field !== common)
  const [x, y] = settings.fields
  return { ...settings, format: [{ file: 0, field: 0 }, ...others(a, 1, x), ...others(b, 2, y)] }
}

function writeHeader(call: TextCall, { a, b, settings }: Table): void {
  const [x, y] = [a.shift(), b.shift()]
  if (x || y) call.write(lineOf(x ?? null, y ?? null, settings))
}

function joinLines(call: TextCall, { a, b, settings }: Table, order: OrderCheck | null): void {
  const { unpaired, isUnpairedOnly } = settings
  let [i, j] = [0, 0]
  const readFirst = (to: number) => {
    order?.read(1, a, { from: i, to })
    i = to
  }
  const readSecond = (to: number) => {
    order?.read(2, b, { from: j, to })
    j = to
  }
  while (i < a.length || j < b.length) {
    const [x, y] = [a[i], b[j]]
    if (x && y && x.key === y.key) {
      const [endA, endB] = [endOfGroup(a, i), endOfGroup(b, j)]
      for (let m = i; m < endA && !isUnpairedOnly; m++) {
        for (let n = j; n < endB; n++) call.write(lineOf(a[m] ?? null, b[n] ?? null, settings))
      }
      readFirst(endA)
      readSecond(endB)
    } else if (x && (!y || x.key < y.key)) {
      if (unpaired.has('1')) call.write(lineOf(x, null, settings))
      readFirst(i + 1)
      if (order && y) order.hasUnpaired = true
    } else {
      if (unpaired.has('2')) call.write(lineOf(null, y ?? null, settings))
      readSecond(j + 1)
      if (order && x) order.hasUnpaired = true
    }
  }
}

function endOfGroup(lines: readonly Line[], from: number): number {
  let to = from + 1
  while (lines[to]?.key === lines[from]?.key && to < lines.length) to++
  return to
}

function lineOf(a: Line | null, b: Line | null, { fields, format, separator, empty, end }: Settings): string {
  const [x, y] = fields
  const common = a?.fields[x] ?? b?.fields[y] ?? ''
  const others = (line: Line | null, field: number) => (line?.fields ?? []).filter((_, i) => i !== field)
  const shown =
    format === null
      ? [common, ...others(a, x), ...others(b, y)]
      : format.map(({ file, field }) => (file === 0 ? common : ((file === 1 ? a : b)?.fields[field] ?? '')))
  const gap = separator ?? ' '
  return shown.map((field) => (field === '' ? empty : field)).join(gap === '\n' ? ' ' : gap) + end
}

/** Unsorted lines matter from the first line without a counterpart on; the first one of each file is reported. */
class OrderCheck {
  hasUnpaired = false
  readonly #call: TextCall
  readonly #names: readonly [string, string]
  readonly #told = new Set<number>()

  constructor(call: TextCall, names: readonly [string, string]) {
    this.#call = call
    this.#names = names
  }

  get isWrong(): boolean {
    return this.#told.size > 0
  }

  /** For lines after the last one that was read. */
  read(file: 1 | 2, lines: readonly Line[], { from, to }: { from: number; to: number }): void {
    if (!this.hasUnpaired || this.#told.has(file)) return
    for (let at = from + 1; at <= to && at < lines.length; at++) {
      const line = lines[at]
      if (!line || (lines[at - 1]?.key ?? '') <= line.key) continue
      this.#told.add(file)
      this.#call.complain(`${this.#names[file - 1]}:${at + 1}: is not sorted: ${line.text}`)
      return
    }
  }
}
