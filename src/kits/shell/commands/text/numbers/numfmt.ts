// `numfmt`: converts numbers to units, and units to numbers.

import { bytesOf, linesOf } from '../bytes.ts'
import type { TextCall } from '../call.ts'
import { rangesOf } from '../cut.ts'
import { curly, Misuse, refusal } from '../misuse.ts'
import { type GivenOptions, optionTable, readOptions } from '../options.ts'
import { checkPrintable, numberText, type OutputFormat, readNumber, UNITS } from './numfmt-value.ts'

const OPTIONS = optionTable(`delimiter=d: field: format: from: from-unit: header:: invalid: padding: round: suffix: to:
  to-unit: debug grouping zero-terminated=z`)
const SCALES = ['none', 'auto', 'si', 'iec', 'iec-i']
const ROUNDS = ['up', 'down', 'from-zero', 'towards-zero', 'nearest']
const INVALIDS = ['abort', 'fail', 'warn', 'ignore']
const EXIT_INVALID = 2
const MOST = 2n ** 63n

interface Settings {
  from: string
  fromUnit: bigint
  toUnit: bigint
  shown: OutputFormat
  suffix: string
  /** Negative to pad after the number; 0 to keep the width of a column. */
  padding: number
  delimiter: string | null
  fields: (field: number) => boolean
  before: string
  after: string
  invalid: string
  isDebug: boolean
}

interface Format {
  before: string
  after: string
  width: number
  precision: number | null
  hasZeros: boolean
  hasGrouping: boolean
}

const NO_FORMAT: Format = { before: '', after: '', width: 0, precision: null, hasZeros: false, hasGrouping: false }

export async function numfmt(call: TextCall): Promise<void> {
  const given = readOptions(call.args, OPTIONS)
  const settings = settingsOf(given)
  const end = given.has('z') ? '\0' : '\n'
  const header = given.has('header') ? headerOf(given.value('header') ?? '1') : 0
  if (settings.isDebug) warn(call, given)
  if (given.operands.length > 0) {
    for (const word of given.operands) converted(call, bytesOf(word), settings, end)
    return
  }
  const lines = linesOf(call.stdin, end)
  for (const [i, line] of lines.entries()) {
    // A last line without a line end gets none.
    const close = i === lines.length - 1 && !call.stdin.endsWith(end) ? '' : end
    if (i < header) call.write(line + close)
    else converted(call, line, settings, close)
  }
}

function headerOf(text: string): number {
  if (!/^\+?\d+$/.test(text) || Number(text) === 0 || BigInt(text.replace('+', '')) >= 2n * MOST)
    throw refusal(`invalid header value ${curly(text)}`)
  return Number(text)
}

/** Options without an effect are reported with `--debug`. */
function warn(call: TextCall, given: GivenOptions): void {
  const format = formatOf(given.value('format'))
  const isPlain = ['from', 'to'].every((name) => (given.value(name) ?? 'none') === 'none')
  if (given.has('padding') && format.width !== 0 && !(format.hasZeros && format.width > 0))
    call.complain('--format padding overriding --padding', 0)
  if (isPlain && !['grouping', 'padding', 'format'].some((name) => given.has(name)))
    call.complain('no conversion option specified', 0)
  if (given.has('grouping') || format.hasGrouping) call.complain('grouping has no effect in this locale', 0)
  if (given.has('header') && given.operands.length > 0) call.complain('--header ignored with command-line input', 0)
}

function settingsOf(given: GivenOptions): Settings {
  if (given.list.filter(({ name }) => name === 'field').length > 1) throw refusal('multiple field specifications')
  const to = choice(given, 'to', { known: SCALES.filter((scale) => scale !== 'auto'), usual: 'none' })
  const format = formatOf(given.value('format'))
  if (given.has('grouping') && given.has('format')) throw refusal('--grouping cannot be combined with --format')
  if ((given.has('grouping') || format.hasGrouping) && to !== 'none')
    throw refusal('grouping cannot be combined with --to')
  const zeroWidth = format.hasZeros && format.width > 0 ? format.width : 0
  return {
    from: choice(given, 'from', { known: SCALES, usual: 'none' }),
    fromUnit: unitOf(given, 'from-unit'),
    toUnit: unitOf(given, 'to-unit'),
    shown: {
      ...{ to, precision: format.precision, zeroWidth },
      round: choice(given, 'round', { known: ROUNDS, usual: 'from-zero' }),
    },
    suffix: bytesOf(given.value('suffix') ?? ''),
    padding: zeroWidth === 0 && format.width !== 0 ? format.width : paddingOf(given),
    delimiter: delimiterOf(given),
    fields: fieldsOf(given.value('field') ?? '1'),
    before: bytesOf(format.before),
    after: bytesOf(format.after),
    invalid: choice(given, 'invalid', { known: INVALIDS, usual: 'abort' }),
    isDebug: given.has('debug'),
  }
}

function choice(given: GivenOptions, name: string, { known, usual }: { known: readonly string[]; usual: string }) {
  const value = given.value(name) ?? usual
  const fitting = known.filter((one) => one.startsWith(value))
  const found = known.find((one) => one === value) ?? (fitting.length === 1 ? fitting[0] : undefined)
  if (found !== undefined) return found
  const valid = known.map((one) => `\n  - ${curly(one)}`).join('')
  const what = fitting.length > 1 ? 'ambiguous' : 'invalid'
  throw new Misuse(`${what} argument ${curly(value)} for ${curly(`--${name}`)}\nValid arguments are:${valid}`)
}

