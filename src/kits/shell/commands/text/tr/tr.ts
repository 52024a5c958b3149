// `tr`: replaces, deletes or squeezes bytes.

import { bytesOf } from '../bytes.ts'
import type { TextCall } from '../call.ts'
import { curly, Misuse, refusal } from '../misuse.ts'
import { optionTable, readOptions } from '../options.ts'
import { type ByteSet, byteSetOf } from './sets.ts'

const OPTIONS = optionTable('complement=c C delete=d squeeze-repeats=s truncate-set1=t')
const BYTES = 256
/** The number of bytes processed at once. */
const PIECE = 8192

interface Work {
  /** The new value of each byte; -1 for a deleted one. */
  map: Int16Array
  squeezed: Uint8Array
}

export async function tr(call: TextCall): Promise<void> {
  // Words after the first set are not options.
  const given = readOptions(call.args, OPTIONS, true)
  const [first, second, extra] = given.operands
  const isDeleting = given.has('d')
  const isSqueezing = given.has('s')
  const isComplement = given.has('c') || given.has('C')
  if (first === undefined) throw new Misuse('missing operand')
  if (second === undefined && isDeleting === isSqueezing) {
    const needed = isDeleting ? 'both deleting and squeezing repeats' : 'translating'
    throw new Misuse(`missing operand after ${curly(first)}\nTwo strings must be given when ${needed}.`)
  }
  if (second !== undefined && isDeleting && !isSqueezing) {
    throw new Misuse(
      `extra operand ${curly(second)}\nOnly one string may be given when deleting without squeezing repeats.`,
    )
  }
  if (extra !== undefined) throw new Misuse(`extra operand ${curly(extra)}`)
  const [set, other] = [byteSetOf(bytesOf(first), false), byteSetOf(bytesOf(second ?? ''), true)]
  const from = isComplement ? complementOf(set) : set.bytes
  const work: Work = { map: Int16Array.from({ length: BYTES }, (_, code) => code), squeezed: new Uint8Array(BYTES) }
  if (isDeleting) for (const byte of from) work.map[byte.charCodeAt(0)] = -1
  else if (second !== undefined) translate(work, { set, other, from, isComplement, isTruncating: given.has('t') })
  if (isSqueezing) {
    const repeated = second === undefined ? from : isDeleting ? other.bytes : targetOf(other, from.length)
    for (const byte of repeated) work.squeezed[byte.charCodeAt(0)] = 1
  }
  await apply(call, work)
}

function complementOf({ bytes }: ByteSet): string {
  const there = new Set(bytes)
  return Array.from({ length: BYTES }, (_, code) => String.fromCharCode(code))
    .filter((byte) => !there.has(byte))
    .join('')
}

type Translation = { set: ByteSet; other: ByteSet; from: string; isComplement: boolean; isTruncating: boolean }

function translate({ map }: Work, { set, other, from, isComplement, isTruncating }: Translation): void {
  checkClasses(set, other, isComplement)
  if (other.bytes === '' && other.filler === null && !isTruncating && from !== '') {
    throw refusal('when not truncating set1, string2 must be non-empty')
  }
  const to = isTruncating ? other.bytes : targetOf(other, from.length)
  const pairs = Math.min(from.length, to.length)
  for (let i = 0; i < pairs; i++) map[from.charCodeAt(i)] = to.charCodeAt(i)
}

/** The second set with the length of the first: filled at `[x*]`, or with its last byte. */
function targetOf({ bytes, filler }: ByteSet, length: number): string {
  if (filler) {
    const fill = filler.byte.repeat(Math.max(0, length - bytes.length))
    return bytes.slice(0, filler.at) + fill + bytes.slice(filler.at)
  }
  return bytes.padEnd(length, bytes.at(-1) ?? '')
}

function checkClasses(set: ByteSet, other: ByteSet, isComplement: boolean): void {
  if (other.hasOtherClass) {
    throw refusal(`when translating, the only character classes that may appear in\nstring2 are 'upper' and 'lower'`)
  }
  if (isComplement && other.cases.length > 0) {
    throw refusal(
      'when translating with complemented character classes,\nstring2 must map all characters in the domain to one',
    )
  }
  const isAligned = other.cases.every(({ at }) => set.cases.some((one) => one.at === at))
  if (!isAligned) throw refusal('misaligned [:upper:] and/or [:lower:] construct')
}

async function apply(call: TextCall, { map, squeezed }: Work): Promise<void> {
  const bytes = call.stdin
  const codes: number[] = []
  let last = -1
  for (let from = 0; from < bytes.length; from += PIECE) {
    codes.length = 0
    const to = Math.min(bytes.length, from + PIECE)
    for (let at = from; at < to; at++) {
      const code = map[bytes.charCodeAt(at)] ?? -1
      if (code < 0 || (code === last && squeezed[code] === 1)) continue
      codes.push(code)
      last = code
    }
    call.write(String.fromCharCode(...codes))
    await call.pause()
  }
}
