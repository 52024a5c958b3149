// A patch by words: in each run of changed lines, the unchanged words are shown plainly and the others marked.

import { failed } from '../failure.ts'
import { compilePattern } from '../patterns.ts'
import { gitEdits } from './line-edits.ts'

export type WordStyle = 'plain' | 'color' | 'porcelain'

export interface WordOptions {
  style: WordStyle
  /** The pattern of a word; without it, text between blanks. */
  pattern: RegExp | null
}

interface Word {
  text: string
  start: number
  end: number
}

const RESET = '\x1b[m'
const COLORS = { header: '\x1b[1m', hunk: '\x1b[36m', old: '\x1b[31m', now: '\x1b[32m', kept: '' } as const

export function wordStyle(given: string): WordStyle | null {
  if (given === '' || given === 'plain') return 'plain'
  if (given === 'none') return null
  if (given === 'color' || given === 'porcelain') return given
  throw failed(`bad --word-diff argument: ${given}`, 129)
}

export function wordPattern(text: string): RegExp {
  // A dot matches everything except a line end, including carriage returns.
  const exact = text.replace(/\\.|\[[^\]]*\]|\./gs, (part) => (part === '.' ? '[^\n]' : part))
  return compilePattern(exact, { notation: 'extended', flags: 'gm' })
}

/** Converts a patch with lines to one with words. */
export function byWords(patch: string, options: WordOptions): string {
  let text = ''
  let [old, now] = ['', '']
  let left = { old: 0, now: 0 }
  const flush = () => {
    if (old !== '' || now !== '') text += changedText(old, now, options)
    old = ''
    now = ''
  }
  for (const line of patch.match(/[^\n]*\n|[^\n]+$/g) ?? []) {
    const hunk = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line)
    if (left.old + left.now > 0 && /^[ +-]/.test(line)) {
      if (line[0] !== '+') left.old--
      if (line[0] !== '-') left.now--
      if (line[0] === '-') old += line.slice(1)
      else if (line[0] === '+') now += line.slice(1)
      else {
        flush()
        text += keptLine(line, options.style)
      }
    } else if (!line.startsWith('\\ ')) {
      flush()
      if (hunk) left = { old: Number(hunk[1] ?? 1), now: Number(hunk[2] ?? 1) }
      text += options.style === 'color' ? coloredHeader(line) : line
    }
  }
  flush()
  return text
}

function keptLine(line: string, style: WordStyle): string {
  if (style === 'porcelain') return `${line}~\n`
  return style === 'color' && line.length > 2 ? `${line.slice(1).replace(/\n$/, '')}${RESET}\n` : line.slice(1)
}

function coloredHeader(line: string): string {
  const [, range, rest = ''] = /^(@@ .*? @@)(.*)\n$/.exec(line) ?? []
  if (range !== undefined)
    return `${COLORS.hunk}${range}${RESET}${rest === '' ? '' : ` ${RESET}${rest.slice(1)}${RESET}`}\n`
  return `${COLORS.header}${line.replace(/\n$/, '')}${RESET}\n`
}

type Kind = 'old' | 'now' | 'kept'

function changedText(old: string, now: string, options: WordOptions): string {
  if (now === '') return marked(old, 'old', options.style)
  const [before, after] = [wordsOf(old, options.pattern), wordsOf(now, options.pattern)]
  const texts = (words: readonly Word[]) => words.map((word) => word.text)
  let shown = ''
  let at = 0
  for (const { start, end, from, to } of gitEdits(texts(before), texts(after), { byIndent: false, trimsTail: true })) {
    const [oldStart, oldEnd] = spanOf(before, start, end)
    const [nowStart, nowEnd] = spanOf(after, from, to)
    if (at !== nowStart) shown += marked(now.slice(at, nowStart), 'kept', options.style)
    if (oldStart !== oldEnd) shown += marked(old.slice(oldStart, oldEnd), 'old', options.style)
    if (nowStart !== nowEnd) shown += marked(now.slice(nowStart, nowEnd), 'now', options.style)
    at = nowEnd
  }
  return at === now.length ? shown : shown + marked(now.slice(at), 'kept', options.style)
}

/** The range of the words; for none, the position after the previous word. */
function spanOf(words: readonly Word[], start: number, end: number): [number, number] {
  const [first, last] = [words[start], words[end - 1]]
  if (end > start && first && last) return [first.start, last.end]
  const before = words[start - 1]?.end ?? 0
  return [before, before]
}

function wordsOf(text: string, pattern: RegExp | null): Word[] {
  const words: Word[] = []
  for (const line of text.matchAll(/[^\n]+/g))
    for (const match of line[0].matchAll(pattern ?? /\S+/g)) {
      const start = line.index + match.index
      if (match[0] !== '') words.push({ text: match[0], start, end: start + match[0].length })
    }
  return words
}

const SIGNS: Record<Exclude<WordStyle, 'color'>, Record<Kind, readonly [string, string]>> = {
  plain: { old: ['[-', '-]'], now: ['{+', '+}'], kept: ['', ''] },
  porcelain: { old: ['-', '\n'], now: ['+', '\n'], kept: [' ', '\n'] },
}

function marked(text: string, kind: Kind, style: WordStyle): string {
  const color = COLORS[kind]
  const [before, after] = style !== 'color' ? SIGNS[style][kind] : color === '' ? ['', ''] : [color, RESET]
  const newline = style === 'porcelain' ? '~\n' : '\n'
  return text
    .split('\n')
    .map((part) => (part === '' ? '' : before + part + after))
    .join(newline)
}
