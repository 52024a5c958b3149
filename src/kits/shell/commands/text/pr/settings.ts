// The command line of `pr`.

import { Misuse, refusal } from '../misuse.ts'
import { type GivenOptions, optionTable, readOptions } from '../options.ts'

const OPTIONS = optionTable(`columns: across=a double-space=d date-format=D: form-feed=F f header=h: length=l: merge=m
  number-lines=n:: first-line-number=N: indent=o: no-file-warnings=r separator=s:: sep-string=S:: omit-header=t
  omit-pagination=T width=w: page-width=W: pages:`)

const LENGTH = 66
const WIDTH = 72
/** The lines of header and trailer, which must fit on a page. */
export const FRAME = 10

export interface Numbering {
  separator: string
  digits: number
  first: number
}

export interface PrSettings {
  columns: number
  isAcross: boolean
  isMerge: boolean
  isDouble: boolean
  /** The lines of text on a page. */
  body: number
  hasHeader: boolean
  hasFormFeeds: boolean
  header: string | null
  dateFormat: string
  width: number
  /** Whether lines are cut at the end of their column. */
  cuts: boolean
  /** Whether columns are aligned. */
  aligns: boolean
  separator: string
  margin: number
  numbering: Numbering | null
  pages: { first: number; last: number }
  isQuiet: boolean
  operands: string[]
}

export function prSettings(args: readonly string[]): PrSettings {
  const words = args.map((arg) => (/^-\d+$/.test(arg) ? `--columns=${arg.slice(1)}` : arg))
  const pages = words.findIndex((word) => /^\+\d+(:\d+)?$/.test(word))
  const [range] = pages < 0 ? [undefined] : words.splice(pages, 1)
  const given = readOptions(words, OPTIONS)
  const isMerge = given.has('m')
  const columns = numberOf(given, 'columns', 1)
  if (isMerge && given.has('columns')) throw refusal('cannot specify number of columns when printing in parallel')
  if (isMerge && given.has('a')) throw refusal('cannot specify both printing across and printing in parallel')
  const several = isMerge || columns > 1
  const hasSeparator = given.has('s')
  const widthName = given.lastOf('wW')
  const length = numberOf(given, 'l', LENGTH)
  const isPlain = given.has('t') || given.has('T') || length <= FRAME
  return {
    columns,
    isAcross: given.has('a'),
    isMerge,
    isDouble: given.has('d'),
    body: isPlain ? length : length - FRAME,
    hasHeader: !isPlain,
    hasFormFeeds: given.has('F') || given.has('f'),
    header: given.value('h') ?? null,
    dateFormat: given.value('D') ?? '%Y-%m-%d %H:%M',
    width: numberOf(given, widthName ?? 'w', WIDTH),
    cuts: given.has('W') || (several && (!hasSeparator || given.has('w'))),
    aligns: several && (!hasSeparator || given.has('w')),
    separator: hasSeparator ? given.value('s') || '\t' : given.has('S') ? (given.value('S') ?? '') : ' ',
    margin: numberOf(given, 'o', 0, 0),
    numbering: given.has('n') ? numberingOf(given) : null,
    pages: pagesOf(given.value('pages') ?? range?.slice(1)),
    isQuiet: given.has('r'),
    operands: given.operands,
  }
}

function numberOf(given: GivenOptions, name: string, otherwise: number, least = 1): number {
  const text = given.value(name)
  if (text === undefined) return otherwise
  if (!/^\d{1,6}$/.test(text) || Number(text) < least) throw refusal(`invalid value of -${name}: ‘${text}’`)
  return Number(text)
}

function numberingOf(given: GivenOptions): Numbering {
  const text = given.value('n') ?? ''
  const [, separator = '', digits = ''] = /^(\D?)(\d*)$/.exec(text) ?? []
  if (separator === '' && digits === '' && text !== '')
    throw new Misuse(`'-n' extra characters or invalid number in the argument: ‘${text}’`)
  const first = given.value('N') ?? '1'
  if (!/^-?\d{1,9}$/.test(first)) throw refusal(`'-N NUMBER' invalid starting line number: ‘${first}’`)
  return { separator: separator || '\t', digits: Number(digits || 5), first: Number(first) }
}

function pagesOf(text: string | undefined): PrSettings['pages'] {
  if (text === undefined) return { first: 1, last: Number.POSITIVE_INFINITY }
  const [, first = '', last] = /^(\d+)(?::(\d+))?$/.exec(text) ?? []
  if (Number(first) < 1 || (last !== undefined && Number(last) < Number(first)))
    throw refusal(`invalid page range ‘${text}’`)
  return { first: Number(first), last: last === undefined ? Number.POSITIVE_INFINITY : Number(last) }
}
