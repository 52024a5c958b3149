// The lines that `-L` names: by their numbers, by a pattern, or by the function around them.

import { fatal } from './failure.ts'

/** From the first line to behind the last one, counted from 0. */
export interface LineRange {
  start: number
  end: number
}

const FUNCTION_LINE = /^[A-Za-z_$]/
const MAX_PATTERN = 500

export function parseRange(
  text: string,
  lines: readonly string[],
  { after = 0, name, by }: { after?: number; name: string; by: 'blame' | 'log' },
): LineRange {
  if (text.startsWith(':')) return functionRange(text.slice(1), lines)
  const match = /^(\/(?:\\.|[^/\\])*\/|[^,]*)(?:,(.*))?$/s.exec(text)
  const [first = '', last] = [match?.[1], match?.[2]]
  const start = first === '' ? 0 : startOf(first, lines, after)
  const end = last === undefined || last === '' ? lines.length : endOf(last, lines, start)
  const [low, high] = end <= start ? [Math.max(0, end - 1), start + 1] : [start, end]
  if (low >= lines.length && lines.length > 0) throw tooShort(name, lines.length, by)
  return { start: low, end: Math.min(high, lines.length) }
}

/** Git's own words; only one of the two commands knows a singular. */
function tooShort(name: string, count: number, by: 'blame' | 'log') {
  return fatal(`file ${name} has only ${count} line${count === 1 && by === 'blame' ? '' : 's'}`)
}

function startOf(text: string, lines: readonly string[], after: number): number {
  if (text.startsWith('/')) return matchFrom(text.slice(1, -1), lines, after)
  if (!/^\d+$/.test(text)) throw fatal(`-L parameter '${text}' is not available here`)
  return Math.max(0, Number(text) - 1)
}

/** Behind the last line. */
function endOf(text: string, lines: readonly string[], start: number): number {
  const relative = /^([+-])(\d+)$/.exec(text)
  if (relative) {
    const count = Number(relative[2])
    if (count === 0) throw fatal('-L invalid empty range')
    return relative[1] === '+' ? start + count : Math.max(1, start + 2 - count)
  }
  const pattern = /^\/((?:\\.|[^/\\])*)\/$/s.exec(text)
  if (pattern) return matchFrom(pattern[1] ?? '', lines, start + 1) + 1
  if (!/^\d+$/.test(text)) throw fatal(`-L parameter '${text}' is not available here`)
  return Number(text)
}

function matchFrom(pattern: string, lines: readonly string[], from: number): number {
  const regex = patternOf(pattern)
  const found = lines.findIndex((line, i) => i >= from && regex.test(line.replace(/\n$/, '')))
  if (found < 0) throw fatal(`-L parameter '${pattern}' starting at line ${from + 1}: No match`)
  return found
}

/** From the line that names the function to the next one that could. */
function functionRange(pattern: string, lines: readonly string[]): LineRange {
  const regex = patternOf(pattern)
  const start = lines.findIndex((line) => FUNCTION_LINE.test(line) && regex.test(line.replace(/\n$/, '')))
  if (start < 0) throw fatal(`-L parameter '${pattern}' starting at line 1: no match`)
  const next = lines.findIndex((line, i) => i > start && FUNCTION_LINE.test(line))
  return { start, end: next < 0 ? lines.length : next }
}

function patternOf(text: string): RegExp {
  if (text.length > MAX_PATTERN) throw fatal('the pattern is too long')
  try {
    return new RegExp(text)
  } catch (error) {
    throw fatal(`-L parameter '${text}': the pattern is not valid`, { cause: error })
  }
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
