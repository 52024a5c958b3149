// Parses POSIX basic and extended regular expressions with GNU's extensions.

import { ANY_CHARACTER, NOT_SPACE, NOT_WORD, readBracket, SPACE, WORD } from './brackets.ts'
import { type Anchor, type Dialect, literal, MAX_REPEATS, type Regex, RegexError } from './syntax.ts'

export interface ParsedRegex {
  tree: Regex
  groups: number
  hasReferences: boolean
}

const SETS: Readonly<Record<string, string>> = { w: WORD, W: NOT_WORD, s: SPACE, S: NOT_SPACE }

export function parseRegex(text: string, dialect: Dialect): ParsedRegex {
  const parser = new Parser(text, dialect)
  return { tree: parser.whole(), groups: parser.groups, hasReferences: parser.hasReferences }
}

class Parser {
  groups = 0
  hasReferences = false
  readonly #text: string
  readonly #dialect: Dialect
  #at = 0
  #depth = 0
  /** Closed groups, which a backreference may use. */
  #closed: ReadonlySet<number> = new Set()

  constructor(text: string, dialect: Dialect) {
    this.#text = text
    this.#dialect = dialect
  }

  whole(): Regex {
    const tree = this.#choice()
    // Only a `)` ends a choice early; in extended expressions without an open group it is literal.
    if (this.#at < this.#text.length) throw new RegexError('Unmatched ) or \\)')
    return tree
  }

  #choice(): Regex {
    const before = new Set(this.#closed)
    const options = [this.#sequence()]
    const closed = new Set(this.#closed)
    while (this.#take('|')) {
      // Groups closed in another branch cannot be referenced in this one.
      this.#closed = new Set(before)
      options.push(this.#sequence())
      for (const index of this.#closed) closed.add(index)
    }
    this.#closed = closed
    const [only] = options
    return options.length === 1 && only ? only : { kind: 'choice', options }
  }

  #sequence(): Regex {
    const parts: Regex[] = []
    while (this.#at < this.#text.length && !this.#isOperator('|') && !this.#closesGroup()) {
      let part = this.#atom(parts.length === 0)
      for (let next = this.#repeats(part); next; next = this.#repeats(part)) part = next
      parts.push(part)
    }
    const [only] = parts
    return parts.length === 1 && only ? only : { kind: 'sequence', parts }
  }

  #closesGroup(): boolean {
    if (!this.#isOperator(')')) return false
    if (this.#depth === 0 && this.#dialect.takesLooseEnds) return false
    if (this.#depth === 0) throw new RegexError('Unmatched ) or \\)')
    return true
  }

  #atom(isFirst: boolean): Regex {
    if (this.#repeatsNothing()) throw new RegexError('Invalid preceding regular expression')
    if (this.#take('(')) return this.#group()
    const char = this.#text[this.#at] ?? ''
    if (char === '\\') return this.#escape()
    if (char === '[') {
      const { source, end } = readBracket(this.#text, this.#at + 1, (at) => this.#escapeInBracket(at))
      this.#at = end
      return { kind: 'one', source, literal: null }
    }
    if (char === '.') return this.#one(ANY_CHARACTER, 1)
    if (char === '^' && (this.#dialect.extended || isFirst)) return this.#place('line-start', 1)
    if (char === '$' && this.#endsHere()) return this.#place('line-end', 1)
    const whole = String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0)
    this.#at += whole.length
    return literal(whole)
  }

  #repeatsNothing(): boolean {
    const { extended, isStrict } = this.#dialect
    return isStrict && (extended ? ['*', '+', '?', '{'] : ['{']).some((operator) => this.#isOperator(operator))
  }

  /** In a basic expression `$` is an anchor only at the end of a part. */
  #endsHere(): boolean {
    if (this.#dialect.extended) return true
    const rest = this.#text.slice(this.#at + 1, this.#at + 3)
    return rest === '' || rest === '\\)' || rest === '\\|'
  }

  #group(): Regex {
    const index = ++this.groups
    this.#depth++
    const part = this.#choice()
    this.#depth--
    if (!this.#take(')')) throw new RegexError('Unmatched ( or \\(')
    this.#closed = new Set([...this.#closed, index])
    return { kind: 'group', part, index }
  }

  #escape(): Regex {
    const { escapes } = this.#dialect
    const next = this.#text[this.#at + 1]
    if (next === undefined) throw new RegexError('Trailing backslash')
    if (escapes.hasReferences && next >= '1' && next <= '9') return this.#reference(Number(next))
    const set = SETS[next]
    if (set !== undefined) return this.#one(set, 2)
    const place = escapes.places[next]
    if (place !== undefined) return this.#place(place, 2)
    const { char, end } = escapes.read(this.#text, this.#at) ?? quotedCharacter(this.#text, this.#at)
    this.#at = end
    return literal(char)
  }

  #reference(index: number): Regex {
    if (!this.#closed.has(index)) throw new RegexError('Invalid back reference')
    this.#at += 2
    this.hasReferences = true
    return { kind: 'back-reference', index }
  }

  #escapeInBracket(at: number): { char: string; end: number } | null {
    const { escapes } = this.#dialect
    return escapes.read(this.#text, at) ?? (escapes.quotesInBrackets ? quotedCharacter(this.#text, at) : null)
  }

  /** The part with the following repetition, or null. */
  #repeats(part: Regex): Regex | null {
    const char = this.#text[this.#at] ?? ''
    const { extended, isStrict } = this.#dialect
    // At the start of a basic expression, and after an anchor, a star is literal.
    if (part.kind === 'place' && (!extended || isStrict)) return null
    const isTwice = isStrict && !extended && part.kind === 'repeat' && (char === '*' || this.#isOperator('{'))
    if (isTwice) throw new RegexError('Invalid preceding regular expression')
    if (char === '*') return this.#repeat(part, { min: 0, max: Number.POSITIVE_INFINITY, length: 1 })
    const length = extended ? 1 : 2
    if (this.#isOperator('+')) return this.#repeat(part, { min: 1, max: Number.POSITIVE_INFINITY, length })
    if (this.#isOperator('?')) return this.#repeat(part, { min: 0, max: 1, length })
    if (!this.#isOperator('{')) return null
    const close = extended ? '\\}' : '\\\\\\}'
    const found = new RegExp(`^(\\d*)(,?)(\\d*)${close}`).exec(this.#text.slice(this.#at + length))
    if (!found || (found[1] === '' && found[2] === '')) return this.#noInterval()
    const min = Number(found[1])
    const max = found[2] === '' ? min : found[3] === '' ? Number.POSITIVE_INFINITY : Number(found[3])
    if (min > max) throw new RegexError('Invalid content of \\{\\}')
    if (min > MAX_REPEATS || (max !== Number.POSITIVE_INFINITY && max > MAX_REPEATS))
      throw new RegexError('Regular expression too big')
    return this.#repeat(part, { min, max, length: length + found[0].length })
  }

  #noInterval(): null {
    const { extended, isStrict } = this.#dialect
    // A brace that starts no interval is literal in extended expressions of some dialects.
    if (extended && !isStrict) return null
    throw new RegexError(
      this.#text.includes(extended ? '}' : '\\}', this.#at) ? 'Invalid content of \\{\\}' : 'Unmatched \\{',
    )
  }

  #repeat(part: Regex, { min, max, length }: { min: number; max: number; length: number }): Regex {
    this.#at += length
    return { kind: 'repeat', part, min, max }
  }

  #isOperator(char: string): boolean {
    if (this.#dialect.extended) return this.#text[this.#at] === char
    return this.#text[this.#at] === '\\' && this.#text[this.#at + 1] === char
  }

  #take(operator: string): boolean {
    if (!this.#isOperator(operator)) return false
    this.#at += this.#dialect.extended ? 1 : 2
    return true
  }

  #one(source: string, length: number): Regex {
    this.#at += length
    return { kind: 'one', source, literal: null }
  }

  #place(place: Anchor, length: number): Regex {
    this.#at += length
    return { kind: 'place', place }
  }
}

function quotedCharacter(text: string, at: number): { char: string; end: number } {
  const char = String.fromCodePoint(text.codePointAt(at + 1) ?? 0x5c)
  return { char, end: at + 1 + char.length }
}
