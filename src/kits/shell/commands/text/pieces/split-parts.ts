// The parts that `split` makes of a text.

import { sizeOf } from '../bytes.ts'
import { curly, Misuse, refusal } from '../misuse.ts'
import type { GivenOptions } from '../options.ts'

const USUAL_LINES = 1000

export interface Partition {
  texts: string[]
  /** Of `-n K/N`: the only part that is printed. */
  only: number | null
}

/** Errors in the options are found before the input is read. */
export function partition(given: GivenOptions): (bytes: string) => Partition {
  const ways = given.list.filter(({ name }) => 'lbCn'.includes(name))
  if (ways.length > 1) throw new Misuse('cannot split in more than one way')
  const [way] = ways
  const end = separatorOf(given)
  if (way === undefined) return (bytes) => ({ texts: byLines(bytes, USUAL_LINES, end), only: null })
  const value = way.value ?? ''
  if (way.name === 'n') return chunks(value, end)
  const size = sizeOf(value)
  if (size === null || size === 0) {
    const what = way.name === 'l' ? 'lines' : 'bytes'
    throw refusal(`invalid number of ${what}: ${curly(value)}${size === 0 ? ': Numerical result out of range' : ''}`)
  }
  if (way.name === 'l') return (bytes) => ({ texts: byLines(bytes, size, end), only: null })
  return (bytes) => ({ texts: way.name === 'b' ? byBytes(bytes, size) : byLineBytes(bytes, size, end), only: null })
}

function separatorOf(given: GivenOptions): string {
  const separator = given.value('t')
  if (separator === undefined) return '\n'
  if (separator === '\\0') return '\0'
  if (separator === '') throw refusal('empty record separator')
  if (separator.length > 1) throw refusal(`multi-character separator ${curly(separator)}`)
  return separator
}

function byLines(bytes: string, count: number, end: string): string[] {
  const parts: string[] = []
  for (let at = 0; at < bytes.length; ) {
    const start = at
    for (let i = 0; i < count && at < bytes.length; i++) {
      const next = bytes.indexOf(end, at)
      at = next < 0 ? bytes.length : next + 1
    }
    parts.push(bytes.slice(start, at))
  }
  return parts
}

function byBytes(bytes: string, size: number): string[] {
  const parts: string[] = []
  for (let at = 0; at < bytes.length; at += size) parts.push(bytes.slice(at, at + size))
  return parts
}

/** As many whole lines as fit; a longer line is cut. */
function byLineBytes(bytes: string, size: number, end: string): string[] {
  const parts: string[] = []
  for (let at = 0; at < bytes.length; ) {
    const last = at + size >= bytes.length ? bytes.length - 1 : bytes.lastIndexOf(end, at + size - 1)
    const to = last < at ? at + size : last + 1
    parts.push(bytes.slice(at, to))
    at = to
  }
  return parts
}

function chunks(text: string, end: string): (bytes: string) => Partition {
  const [, kind = '', first, second] = /^(?:([lr])\/)?(\d+)(?:\/(\d+))?$/.exec(text) ?? []
  const count = Number(second ?? first)
  if (first === undefined) throw refusal(`invalid number of chunks: ${curly(text.replace(/^[lr]\//, ''))}`)
  if (count === 0) throw refusal(`invalid number of chunks: ${curly('0')}: Numerical result out of range`)
  const only = second === undefined ? null : Number(first)
  if (only !== null && (only < 1 || only > count)) {
    throw refusal(`invalid chunk number: ${curly(first)}: Numerical result out of range`)
  }
  const parts = kind === 'r' ? roundRobin : kind === 'l' ? lineChunks : evenChunks
  return (bytes) => ({ texts: parts(bytes, count, end), only })
}

/** Of equal length; the last one includes the remainder. */
function evenChunks(bytes: string, count: number): string[] {
  const size = Math.max(1, Math.floor(bytes.length / count))
  return Array.from({ length: count }, (_, i) => bytes.slice(i * size, i === count - 1 ? bytes.length : (i + 1) * size))
}

/** A line belongs to the chunk in which it starts. */
function lineChunks(bytes: string, count: number, end: string): string[] {
  const size = Math.max(1, Math.floor(bytes.length / count))
  const parts: string[] = []
  let at = 0
  for (let i = 0; i < count; i++) {
    const border = i === count - 1 ? bytes.length : (i + 1) * size
    if (at >= border) {
      parts.push('')
      continue
    }
    const last = bytes.indexOf(end, border - 1)
    const to = last < 0 ? bytes.length : last + 1
    parts.push(bytes.slice(at, to))
    at = to
  }
  return parts
}

function roundRobin(bytes: string, count: number, end: string): string[] {
  const parts = Array.from({ length: count }, () => [] as string[])
  for (const [i, line] of byLines(bytes, 1, end).entries()) parts[i % count]?.push(line)
  return parts.map((lines) => lines.join(''))
}
