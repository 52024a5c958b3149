// Converts patterns in git's three notations to JavaScript regular expressions.

import { fatal } from './failure.ts'

export type Notation = 'basic' | 'extended' | 'perl' | 'fixed'

export interface PatternOptions {
  notation: Notation
  ignoresCase?: boolean
  /** Only whole words. */
  isWord?: boolean
  flags?: string
}

const MAX_PATTERN = 2000
/** Each may multiply the time of a search by the length of a line. */
const MAX_REPEATS = 8

export function compilePattern(text: string, options: PatternOptions): RegExp {
  const { notation, ignoresCase = false, isWord = false, flags = '' } = options
  const source =
    notation === 'fixed' ? literal(text) : notation === 'perl' ? text : posixSource(text, notation === 'basic')
  const plain = source.replace(/\\.|\[(?:\\.|[^\]\\])*\]/gs, '_')
  const isEndless =
    /\([^()]*[*+{][^()]*\)\s*[*+{]/.test(plain) || (plain.match(/[*+]|\{\d+,/g)?.length ?? 0) > MAX_REPEATS
  if (text.length > MAX_PATTERN || isEndless) throw fatal(`the pattern '${text}' could take too long to search for`)
  try {
    return new RegExp(isWord ? `(?<!\\w)(?:${source})(?!\\w)` : source, `${ignoresCase ? 'i' : ''}${flags}`)
  } catch (error) {
    throw fatal(`command line, '${text}': the pattern is not valid`, { cause: error })
  }
}

function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
}

const CLASSES: Record<string, string> = {
  alpha: 'A-Za-z',
  digit: '0-9',
  alnum: 'A-Za-z0-9',
  upper: 'A-Z',
  lower: 'a-z',
  space: '\\s',
  blank: ' \\t',
  punct: '!-\\/:-@\\[-`{-~',
  xdigit: '0-9A-Fa-f',
  cntrl: '\\x00-\\x1f\\x7f',
  print: '\\x20-\\x7e',
  graph: '\\x21-\\x7e',
  word: '\\w',
}

/** In the basic notation some characters are special only after a backslash. */
function posixSource(text: string, isBasic: boolean): string {
  let source = ''
  for (let i = 0; i < text.length; i++) {
    const char = text[i] ?? ''
    if (char === '[') {
      const set = bracketAt(text, i)
      source += set.source
      i = set.end
    } else if (char === '\\') {
      source += escaped(text[++i] ?? '', isBasic)
    } else if (isBasic && '(){}|+?'.includes(char)) {
      source += `\\${char}`
    } else if (isBasic && char === '*' && (source === '' || /(\(|\||\^)$/.test(source))) {
      source += '\\*'
    } else if (isBasic && char === '^' && source !== '' && !/[(|]$/.test(source)) {
      source += '\\^'
    } else if (isBasic && char === '$' && i < text.length - 1 && !/^\\[)|]/.test(text.slice(i + 1))) {
      source += '\\$'
    } else {
      source += char
    }
  }
  return source
}

function escaped(char: string, isBasic: boolean): string {
  if (char === '<') return '\\b(?=\\w)'
  if (char === '>') return '\\b(?<=\\w)'
  if (char === '`') return '^'
  if (char === "'") return '$'
  if (isBasic && '(){}|+?'.includes(char) && char !== '') return char
  if (/[wWsSbB1-9]/.test(char)) return `\\${char}`
  return char === '' ? '\\\\' : literal(char)
}

function bracketAt(text: string, start: number): { source: string; end: number } {
  let at = start + 1
  let source = '['
  if (text[at] === '^') {
    source += '^'
    at++
  }
  for (let isFirst = true; at < text.length; isFirst = false) {
    const named = /^\[:(\w+):\]/.exec(text.slice(at))
    if (named) {
      const set = CLASSES[named[1] ?? '']
      if (set === undefined) throw fatal(`command line, '${text}': Invalid character class name`)
      source += set
      at += named[0].length
    } else if (text[at] === ']' && !isFirst) {
      return { source: `${source}]`, end: at }
    } else {
      const char = text[at++] ?? ''
      source += char === '\\' || char === ']' || char === '[' ? `\\${char}` : char
    }
  }
  throw fatal(`command line, '${text}': Unmatched [, [^, [:, [., or [=`)
}
