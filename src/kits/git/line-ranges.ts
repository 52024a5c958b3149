// The lines given by `-L`: by numbers, by a pattern, or by a function name.

import { fatal, GitFailure } from './failure.ts'
import { compilePattern } from './patterns.ts'

/** From the first line to the one after the last, counted from 0. */
export interface LineRange {
  start: number
  end: number
}

const FUNCTION_LINE = /^[A-Za-z_$]/

interface RangeContext {
  lines: readonly string[]
  /** The end of the previous ranges: patterns are searched from there. */
  after: number
}

export function parseRange(
  text: string,
  lines: readonly string[],
  { after = 0, name, by }: { after?: number; name: string; by: 'blame' | 'log' },
): LineRange {
  const context = { lines, after: Math.min(after, lines.length) }
  const range = /^\^?:/.test(text) ? functionRange(text, context) : numberedRange(text, context)
  if (!range) throw malformed(text, by)
  // Counted from 1, with 0 for a missing number.
  const [first, last] = range
  if ((lines.length === 0 && (first > 0 || last > 0)) || lines.length < first) throw tooShort(name, lines.length, by)
  return { start: Math.max(1, first) - 1, end: last < 1 || last > lines.length ? lines.length : last }
}

function malformed(text: string, by: 'blame' | 'log'): GitFailure {
  if (by === 'log') return fatal(`malformed -L argument '${text}'`)
  return new GitFailure('usage: git blame [<options>] [<rev-opts>] [<rev>] [--] <file>', 129)
}

/** Git's own texts; only one of the two commands has a singular. */
function tooShort(name: string, count: number, by: 'blame' | 'log') {
  return fatal(`file ${name} has only ${count} line${count === 1 && by === 'blame' ? '' : 's'}`)
}

const ONE_PLACE = /^(?:[+-]?\d+|\^?\/(?:\\.|[^/\\])*\/)?/s

function numberedRange(text: string, { lines, after }: RangeContext): [number, number] | null {
  const first = ONE_PLACE.exec(text)?.[0] ?? ''
  const rest = text.slice(first.length)
  const start = first === '' ? 0 : startOf(first, { lines, after })
  if (rest === '') return [start, 0]
  const last = rest.startsWith(',') ? (ONE_PLACE.exec(rest.slice(1))?.[0] ?? '') : ''
  if (rest !== `,${last}` || last.startsWith('^')) return null
  const end = last === '' ? 0 : endOf(last, { lines, start })
  return end > 0 && start > 0 && end < start ? [end, start] : [start, end]
}

function startOf(text: string, { lines, after }: RangeContext): number {
  if (text.startsWith('^')) return matchFrom(text.slice(2, -1), lines, 0)
  return text.startsWith('/') ? matchFrom(text.slice(1, -1), lines, after) : lineNumber(text)
}

function lineNumber(text: string): number {
  const number = Number(text)
  if (number <= 0) throw fatal(`-L invalid line number: ${number}`)
  return number
}

function endOf(text: string, { lines, start }: { lines: readonly string[]; start: number }): number {
  if (text.startsWith('/')) return matchFrom(text.slice(1, -1), lines, start)
  if (!/^[+-]/.test(text)) return lineNumber(text)
  const count = Number(text.slice(1))
  if (count === 0) throw fatal('-L invalid empty range')
  return text.startsWith('+') ? start + count - 1 : Math.max(1, start + 1 - count)
}

/** The number of the first matching line after this many. */
function matchFrom(pattern: string, lines: readonly string[], from: number): number {
  const regex = patternOf(pattern)
  const found = lines.findIndex((line, i) => i >= from && regex.test(line.replace(/\n$/, '')))
  if (found < 0) throw fatal(`-L parameter '${pattern}' starting at line ${from + 1}: No match`)
  return found + 1
}

/** From the line that names the function to the next possible function line. */
function functionRange(text: string, { lines, after }: RangeContext): [number, number] | null {
  const isFromTop = text.startsWith('^')
  const pattern = text.slice(isFromTop ? 2 : 1)
  if (pattern === '') return null
  const from = isFromTop ? 0 : after
  const regex = patternOf(pattern)
  const start = lines.findIndex(
    (line, i) => i >= from && FUNCTION_LINE.test(line) && regex.test(line.replace(/\n$/, '')),
  )
  if (start < 0) throw fatal(`-L parameter '${pattern}' starting at line ${from + 1}: no match`)
  const next = lines.findIndex((line, i) => i > start && FUNCTION_LINE.test(line))
  return [start + 1, next < 0 ? lines.length : next]
}

function patternOf(text: string): RegExp {
  return compilePattern(text, { notation: 'basic', flags: '' })
}

/** Sorted, and without overlaps. */
export function joinedRanges(ranges: readonly LineRange[]): LineRange[] {
  const joined: LineRange[] = []
  for (const range of [...ranges].sort((a, b) => a.start - b.start)) {
    const last = joined.at(-1)
    if (last && range.start <= last.end) last.end = Math.max(last.end, range.end)
    else joined.push({ ...range })
  }
  return joined
}
