// `seq`: numbers from one to another. Decimals are computed exactly, as integers in units of their last digit.

import { bytesOf } from '../bytes.ts'
import type { TextCall } from '../call.ts'
import { curly, Misuse, refusal } from '../misuse.ts'
import { optionTable, readOptions } from '../options.ts'
import { type FloatFormat, floatFormat, formatFloat } from './float-format.ts'

const OPTIONS = optionTable('format=f: separator=s: equal-width=w')
const NUMBERS_AT_ONCE = 5000
const DECIMAL = /^\s*([-+]?)(\d*)(?:\.(\d*))?(?:[eE]([-+]?\d{1,4}))?$/
const MAX_DECIMALS = 1000

interface Decimal {
  /** The number without its decimal point. */
  digits: bigint
  decimals: number
  isMinusZero: boolean
}

export async function seq(call: TextCall): Promise<void> {
  const [options, numbers] = parted(call.args)
  const given = readOptions(options, OPTIONS, true)
  const operands = [...given.operands, ...numbers]
  if (operands.length === 0) throw new Misuse('missing operand')
  const [, , , extra] = operands
  if (extra !== undefined) throw new Misuse(`extra operand ${curly(extra)}`)
  const format = given.has('f') ? floatFormat(given.value('f') ?? '') : null
  if (format !== null && given.has('w'))
    throw new Misuse('format string may not be specified when printing equal width strings')
  const values = operands.map(decimalOf)
  const [first = ONE, step = ONE, last = ONE] =
    values.length === 1 ? [ONE, ONE, values[0]] : values.length === 2 ? [values[0], ONE, values[1]] : values
  if (step.digits === 0n) throw new Misuse(`invalid Zero increment value: ${curly(operands[1] ?? '')}`)
  await writeNumbers(call, {
    first,
    step,
    last,
    format,
    isEqualWidth: given.has('w'),
    separator: bytesOf(given.value('s') ?? '\n'),
  })
}

const ONE: Decimal = { digits: 1n, decimals: 0, isMinusZero: false }

/** Negative numbers look like options; everything after the first number is a number too. */
function parted(args: readonly string[]): [string[], string[]] {
  let at = 0
  while (at < args.length) {
    const arg = args[at] ?? ''
    if (arg === '--' || !arg.startsWith('-') || /^-[.\d]/.test(arg)) break
    at += /^(-w*[fs]|--(format|separator|f.*|s[^=]*))$/.test(arg) && !arg.includes('=') ? 2 : 1
  }
  return [args.slice(0, at), args.slice(args[at] === '--' ? at + 1 : at)]
}

function decimalOf(text: string): Decimal {
  if (/^\s*[-+]?(inf(inity)?|nan|0x)/i.test(text)) throw refusal(`the number ${curly(text)} is not available here`)
  const [, sign = '', whole = '', fraction = '', power = '0'] = DECIMAL.exec(text) ?? []
  if (whole + fraction === '' || Math.abs(Number(power)) > MAX_DECIMALS)
    throw new Misuse(`invalid floating point argument: ${curly(text)}`)
  const shift = Number(power)
  const decimals = Math.max(0, fraction.length - shift)
  const digits = BigInt(whole + fraction) * 10n ** BigInt(Math.max(0, shift - fraction.length))
  return { digits: sign === '-' ? -digits : digits, decimals, isMinusZero: sign === '-' && digits === 0n }
}

type Sequence = {
  first: Decimal
  step: Decimal
  last: Decimal
  format: FloatFormat | null
  isEqualWidth: boolean
  separator: string
}

async function writeNumbers(call: TextCall, sequence: Sequence): Promise<void> {
  const { first, step, last, format, isEqualWidth, separator } = sequence
  const decimals = Math.max(first.decimals, step.decimals)
  const scale = Math.max(decimals, last.decimals)
  const scaled = ({ digits, decimals: own }: Decimal) => digits * 10n ** BigInt(scale - own)
  const [from, by, to] = [scaled(first), scaled(step), scaled(last)]
  const cut = 10n ** BigInt(scale - decimals)
  const width = isEqualWidth
    ? Math.max(plain(from / cut, decimals).length, plain(lastShown(to, cut), decimals).length)
    : 0
  let parts: string[] = []
  let isFirst = true
  for (let value = from; by > 0n ? value <= to : value >= to; value += by) {
    const text = plain(value / cut, decimals)
    const shown = format !== null ? bytesOf(formatFloat(Number(text), format)) : padded(text, width)
    parts.push(isFirst && first.isMinusZero ? `-${shown}` : shown)
    isFirst = false
    if (parts.length < NUMBERS_AT_ONCE) continue
    call.write(parts.join(separator) + separator)
    parts = []
    await call.pause()
  }
  // The last separator is always a line end.
  if (parts.length > 0) call.write(`${parts.join(separator)}\n`)
}

/** The last number, with the displayed number of decimals. */
function lastShown(to: bigint, cut: bigint): bigint {
  return to / cut
}

function plain(digits: bigint, decimals: number): string {
  if (decimals === 0) return String(digits)
  const text = String(digits < 0n ? -digits : digits).padStart(decimals + 1, '0')
  return `${digits < 0n ? '-' : ''}${text.slice(0, -decimals)}.${text.slice(-decimals)}`
}

function padded(text: string, width: number): string {
  return text.startsWith('-') ? `-${text.slice(1).padStart(width - 1, '0')}` : text.padStart(width, '0')
}
