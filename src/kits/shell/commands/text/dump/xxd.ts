// `xxd`: bytes as hexadecimal digits, and back.

import { bytesToText, textToBytes } from '../../../../../workspace/text-encodings.ts'
import type { TextCall } from '../call.ts'
import { refusal } from '../misuse.ts'
import { HEX_BYTES, printable } from './od-types.ts'
import { type XxdSettings, xxdSettings } from './xxd-arguments.ts'

const LINES_AT_ONCE = 1000
/** A reversed dump may have gaps, which are filled. */
const MAX_REVERSED_BYTES = 64 * 1024 * 1024

export async function xxd(call: TextCall): Promise<void> {
  const settings = xxdSettings(call.args)
  const given = await call.mustRead(settings.input, undefined, 2)
  const bytes = textToBytes(given, 'latin1')
  const shown = settings.isReverse
    ? bytesToText(reversed(given, settings), 'latin1')
    : await dumped(call, settings, bytes)
  if (settings.output === null) call.write(shown)
  else await call.save(settings.output, shown)
}

const MOST_COLUMNS = 256

async function dumped(call: TextCall, settings: XxdSettings, all: Uint8Array): Promise<string> {
  const start = startOf(settings, all.length)
  const bytes = all.subarray(start, settings.length === null ? all.length : start + settings.length)
  if (settings.kind === 'include') return included(bytes, settings)
  if (settings.kind === 'plain') return plain(bytes, settings)
  const columns = settings.columns || (settings.kind === 'bits' ? 6 : 16)
  if (columns > MOST_COLUMNS) throw refusal(`invalid number of columns (max. ${MOST_COLUMNS}).`)
  const group = settings.group ?? { bits: 1, little: 4, hex: 2 }[settings.kind]
  if (settings.kind === 'little' && (group & (group - 1)) !== 0) {
    throw refusal('number of octets per group must be a power of 2 with -e.')
  }
  const lines: string[] = []
  let zeros = 0
  for (let at = 0, count = 0; at < bytes.length; at += columns, count++) {
    if (count % LINES_AT_ONCE === 0) await call.pause()
    const block = bytes.subarray(at, at + columns)
    const isLast = at + columns >= bytes.length
    zeros = settings.skipsZeros && block.every((byte) => byte === 0) ? zeros + 1 : 0
    // Of consecutive lines with only zeros, the first and the very last line are shown.
    if (zeros > 1 && !isLast) {
      if (zeros === 2) lines.push('*')
      continue
    }
    lines.push(lineOf(block, start + at + settings.offset, { settings, columns, group: group || columns }))
  }
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`
}

function startOf({ seek }: XxdSettings, size: number): number {
  if (seek === null) return 0
  if (seek.from === 'start') return Math.min(size, seek.count)
  if (seek.count > size) throw refusal('Sorry, cannot seek.', 4)
  return size - seek.count
}

type Line = { settings: XxdSettings; columns: number; group: number }

function lineOf(block: Uint8Array, address: number, { settings, columns, group }: Line): string {
  const { kind, isUpper, isDecimal } = settings
  const digits = kind === 'bits' ? 8 : 2
  const groups: string[] = []
  for (let at = 0; at < block.length; at += group) {
    const part = Array.from(block.subarray(at, at + group), (byte) => digitsOf(byte, kind === 'bits', isUpper))
    groups.push(
      kind === 'little'
        ? part
            .reverse()
            .join('')
            .padStart(group * digits)
        : part.join(''),
    )
  }
  const width = columns * digits + Math.ceil(columns / group) - 1
  const shown = address.toString(isDecimal ? 10 : 16).padStart(8, '0')
  return `${shown}: ${groups.join(' ').padEnd(kind === 'little' ? width + (columns % group > 0 ? (group - (columns % group)) * 2 : 0) : width)}  ${printable(block)}`
}

function digitsOf(byte: number, isBits: boolean, isUpper: boolean): string {
  if (isBits) return byte.toString(2).padStart(8, '0')
  const hex = HEX_BYTES[byte] ?? ''
  return isUpper ? hex.toUpperCase() : hex
}

function plain(bytes: Uint8Array, { columns, isUpper }: XxdSettings): string {
  const hex = bytesToText(bytes, 'hex')
  const shown = isUpper ? hex.toUpperCase() : hex
  if (shown === '') return ''
  if (columns === 0) return `${shown}\n`
  const width = (columns ?? 30) * 2
  const lines: string[] = []
  for (let at = 0; at < shown.length; at += width) lines.push(shown.slice(at, at + width))
  return `${lines.join('\n')}\n`
}

/** As C source; with a name around it if there is one. */
function included(bytes: Uint8Array, { columns, isUpper, isCapital, input, name: given }: XxdSettings): string {
  const width = columns || 12
  const lines: string[] = []
  const numbers = Array.from(bytes, (byte) =>
    isUpper ? `0X${digitsOf(byte, false, true)}` : `0x${digitsOf(byte, false, false)}`,
  )
  for (let at = 0; at < numbers.length; at += width) lines.push(`  ${numbers.slice(at, at + width).join(', ')}`)
  const body = lines.length === 0 ? '' : `${lines.join(',\n')}\n`
  if (input === '-' && given === null) return body
  const plainName = (given ?? input).replace(/[^A-Za-z0-9]/g, '_').replace(/^(?=\d)/, '__')
  const name = isCapital ? plainName.toUpperCase() : plainName
  return `unsigned char ${name}[] = {\n${body}};\nunsigned int ${name}_${isCapital ? 'LEN' : 'len'} = ${bytes.length};\n`
}

function reversed(text: string, settings: XxdSettings): Uint8Array {
  if (settings.kind === 'plain') {
    const digits = text.replace(/[^0-9a-fA-F]+/g, '')
    return textToBytes(digits.slice(0, digits.length - (digits.length % 2)), 'hex')
  }
  if (settings.kind !== 'hex') throw refusal('Sorry, cannot revert this type of hexdump', 255)
  const parts: { at: number; bytes: Uint8Array }[] = []
  const columns = settings.columns || 16
  let size = 0
  for (const line of text.split('\n')) {
    const [, address, rest = ''] = /^\s*([\da-fA-F]+):? ?(.*)$/.exec(line) ?? []
    if (address === undefined) continue
    const field = /^((?:[\da-fA-F]+ ?)*)/.exec(rest)?.[1] ?? ''
    const bytes = textToBytes(field.replaceAll(' ', '').slice(0, columns * 2), 'hex')
    const at = Number.parseInt(address, settings.isDecimal ? 10 : 16) + settings.offset + (settings.seek?.count ?? 0)
    size = Math.max(size, at + bytes.length)
    parts.push({ at, bytes })
  }
  if (size > MAX_REVERSED_BYTES) throw refusal('Sorry, cannot seek.', 5)
  const whole = new Uint8Array(size)
  for (const { at, bytes } of parts) whole.set(bytes, at)
  return whole
}
