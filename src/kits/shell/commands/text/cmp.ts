// `cmp`: the first difference of two files, by byte.

import { sizeOf } from './bytes.ts'
import type { TextCall } from './call.ts'
import { Misuse } from './misuse.ts'
import { optionTable, readOptions } from './options.ts'

const OPTIONS = optionTable('print-bytes=b ignore-initial=i: verbose=l bytes=n: quiet=s silent=s')
const EXIT_TROUBLE = 2

interface CmpOptions {
  isSilent: boolean
  isVerbose: boolean
  showsBytes: boolean
}

export async function cmp(call: TextCall): Promise<void> {
  call.misuseExit = EXIT_TROUBLE
  call.hintPrefix = 'cmp: '
  const given = readOptions(call.args, OPTIONS)
  const [first, second = '-', firstSkip, secondSkip, extra] = given.operands
  if (first === undefined) throw new Misuse(`missing operand after 'cmp'`)
  if (extra !== undefined) throw new Misuse(`extra operand '${extra}'`)
  const [skipA = '0', skipB = skipA] = given.value('i')?.split(':') ?? [firstSkip ?? '0', secondSkip ?? '0']
  const way = { isSilent: given.has('s'), isVerbose: given.has('l'), showsBytes: given.has('b') }
  if (way.isSilent && way.isVerbose) throw new Misuse('options -l and -s are incompatible')
  const limit = given.has('n') ? sizeGiven(given.value('n') ?? '', '--bytes') : Infinity
  const skips = [skipA, skipB].map((skip) => sizeGiven(skip, '--ignore-initial'))
  const part = async (name: string, skip = 0) => {
    const bytes = await call.mustRead(name, undefined, EXIT_TROUBLE)
    return bytes.slice(skip).slice(0, limit)
  }
  compare(call, way, [
    { name: first, bytes: await part(first, skips[0]) },
    { name: second, bytes: await part(second, skips[1]) },
  ])
}

function sizeGiven(text: string, option: string): number {
  const size = sizeOf(text)
  if (size === null) throw new Misuse(`invalid ${option} value '${text}'`, { exitCode: EXIT_TROUBLE })
  return size
}

interface Side {
  name: string
  bytes: string
}

function compare(call: TextCall, way: CmpOptions, [a, b]: readonly [Side, Side]): void {
  if (a.bytes === b.bytes) return
  call.exitCode = 1
  if (way.isSilent) return
  const length = Math.min(a.bytes.length, b.bytes.length)
  let at = 0
  while (at < length && a.bytes.charCodeAt(at) === b.bytes.charCodeAt(at)) at++
  const line = linesBefore(a.bytes, at) + 1
  if (way.isVerbose)
    listDifferences(call, way, {
      a: a.bytes,
      b: b.bytes,
      from: at,
      isSized: [a, b].every(({ name }) => !/^-$|^\/dev\//.test(name)),
    })
  else if (at < length) {
    const shown = way.showsBytes ? ` is ${seen(a.bytes, at)} ${seen(b.bytes, at)}` : ''
    call.writeText(`${a.name} ${b.name} differ: byte ${at + 1}, line ${line}${shown}\n`)
    return
  }
  if (a.bytes.length === b.bytes.length) return
  const shorter = a.bytes.length < b.bytes.length ? a : b
  if (length === 0) {
    call.complain(`EOF on ${shorter.name} which is empty`)
    return
  }
  const lines = linesBefore(shorter.bytes, length)
  const place = way.isVerbose ? '' : shorter.bytes.endsWith('\n') ? `, line ${lines}` : `, in line ${lines + 1}`
  call.complain(`EOF on ${shorter.name} after byte ${length}${place}`)
}

function linesBefore(bytes: string, end: number): number {
  let lines = 0
  for (let at = bytes.indexOf('\n'); at >= 0 && at < end; at = bytes.indexOf('\n', at + 1)) lines++
  return lines
}

/** A pipe's size is unknown in advance, so there is room for the largest number. */
const UNSIZED_WIDTH = 19

type Differences = { a: string; b: string; from: number; isSized: boolean }

function listDifferences(call: TextCall, { showsBytes }: CmpOptions, { a, b, from, isSized }: Differences): void {
  const length = Math.min(a.length, b.length)
  const width = isSized ? String(Math.max(1, length)).length : UNSIZED_WIDTH
  const lines: string[] = []
  for (let at = from; at < length; at++) {
    const [x, y] = [a.charCodeAt(at), b.charCodeAt(at)]
    if (x === y) continue
    const place = String(at + 1).padStart(width)
    lines.push(
      showsBytes
        ? `${place} ${octal(x)} ${visible(x).padEnd(4)} ${octal(y)} ${visible(y)}\n`
        : `${place} ${octal(x)} ${octal(y)}\n`,
    )
  }
  call.write(lines.join(''))
}

function seen(bytes: string, at: number): string {
  const code = bytes.charCodeAt(at)
  return `${octal(code)} ${visible(code)}`
}

function octal(code: number): string {
  return code.toString(8).padStart(3)
}

function visible(code: number): string {
  if (code >= 128) return `M-${visible(code - 128)}`
  if (code < 32) return `^${String.fromCharCode(code + 64)}`
  return code === 127 ? '^?' : String.fromCharCode(code)
}
