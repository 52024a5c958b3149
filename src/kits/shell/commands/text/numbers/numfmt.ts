// `numfmt`: numbers with units, and units as numbers.

import { bytesOf, linesOf } from '../bytes.ts'
import type { TextCall } from '../call.ts'
import { curly, Misuse, refusal } from '../misuse.ts'
import { type GivenOptions, optionTable, readOptions } from '../options.ts'

const OPTIONS = optionTable(`delimiter=d: field: format: from: from-unit: header:: invalid: padding: round: suffix: to:
  to-unit: grouping zero-terminated=z`)
const UNITS = ['', 'K', 'M', 'G', 'T', 'P', 'E', 'Z', 'Y']
const SCALES = ['none', 'auto', 'si', 'iec', 'iec-i']
const ROUNDS = ['up', 'down', 'from-zero', 'towards-zero', 'nearest']
const INVALIDS = ['abort', 'fail', 'warn', 'ignore']
const EXIT_INVALID = 2

interface Settings {
  from: string
  to: string
  fromUnit: number
  toUnit: number
  round: string
  suffix: string
  padding: number
  delimiter: string | null
  fields: (field: number) => boolean
  format: { before: string; after: string; width: number; precision: number | null; zero: boolean } | null
  invalid: string
}

export async function numfmt(call: TextCall): Promise<void> {
  const given = readOptions(call.args, OPTIONS)
  if (given.has('grouping')) throw refusal('option --grouping is not available here')
  const settings = settingsOf(given)
  const end = given.has('z') ? '\0' : '\n'
  if (given.operands.length > 0) {
    for (const word of given.operands) converted(call, bytesOf(word), settings, end)
    return
  }
  const header = given.has('header') ? Number(given.value('header') ?? 1) : 0
  const lines = linesOf(call.stdin, end)
  for (const [i, line] of lines.entries()) {
    // A last line without an end gets none.
    const close = i === lines.length - 1 && !call.stdin.endsWith(end) ? '' : end
    if (i < header) call.write(line + close)
    else converted(call, line, settings, close)
  }
}

function settingsOf(given: GivenOptions): Settings {
  const choice = (name: string, known: readonly string[], usual: string) => {
    const value = given.value(name) ?? usual
    if (known.includes(value)) return value
    const valid = known.map((one) => `\n  - ${curly(one)}`).join('')
    throw new Misuse(`invalid argument ${curly(value)} for ${curly(`--${name}`)}\nValid arguments are:${valid}`)
  }
  const unit = (name: string) => {
    const value = given.value(name) ?? '1'
    const size = plainUnit(value)
    if (size === null || size <= 0) throw refusal(`invalid unit size: ${curly(value)}`)
    return size
  }
  const padding = given.value('padding') ?? '0'
  if (!/^-?\d+$/.test(padding) || (given.has('padding') && Number(padding) === 0))
    throw refusal(`invalid padding value ${curly(padding)}`)
  return {
    from: choice('from', SCALES, 'none'),
    to: choice(
      'to',
      SCALES.filter((scale) => scale !== 'auto'),
      'none',
    ),
    fromUnit: unit('from-unit'),
    toUnit: unit('to-unit'),
    round: choice('round', ROUNDS, 'from-zero'),
    suffix: given.value('suffix') ?? '',
    padding: Number(padding),
    delimiter: given.value('d') ?? null,
    fields: fieldsOf(given.value('field') ?? '1'),
    format: given.has('format') ? formatOf(given.value('format') ?? '') : null,
    invalid: choice('invalid', INVALIDS, 'abort'),
  }
}

function plainUnit(text: string): number | null {
  const [, digits, letter = '', i = ''] = /^(\d+)([KMGTPEZY]?)(i?)$/.exec(text) ?? []
  return digits === undefined ? null : Number(digits) * (i === '' ? 1000 : 1024) ** UNITS.indexOf(letter)
}

function fieldsOf(list: string): Settings['fields'] {
  const ranges = list.split(',').map((part) => {
    const [, from, dash, to] = /^(\d*)(-?)(\d*)$/.exec(part) ?? []
    if (from === undefined || part === '' || from === '0') throw new Misuse(`invalid field value ${curly(part)}`)
    return dash === '' ? [Number(from), Number(from)] : [Number(from || 1), to === '' ? Infinity : Number(to)]
  })
  return (field) => ranges.some(([first = 0, last = 0]) => field >= first && field <= last)
}

