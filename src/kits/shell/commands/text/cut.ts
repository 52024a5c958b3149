// `cut`: parts of each line, by bytes or by fields. Like GNU's, it treats characters as bytes.

import { bytesOf, linesOf } from './bytes.ts'
import type { TextCall } from './call.ts'
import { curly, Misuse } from './misuse.ts'
import { type GivenOptions, optionTable, readOptions } from './options.ts'

// `-n` is for multibyte characters that `-b` would split; in GNU's it has no effect either.
const OPTIONS = optionTable(`bytes=b: characters=c: delimiter=d: fields=f: n only-delimited=s complement
  output-delimiter: zero-terminated=z`)

const MOST = 2n ** 64n - 1n

/** First and last, counted from one. */
type Range = readonly [number, number]

interface Selection {
  ranges: Range[]
  /** The text between the parts; null for none. */
  joint: string | null
}

export async function cut(call: TextCall): Promise<void> {
  const given = readOptions(call.args, OPTIONS)
  const lists = given.list.filter(({ name }) => 'bcf'.includes(name))
  const [list] = lists
  if (list === undefined) throw new Misuse('you must specify a list of bytes, characters, or fields')
  if (lists.length > 1) throw new Misuse('only one list may be specified')
  const isFields = list.name === 'f'
  const delimiter = delimiterOf(given)
  if (!isFields && given.has('d')) throw new Misuse('an input delimiter may be specified only when operating on fields')
  if (!isFields && given.has('s'))
    throw new Misuse('suppressing non-delimited lines makes sense\n\tonly when operating on fields')
  const joint = given.value('output-delimiter')
  const ranges = rangesOf(list.value ?? '', isFields)
  const selection: Selection = {
    ranges: given.has('complement') ? without(ranges) : ranges,
    joint: joint === undefined ? (isFields ? delimiter : null) : bytesOf(joint),
  }
  const part = isFields
    ? fieldsOf(selection, { delimiter, isOnlyDelimited: given.has('s') })
    : (line: string) => bytesAt(line, selection)
  await cutAll(call, given, part)
}

async function cutAll(call: TextCall, given: GivenOptions, part: (line: string) => string | null): Promise<void> {
  const end = given.has('z') ? '\0' : '\n'
  for (const name of given.operands.length > 0 ? given.operands : ['-']) {
    const bytes = await call.input(name)
    if (bytes === null) continue
    const parts: string[] = []
    // If the delimiter is the line end, all lines are fields of one line.
    for (const line of given.value('d') === end ? [bytes.replace(/\n$/, '')] : linesOf(bytes, end)) {
      const kept = part(line)
      if (kept !== null) parts.push(kept)
    }
    if (parts.length > 0) call.write(parts.join(end) + end)
    await call.pause()
  }
}

function delimiterOf(given: GivenOptions): string {
  const delimiter = given.value('d')
  if (delimiter === undefined) return '\t'
  if (delimiter === '') return '\0'
  if (bytesOf(delimiter).length > 1) throw new Misuse('the delimiter must be a single character')
  return delimiter
}

/** Sorted, with overlapping ranges joined; adjacent ones stay separate, because they are printed separately. */
export function rangesOf(list: string, isFields: boolean): Range[] {
  const what = isFields ? 'field' : 'byte/character position'
  const ranges = list.split(/[, \t]/).map((text): Range => {
    const [, from, dash, to] = /^(\d*)(-?)(\d*)$/.exec(text) ?? []
    if (from === undefined) {
      if (/^[\d-]*-[\d-]*-/.test(text) || /^\d*-\d*-/.test(text))
        throw new Misuse(`invalid ${isFields ? 'field' : 'byte or character'} range`)
      throw new Misuse(`invalid ${isFields ? 'field value' : what} ${curly(text.replace(/^[\d-]*/, ''))}`)
    }
    if (text === '-') throw new Misuse('invalid range with no endpoint: -')
    const first = from === '' && dash !== '' ? 1 : Number(from)
    const last = dash === '' ? first : to === '' ? Infinity : Number(to)
    if (first === 0 || text === '')
      throw new Misuse(isFields ? 'fields are numbered from 1' : `byte/character positions are numbered from 1`)
    if (last < first) throw new Misuse('invalid decreasing range')
    const large = [from, to].find((number) => BigInt(number || 0) >= MOST)
    if (large !== undefined)
      throw new Misuse(`${isFields ? 'field number' : 'byte/character offset'} ${curly(large)} is too large`)
    return [first, last]
  })
  ranges.sort((a, b) => a[0] - b[0])
  const joined: Range[] = []
  for (const [first, last] of ranges) {
    const before = joined.at(-1)
    if (before && first <= before[1]) joined[joined.length - 1] = [before[0], Math.max(before[1], last)]
    else joined.push([first, last])
  }
  return joined
}

function without(ranges: readonly Range[]): Range[] {
  const others: Range[] = []
  let next = 1
  for (const [first, last] of ranges) {
    if (first > next) others.push([next, first - 1])
    next = last + 1
  }
  if (next !== Infinity) others.push([next, Infinity])
  return others
}

function bytesAt(line: string, { ranges, joint }: Selection): string {
  const parts: string[] = []
  for (const [first, last] of ranges) {
    if (first > line.length) break
    parts.push(line.slice(first - 1, last))
  }
  return parts.join(joint ?? '')
}

type Delimited = { delimiter: string; isOnlyDelimited: boolean }

function fieldsOf({ ranges, joint }: Selection, { delimiter, isOnlyDelimited }: Delimited) {
  return (line: string): string | null => {
    if (!line.includes(delimiter)) return isOnlyDelimited ? null : line
    const fields = line.split(delimiter)
    const kept: string[] = []
    for (const [first, last] of ranges) {
      if (first > fields.length) break
      for (let i = first - 1; i < Math.min(last, fields.length); i++) kept.push(fields[i] ?? '')
    }
    return kept.join(joint ?? delimiter)
  }
}
