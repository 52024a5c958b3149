// `base64`, `base32` and `basenc`.

import type { TextCall } from './call.ts'
import { curly, Misuse, refusal } from './misuse.ts'
import { type GivenOptions, optionTable, readOptions } from './options.ts'

const OPTIONS = optionTable('decode=d ignore-garbage=i wrap=w:')
const BASENC_OPTIONS = optionTable(
  `decode=d ignore-garbage=i wrap=w: base64 base64url base32 base32hex base16 base2msbf`,
)
const WIDTH = 76

interface Base {
  letters: string
  bits: number
  /** The number of letters for a whole number of bytes. */
  group: number
}

const BASES: Readonly<Record<string, Base>> = {
  base32: { letters: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', bits: 5, group: 8 },
  base64: { letters: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/', bits: 6, group: 4 },
  base64url: { letters: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_', bits: 6, group: 4 },
  base32hex: { letters: '0123456789ABCDEFGHIJKLMNOPQRSTUV', bits: 5, group: 8 },
  base16: { letters: '0123456789ABCDEF', bits: 4, group: 2 },
  base2msbf: { letters: '01', bits: 1, group: 8 },
}

export async function baseEncoding(call: TextCall): Promise<void> {
  const isChosen = call.name === 'basenc'
  const given = readOptions(call.args, isChosen ? BASENC_OPTIONS : OPTIONS)
  const name = isChosen ? given.list.findLast(({ name: one }) => Object.hasOwn(BASES, one))?.name : call.name
  const base = BASES[name ?? '']
  if (!base) throw new Misuse('missing encoding type')
  await encodeOrDecode(call, given, base)
}

async function encodeOrDecode(call: TextCall, given: GivenOptions, base: Base): Promise<void> {
  const [name = '-', extra] = given.operands
  if (extra !== undefined) throw new Misuse(`extra operand ${curly(extra)}`)
  const width = given.value('w') ?? String(WIDTH)
  if (!/^\d+$/.test(width)) throw refusal(`invalid wrap size: ${curly(width)}`)
  const bytes = await call.mustRead(name, (reason) =>
    reason === 'Is a directory' ? `read error: ${reason}` : `${name}: ${reason}`,
  )
  if (given.has('d')) {
    const { decoded, isWhole } = decode(bytes, base, given.has('i'))
    call.write(decoded)
    if (!isWhole) call.complain('invalid input')
    return
  }
  const encoded = base === BASES.base64 ? btoa(bytes) : encode(bytes, base)
  call.write(wrapped(encoded, Number(width)))
}

function wrapped(text: string, width: number): string {
  if (width === 0 || text === '') return text
  const lines: string[] = []
  for (let at = 0; at < text.length; at += width) lines.push(text.slice(at, at + width))
  return `${lines.join('\n')}\n`
}

function encode(bytes: string, { letters, bits, group }: Base): string {
  const parts: string[] = []
  let [held, count] = [0, 0]
  for (let i = 0; i < bytes.length; i++) {
    held = ((held << 8) | bytes.charCodeAt(i)) & 0xffff
    count += 8
    for (; count >= bits; count -= bits) parts.push(letters.charAt((held >> (count - bits)) & ((1 << bits) - 1)))
  }
  if (count > 0) parts.push(letters.charAt((held << (bits - count)) & ((1 << bits) - 1)))
  while (parts.length % group !== 0) parts.push('=')
  return parts.join('')
}

/** Up to the first invalid character. Several concatenated encoded texts are decoded one by one. */
function decode(
  text: string,
  { letters, bits, group }: Base,
  skipsOthers: boolean,
): { decoded: string; isWhole: boolean } {
  const known = skipsOthers
    ? text.replace(new RegExp(`[^${letters.replace('-', '\\-')}=]+`, 'g'), '')
    : text.replaceAll('\n', '')
  // The runtime's own decoder is much faster for valid text.
  if (letters.endsWith('+/') && known.length % group === 0 && /^[A-Za-z0-9+/]*$/.test(known))
    return { decoded: atob(known), isWhole: true }
  const parts: string[] = []
  for (let at = 0; at < known.length; at += group) {
    const letterGroup = known.slice(at, at + group)
    const plain = /^[^=]*/.exec(letterGroup)?.[0] ?? ''
    let [held, count, bytes, used] = [0, 0, '', 0]
    for (const letter of plain) {
      const value = letters.indexOf(letter)
      if (value < 0) break
      used++
      held = ((held << bits) | value) & 0xffff
      count += bits
      if (count >= 8) {
        count -= 8
        bytes += String.fromCharCode((held >> count) & 0xff)
      }
    }
    parts.push(bytes)
    // The remaining bits must be fewer than a letter has, and the group padded.
    const isSound = used === plain.length && /^=*$/.test(letterGroup.slice(used)) && letterGroup.length === group
    if (!isSound || count >= bits || used === 0) return { decoded: parts.join(''), isWhole: false }
  }
  return { decoded: parts.join(''), isWhole: true }
}