function formatOf(text: string): NonNullable<Settings['format']> {
  const [, before = '', flags, width = '', precision, after = ''] =
    /^((?:[^%]|%%)*)%([-0' ]*)(-?\d*)(?:\.(\d*))?f((?:[^%]|%%)*)$/s.exec(text) ?? []
  if (flags === undefined) throw refusal(`invalid format ${curly(text)}, directive must be %[0]['][-][N][.][N]f`)
  if (flags.includes("'")) throw refusal(`grouping in the format ${curly(text)} is not available here`)
  return {
    before: before.replaceAll('%%', '%'),
    after: after.replaceAll('%%', '%'),
    width: Number(width || 0) * (flags.includes('-') ? -1 : 1),
    precision: precision === undefined ? null : Number(precision || 0),
    zero: flags.includes('0'),
  }
}

function converted(call: TextCall, line: string, settings: Settings, end: string): void {
  const { delimiter, fields } = settings
  const parts = delimiter === null ? blankFields(line) : line.split(delimiter)
  try {
    const shown = parts.map((part, i) => {
      if (!fields(i + 1) || (i > 0 && /^[ \t\n]+$/.test(part))) return part
      const [blanks = '', word = ''] = delimiter === null ? [/^[ \t\n]*/.exec(part)?.[0], part.trimStart()] : ['', part]
      const text = numberText(word, settings)
      // Blanks before a number are a column's, which its new text fills as far as it goes.
      const isColumn = delimiter === null && (blanks.length > 0 || i > 0) && settings.padding === 0
      if (isColumn) return i === 0 ? text.padStart(part.length) : blanks.charAt(0) + text.padStart(part.length - 1)
      return blanks + text
    })
    call.write(shown.join(delimiter ?? '') + end)
  } catch (error) {
    if (!(error instanceof Misuse) || settings.invalid === 'abort') throw error
    if (settings.invalid !== 'ignore') call.complain(error.message, settings.invalid === 'fail' ? EXIT_INVALID : 0)
    call.write(line + end)
  }
}

/** The blank that ends a field is a space in what is printed, whatever it was; an end of line is one where lines end otherwise. */
function blankFields(line: string): string[] {
  const fields = line.match(/[ \t\n]*[^ \t\n]+|[ \t\n]+$/g) ?? ['']
  return fields.map((field, i) => (i === 0 ? field : ` ${field.slice(1)}`))
}

function numberText(word: string, settings: Settings): string {
  const { suffix, format, padding, toUnit, fromUnit } = settings
  const plain = suffix !== '' && word.endsWith(suffix) ? word.slice(0, -suffix.length) : word
  const { value, decimals } = parsed(plain, settings)
  const scaled = (value * fromUnit) / toUnit
  let text = settings.to === 'none' ? unscaled(scaled, decimals, settings) : scaledText(scaled, settings)
  text += suffix
  if (format) {
    const width = Math.abs(format.width)
    text = format.width < 0 ? text.padEnd(width) : format.zero ? text.padStart(width, '0') : text.padStart(width)
    return format.before + text + format.after
  }
  return padding < 0 ? text.padEnd(-padding) : text.padStart(padding)
}

function parsed(word: string, { from }: Settings): { value: number; decimals: number } {
  const invalid = (what: string) => new Misuse(what, { showsHint: false, exitCode: EXIT_INVALID })
  const [whole = '', digits = '', fraction = '', letter = '', i = '', rest = ''] =
    /^(-?\d+)(?:\.(\d+))?([KMGTPEZY]?)(i?)(.*)$/s.exec(word) ?? []
  if (whole === '') throw invalid(`invalid number: ${curly(word)}`)
  if (letter !== '' && from === 'none')
    throw invalid(`rejecting suffix in input: ${curly(word)} (consider using --from)`)
  if (rest !== '' || (i !== '' && from === 'si')) throw invalid(`invalid suffix in input: ${curly(word)}`)
  if (letter !== '' && from === 'iec-i' && i === '')
    throw invalid(`missing 'i' suffix in input: ${curly(word)} (e.g Ki/Mi/Gi)`)
  const base = from === 'iec' || from === 'iec-i' || (from === 'auto' && i !== '') ? 1024 : 1000
  const value = Number(`${digits}${fraction === '' ? '' : `.${fraction}`}`) * base ** UNITS.indexOf(letter)
  return { value, decimals: letter === '' ? fraction.length : 0 }
}

function unscaled(value: number, decimals: number, { round, format }: Settings): string {
  const places = format?.precision ?? decimals
  return rounded(value * 10 ** places, round) === 0
    ? (0).toFixed(places)
    : (rounded(value * 10 ** places, round) / 10 ** places).toFixed(places)
}

/** With one decimal below ten, unless a format says how many. */
function scaledText(value: number, { to, round, format }: Settings): string {
  const base = to === 'si' ? 1000 : 1024
  let [size, power] = [value, 0]
  while (Math.abs(size) >= base && power < UNITS.length - 1) {
    size /= base
    power++
  }
  const places = () => format?.precision ?? (power > 0 && Math.abs(size) < 10 ? 1 : 0)
  let shown = rounded(size * 10 ** places(), round) / 10 ** places()
  if (Math.abs(shown) >= base && power < UNITS.length - 1) {
    shown /= base
    power++
  } else if (power === 0 && places() === 0) {
    // A number that needs no unit is shown by the rules of printing, whatever way of rounding was asked for.
    shown = toEven(size)
  }
  const decimals = format?.precision ?? (power > 0 && Math.abs(shown) < 10 ? 1 : 0)
  return `${shown.toFixed(decimals)}${UNITS[power]}${to === 'iec-i' && power > 0 ? 'i' : ''}`
}

function toEven(value: number): number {
  const floor = Math.floor(value)
  if (value - floor !== 0.5) return Math.round(value)
  return floor % 2 === 0 ? floor : floor + 1
}

function rounded(value: number, way: string): number {
  const exact = Number(value.toPrecision(15))
  switch (way) {
    case 'up':
      return Math.ceil(exact)
    case 'down':
      return Math.floor(exact)
    case 'towards-zero':
      return Math.trunc(exact)
    case 'nearest':
      return Math.sign(exact) * Math.round(Math.abs(exact))
    default:
      return Math.sign(exact) * Math.ceil(Math.abs(exact))
  }
}
