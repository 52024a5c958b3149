// The condition on a line with several patterns combined by `--and`, `--or`, `--not` and parentheses.

import { fatal } from './failure.ts'

/** Whether a line matches; the parts that `--all-match` requires are counted separately. */
export type LineTest = (line: string) => boolean

export type Token = { kind: 'pattern'; text: string } | { kind: 'and' | 'not' | 'open' | 'close' }

export interface GrepWords {
  /** Patterns and operators, in order. */
  tokens: Token[]
  /** All other arguments. */
  rest: string[]
}

const JOINERS: Readonly<Record<string, Token | null>> = {
  '--and': { kind: 'and' },
  // Patterns are alternatives by default.
  '--or': null,
  '--not': { kind: 'not' },
  '(': { kind: 'open' },
  ')': { kind: 'close' },
}

/** Extracts the patterns and operators from the arguments. */
export function grepWords(args: readonly string[]): GrepWords {
  const found: GrepWords = { tokens: [], rest: [] }
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] ?? ''
    if (arg === '--') {
      found.rest.push(...args.slice(i))
      break
    }
    const joiner = JOINERS[arg]
    const [, letters, joined = ''] = /^-([nwivlLchHqFEGPoazIrpW]*)e(.*)$/s.exec(arg) ?? []
    if (joiner !== undefined) found.tokens.push(...(joiner ? [joiner] : []))
    else if (letters !== undefined && (joined !== '' || i + 1 < args.length)) {
      if (letters !== '') found.rest.push(`-${letters}`)
      found.tokens.push({ kind: 'pattern', text: joined === '' ? (args[++i] ?? '') : joined })
    } else if (/^-[fABCm]$/.test(arg)) found.rest.push(arg, ...args.slice(++i, i + 1))
    else found.rest.push(arg)
  }
  return found
}

/** The tests of the alternatives; a line must match one of them. */
export function lineTests(tokens: readonly Token[], testOf: (pattern: string) => LineTest): LineTest[] {
  const parser = new ExpressionParser(tokens, testOf)
  const tests = parser.alternatives()
  if (!parser.isAtEnd) throw fatal('incomplete pattern expression group: )')
  return tests
}

class ExpressionParser {
  readonly #tokens: readonly Token[]
  readonly #testOf: (pattern: string) => LineTest
  #at = 0

  constructor(tokens: readonly Token[], testOf: (pattern: string) => LineTest) {
    this.#tokens = tokens
    this.#testOf = testOf
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#tokens.length
  }

  #take(kind: Token['kind']): boolean {
    if (this.#tokens[this.#at]?.kind !== kind) return false
    this.#at++
    return true
  }

  alternatives(): LineTest[] {
    const tests: LineTest[] = []
    while (!this.isAtEnd && this.#tokens[this.#at]?.kind !== 'close') {
      const test = this.#joined()
      if (!test) throw fatal('not a pattern expression')
      tests.push(test)
    }
    return tests
  }

  #joined(): LineTest | null {
    const left = this.#turned()
    if (!left || !this.#take('and')) return left
    const right = this.#joined()
    if (!right) throw fatal('--and not followed by pattern expression')
    return (line) => left(line) && right(line)
  }

  #turned(): LineTest | null {
    if (!this.#take('not')) return this.#single()
    const test = this.#turned()
    if (!test) throw fatal('--not followed by non pattern expression')
    return (line) => !test(line)
  }

  #single(): LineTest | null {
    const token = this.#tokens[this.#at]
    if (token?.kind === 'pattern') {
      this.#at++
      return this.#testOf(token.text)
    }
    if (!this.#take('open')) return null
    const tests = this.alternatives()
    if (!this.#take('close')) throw fatal('unmatched ( for expression group')
    return tests.length === 0 ? null : (line) => tests.some((test) => test(line))
  }
}