function unitOf(given: GivenOptions, name: string): bigint {
  const value = given.value(name) ?? '1'
  const [, digits, letter = '', i = ''] = /^\+?(\d*)(?:([KMGTPEZY])(i?))?$/.exec(value) ?? []
  const isNone = digits === undefined || (digits === '' && letter === '')
  const size = isNone ? 0n : BigInt(digits || 1) * (i === '' ? 1000n : 1024n) ** BigInt(UNITS.indexOf(letter))
  if (size === 0n || size >= 2n * MOST) throw refusal(`invalid unit size: ${curly(value)}`)
  return size
}

function paddingOf(given: GivenOptions): number {
  const padding = given.value('padding')
  if (padding === undefined) return 0
  const isWrong = !/^[-+]?\d+$/.test(padding) || Number(padding) === 0 || Math.abs(Number(padding)) >= Number(MOST)
  if (isWrong) throw refusal(`invalid padding value ${curly(padding)}`)
  return Number(padding)
}

function delimiterOf(given: GivenOptions): string | null {
  const delimiter = given.value('d')
  if (delimiter === undefined) return null
  if (bytesOf(delimiter).length > 1) throw refusal('the delimiter must be a single character')
  // An empty delimiter is NUL, at which no field starts.
  return delimiter === '' ? '\0' : bytesOf(delimiter)
}

function fieldsOf(list: string): Settings['fields'] {
  if (list === '-') return () => true
  const ranges = rangesOf(list, true)
  return (field) => ranges.some(([first, last]) => field >= first && field <= last)
}

function formatOf(text: string | undefined): Format {
  if (text === undefined) return NO_FORMAT
  const [, before = '', rest] = /^((?:[^%]|%%)*)%([^%].*|)$/s.exec(text) ?? []
  if (rest === undefined) throw refusal(`format ${curly(text)} has no % directive`)
  const [, flags = '', width = '', precision, letter = '', after = ''] =
    /^( *(?:['0] *)*)([-+]?\d+|)(?:\.([-+ ]?\d*))?(.?)(.*)$/s.exec(rest) ?? []
  if (Math.abs(Number(width)) >= Number(MOST)) throw refusal(`invalid format ${curly(text)} (width overflow)`)
  if (letter === '' && precision === undefined) throw refusal(`format ${curly(text)} ends in %`)
  if (precision !== undefined && /^[-+ ]/.test(precision)) throw refusal(`invalid precision in format ${curly(text)}`)
  if (letter !== 'f') throw refusal(`invalid format ${curly(text)}, directive must be %[0]['][-][N][.][N]f`)
  if (/%/.test(after.replaceAll('%%', ''))) throw refusal(`format ${curly(text)} has too many % directives`)
  return {
    // The original counts two percent signs as one character, but prints both.
    before: before.slice(0, before.replaceAll('%%', '%').length),
    after,
    width: Number(width),
    precision: precision === undefined ? null : Number(precision),
    hasZeros: flags.includes('0'),
    hasGrouping: flags.includes("'"),
  }
}

function converted(call: TextCall, line: string, settings: Settings, end: string): void {
  const { delimiter, fields } = settings
  const parts = delimiter === null ? blankFields(line) : line.split(delimiter)
  for (const [i, part] of parts.entries()) {
    if (i > 0) call.write(delimiter ?? ' ')
    call.write(fields(i + 1) ? fieldText(call, part, { settings, isFirst: i === 0 }) : part)
  }
  call.write(end)
}

/** Without the blank after each: it is printed as a space, whatever it was. */
function blankFields(line: string): string[] {
  const fields = line.match(/[ \t\n]*[^ \t\n]+|[ \t\n]+$/g) ?? ['']
  return fields.map((field, i) => (i === 0 ? field : field.slice(1)))
}

function fieldText(call: TextCall, part: string, { settings, isFirst }: { settings: Settings; isFirst: boolean }) {
  const { suffix, shown, before, after, invalid } = settings
  const plain = suffix !== '' && part.length > suffix.length && part.endsWith(suffix)
  const text = plain ? part.slice(0, -suffix.length) : part
  const word = text.replace(/^[ \t]+/, '')
  try {
    const { value, decimals, isUnsure } = readNumber(word, settings.from)
    if (isUnsure && settings.isDebug) call.complain(`large input value ${curly(word)}: possible precision loss`, 0)
    const scaled = { top: value.top * settings.fromUnit, bottom: value.bottom * settings.toUnit }
    checkPrintable(scaled, shown, decimals)
    // Blanks before a number belong to a column, which the new text fills as far as possible.
    const isColumn = settings.delimiter === null && settings.padding === 0 && (word !== text || !isFirst)
    const width = isColumn ? text.length : settings.padding
    const number = numberText(scaled, shown, decimals) + suffix
    return before + (width < 0 ? number.padEnd(-width) : number.padStart(width)) + after
  } catch (error) {
    if (!(error instanceof Misuse) || invalid === 'abort') throw error
    if (invalid !== 'ignore') call.complain(error.message, invalid === 'fail' ? EXIT_INVALID : 0)
    return text
  }
}
